import { expect, test } from 'vitest';
import type { ModelRow } from '../wire/types';
import { roomOf, settingsFor, windowOf } from './models';

const SMALL = { reference: 'local:small', window: 8192 } as ModelRow;

test('the smaller one of limit and window counts', () => {
  expect(roomOf(128_000, 8192)).toEqual({ most: 8192, by: 'model' });
  expect(roomOf(4000, 8192)).toEqual({ most: 4000, by: 'chat' });
  expect(roomOf(128_000, null)).toEqual({ most: 128_000, by: 'chat' });
});

test('a chat with a small model leaves room for the reply', () => {
  expect(settingsFor(8192)).toEqual({ contextLimit: 5489 });
  expect(settingsFor(1_000_000)).toEqual({});
  expect(settingsFor(null)).toEqual({});
});

test('the window of a model that is not listed is not known', () => {
  expect(windowOf([SMALL], 'local:small')).toBe(8192);
  expect(windowOf([SMALL], 'local:other')).toBeNull();
  expect(windowOf(null, 'local:small')).toBeNull();
});
