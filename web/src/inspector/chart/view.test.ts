import { expect, test } from 'vitest';
import { areasToFollow, centre, fit, fitAround, fitReadable, reveal, revealFirst, zoom } from './view';

const WINDOW = { width: 800, height: 600 };

test('a small drawing is shown whole and centred, in its own size', () => {
  expect(fit({ width: 400, height: 200 }, WINDOW)).toEqual({ scale: 1, x: 200, y: 200 });
});

test('a large drawing begins at its top, in a size that can be read', () => {
  const view = fitReadable({ width: 700, height: 9000 }, WINDOW);

  expect(view.scale).toBe(1);
  expect(view.y).toBe(16);
  const whole = fit({ width: 700, height: 9000 }, WINDOW);
  expect(whole.y + 9000 * whole.scale).toBeLessThanOrEqual(WINDOW.height);
});

test('a large drawing is fitted no smaller than can be read, around what is active', () => {
  const drawing = { width: 4000, height: 3000 };
  const active = { x: 2000, y: 1500, width: 120, height: 40 };
  const view = fitAround(drawing, [active], WINDOW);

  expect(view.scale).toBe(0.8);
  expect(view.x + active.x * view.scale).toBeGreaterThanOrEqual(0);
  expect(view.x + (active.x + active.width) * view.scale).toBeLessThanOrEqual(WINDOW.width);
  expect(fitAround({ width: 400, height: 200 }, [], WINDOW)).toEqual(fit({ width: 400, height: 200 }, WINDOW));
});

test('zooming keeps the point below the pointer', () => {
  const before = { x: 10, y: 20, scale: 1 };
  const after = zoom(before, 2, { x: 110, y: 120 });

  expect((110 - after.x) / after.scale).toBe((110 - before.x) / before.scale);
  expect(zoom(before, 100, { x: 0, y: 0 }).scale).toBe(3);
});

test('revealing moves no further than needed, and not at all for what is in view', () => {
  const view = { x: 0, y: 0, scale: 1 };
  const below = reveal(view, { x: 20, y: 700, width: 100, height: 50 }, WINDOW);

  expect(below).toEqual({ x: 0, y: -166, scale: 1 });
  expect(reveal(view, { x: 20, y: 20, width: 100, height: 50 }, WINDOW)).toBe(view);
});

test('centring puts an area into the middle', () => {
  expect(centre({ x: 0, y: 0, scale: 0.5 }, { x: 100, y: 100, width: 100, height: 100 }, WINDOW)).toEqual({
    scale: 0.5,
    x: 325,
    y: 225,
  });
});

test('a step shows its source and its target together where both fit, or else its target', () => {
  const target = { x: 0, y: 700, width: 100, height: 50 };
  const near = areasToFollow([target], [{ x: 0, y: 400, width: 0, height: 10 }]);
  const far = areasToFollow([target], [{ x: 0, y: -900, width: 0, height: 10 }]);
  const view = { x: 16, y: 0, scale: 1 };

  expect(revealFirst(view, near, WINDOW).y).toBe(-166);
  expect(revealFirst({ ...view, y: -600 }, near, WINDOW).y).toBe(-384);
  expect(revealFirst(view, far, WINDOW).y).toBe(-166);
  expect(revealFirst(view, [], WINDOW)).toBe(view);
});
