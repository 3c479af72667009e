import { expect, test } from 'vitest';
import { compareCursors, parseCursor } from './cursors';

test('a cursor is history, step and part', () => {
  expect(parseCursor('a:17.2')).toEqual({ history: 'a', step: 17, part: 2 });
  expect(parseCursor('a:17')).toEqual({ history: 'a', step: 17, part: Infinity });
});

test('the end of a step is after its parts, and before the next step', () => {
  const order = ['a:1', 'a:2.0', 'a:2.1', 'a:2', 'a:10.0', 'a:10'];
  expect(order.toSorted(compareCursors)).toEqual(order);
  expect(compareCursors('a:2', 'a:2')).toBe(0);
});
