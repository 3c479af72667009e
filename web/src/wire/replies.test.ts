import { expect, test } from 'vitest';
import { addUsage, addWords, codePoints, fromSnapshot, type LiveReplies } from './replies';
import type { ActivityRow } from './types';

const words = (text: string, offset: number, speaker?: string): ActivityRow => ({
  seq: 1,
  cursor: 'a:1',
  at: 5,
  kind: 'text',
  facts: { text },
  offset,
  ...(speaker === undefined ? {} : { speaker }),
});
const row = {
  address: 'chat/reply',
  state: 'streaming',
  text: 'Hello',
  thinking: '',
  sentAt: 1,
  attempt: 0,
  error: null,
  retryMs: null,
};

test('words go on where the snapshot ends', () => {
  expect(addWords(fromSnapshot([row], 0), words(' you', 5))?.['']?.text).toBe('Hello you');
});

test('words that are known are not added again', () => {
  expect(addWords(fromSnapshot([row], 0), words('lo you', 3))?.['']?.text).toBe('Hello you');
});

test('missing words are noticed', () => {
  expect(addWords(fromSnapshot([row], 0), words('you', 9))).toBeNull();
});

test('a new reply begins at the beginning', () => {
  expect(addWords(fromSnapshot([row], 0), words('Bye', 0))?.['']?.text).toBe('Bye');
});

test('speakers have replies of their own', () => {
  const both = ['for', 'against'].reduce<LiveReplies>(
    (replies, name) => addWords(replies, words(name, 0, name)) ?? {},
    {},
  );
  expect(Object.values(both).map((reply) => reply.text)).toEqual(['for', 'against']);
});

test('offsets count code points', () => {
  expect(codePoints('a🙂b')).toBe(3);
  const replies = fromSnapshot([{ ...row, text: '🙂🙂' }], 0);
  expect(addWords(replies, words('!', 2))?.['']?.text).toBe('🙂🙂!');
});

test('a reply that is tried again begins anew, and has the time of the next try', () => {
  const replies = fromSnapshot([{ ...row, state: 'error', retryMs: 500 }], 1000);
  expect(replies['']?.retryAt).toBe(1500);
  expect(addWords(replies, words('Hi', 0))?.['']).toMatchObject({ text: 'Hi', retryAt: null });
});

test('usage is that of the reply so far', () => {
  const usage: ActivityRow = {
    ...words('', 0),
    kind: 'usage',
    facts: { usage: { input: 3, output: 4 }, costUsd: 0.5 },
  };
  expect(addUsage(fromSnapshot([row], 0), usage)['']).toMatchObject({ tokens: 7, costUsd: 0.5 });
});
