import { expect, test } from 'vitest';
import { addedText, findChanges, isEqual, shortJson } from './diff';

test('changes are found by path, at any depth', () => {
  const before = { a: 1, b: { c: [1, 2], d: 'x' }, gone: true };
  const after = { a: 2, b: { c: [1, 3, 4], d: 'x' }, fresh: null };

  expect(findChanges(before, after)).toEqual([
    { path: 'a', kind: 'changed', before: 1, after: 2 },
    { path: 'b.c[1]', kind: 'changed', before: 2, after: 3 },
    { path: 'b.c[2]', kind: 'added', after: 4 },
    { path: 'fresh', kind: 'added', after: null },
    { path: 'gone', kind: 'removed', before: true },
  ]);
});

test('equal contexts have no changes, whatever the order of their keys', () => {
  expect(findChanges({ a: { b: 1 }, c: [] }, { c: [], a: { b: 1 } })).toEqual([]);
  expect(isEqual({ a: 1 }, { a: 1, b: undefined as never })).toBe(false);
});

test('a value of another type is one change', () => {
  expect(findChanges({ a: [1] }, { a: { b: 1 } })).toEqual([
    { path: 'a', kind: 'changed', before: [1], after: { b: 1 } },
  ]);
});

test('a text that grew shows what was added', () => {
  expect(addedText({ path: 't', kind: 'changed', before: 'one', after: 'one two' })).toBe(' two');
  expect(addedText({ path: 't', kind: 'changed', before: 'one', after: 'two' })).toBeNull();
});

test('long values are cut', () => {
  expect(shortJson('x'.repeat(300), 10)).toBe('"xxxxxxxxx…');
});
