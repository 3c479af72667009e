import { expect, test } from 'vitest';
import { spread } from './spread';

test('marks that are far apart stay where they are', () => {
  expect(spread([10, 100])).toEqual([10, 100]);
});

test('marks of the same score stand side by side around it', () => {
  expect(spread([100, 100])).toEqual([90.5, 109.5]);
});

test('three near marks can all be read', () => {
  const [a = 0, b = 0, c = 0] = spread([100, 104, 109]);
  expect(b - a).toBeGreaterThan(17);
  expect(c - b).toBeGreaterThan(17);
});
