import { expect, test } from 'vitest';
import type { Entry } from './entries';
import { stepFor } from './keys';

const entries = [1, 3, 4, 7].map((seq): Entry => ({
  seq,
  at: 0,
  to: '',
  event: { type: 'X' },
  value: null,
  status: null,
}));

test.each<[string, number, number | null | undefined]>([
  ['ArrowLeft', 7, 4],
  ['ArrowLeft', 4, 3],
  ['ArrowLeft', 1, undefined],
  ['ArrowRight', 3, 4],
  ['ArrowRight', 4, null],
  ['ArrowRight', 7, undefined],
  ['Home', 7, 1],
  ['Escape', 3, null],
  ['End', 3, null],
  ['a', 3, undefined],
])('%s at step %i leads to %s', (key, current, step) => {
  expect(stepFor(key, entries, 7, current)).toBe(step);
});
