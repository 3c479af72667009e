import { expect, test } from 'vitest';
import { childrenOf, type ChatMessage } from './content';
import { replyMs, tokensOf } from './times';

const message = (id: string, parent: string | null, at: number | undefined, more: Partial<ChatMessage> = {}) => ({
  id,
  parent,
  role: 'assistant' as const,
  parts: [],
  turn: 1,
  tokens: 1,
  ...(at === undefined ? {} : { at }),
  ...more,
});

function msOf(path: ChatMessage[], others: ChatMessage[] = [], slowestMs = 2_000): number | null {
  const messages = Object.fromEntries([...path, ...others].map((item) => [item.id, item]));
  const metrics = { costUsd: 0, inputTokens: 0, outputTokens: 0, unpriced: 0, slowestMs };
  return replyMs(path, path.length - 1, { messages, metrics }, childrenOf(messages));
}

const asked = message('m1', null, 10_000, { role: 'user' });

test('a first reply took the time since its question', () => {
  expect(msOf([asked, message('m2', 'm1', 11_500)])).toBe(1_500);
});

test('the time of another version is not that since the question', () => {
  expect(msOf([asked, message('m3', 'm1', 18_000)], [message('m2', 'm1', 11_000)], 60_000)).toBeNull();
});

test('a reply that was asked for again after a failure shows no time', () => {
  expect(msOf([asked, message('m2', 'm1', 3_610_000)])).toBeNull();
});

test('a reply after results whose time is not known shows no time', () => {
  const call = message('m2', 'm1', 10_100);
  const results = message('m3', 'm2', undefined, { role: 'tool' });
  expect(msOf([asked, call, results, message('m4', 'm3', 11_000)])).toBeNull();
});

test('a reply to a message that had to wait began when the one before it was done', () => {
  const before = message('m2', 'm1', 14_000);
  const queued = message('m3', 'm2', 11_000, { role: 'user' });
  expect(msOf([asked, before, queued, message('m4', 'm3', 15_000)])).toBe(1_000);
});

test('an unfinished reply took the time since its question, and has about as many tokens as it adds', () => {
  const stopped = message('m2', 'm1', 19_000, { interrupted: true, tokens: 90 });
  expect(msOf([asked, stopped])).toBe(9_000);
  expect(tokensOf([asked, stopped], 1)).toBe(89);
});
