import { expect, test } from 'vitest';
import { canonical, draftOf, readDraft } from './edits';

const INPUT = { path: 'a', content: 'x\ny', all: true, lines: 3 };

test('texts are edited as they are, other values as JSON', () => {
  expect(draftOf(INPUT)).toEqual({ path: 'a', content: 'x\ny', all: 'true', lines: '3' });
  expect(readDraft({ ...draftOf(INPUT), all: 'false' }, INPUT)).toEqual({ value: { ...INPUT, all: false } });
});

test('a value that is no JSON is named', () => {
  expect(readDraft({ ...draftOf(INPUT), lines: 'three' }, INPUT)).toEqual({ wrong: 'lines' });
});

test('the order of names makes no difference', () => {
  expect(canonical({ a: [1, { c: 2, b: null }], d: 'x' })).toBe(canonical({ d: 'x', a: [1, { b: null, c: 2 }] }));
});
