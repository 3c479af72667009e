import { expect, test } from 'vitest';
import { formatLeft } from './format';

test('what lasts for days is told in days', () => {
  expect(formatLeft(90_000)).toBe('1:30');
  expect(formatLeft(30 * 86_400_000 - 1)).toBe('29 days');
});
