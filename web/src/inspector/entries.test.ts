import { expect, test } from 'vitest';
import { addressesOf, type Entry, entryLabel, filterEntries, stateAt } from './entries';

const entry = (seq: number, type: string, to = '', value: Entry['value'] = null): Entry => ({
  seq,
  at: seq,
  to,
  event: { type },
  value,
  status: null,
});
const JOURNAL = [
  entry(1, 'xstate.init', '', 'idle'),
  entry(2, 'START', '', 'running'),
  entry(3, 'TEXT_CHUNK', 'chat/reply', 'streaming'),
  entry(4, 'xstate.done.actor.0.chat', 'chat'),
];

test('entries are filtered by words in event, recipient and state, and without words', () => {
  const seqs = (text: string): number[] => filterEntries(JOURNAL, text).map((each) => each.seq);

  expect(seqs('')).toEqual([1, 2, 3, 4]);
  expect(seqs('chunk reply')).toEqual([3]);
  expect(seqs('-chat')).toEqual([1, 2]);
  expect(seqs('running')).toEqual([2]);
  expect(seqs('#4')).toEqual([4]);
});

test('the state of an actor is that of its last entry with one', () => {
  expect(stateAt(JOURNAL, '', 1)).toEqual({ value: 'idle', seq: 1 });
  expect(stateAt(JOURNAL, '', 4)).toEqual({ value: 'running', seq: 2 });
  expect(stateAt(JOURNAL, 'chat/reply', 2)).toBeNull();
});

test('actors are those that took a letter', () => {
  expect(addressesOf(JOURNAL)).toEqual(['', 'chat', 'chat/reply']);
});

test('events of the engine have readable names', () => {
  expect(JOURNAL.map(entryLabel)).toEqual(['start', 'START', 'TEXT_CHUNK', 'done 0.chat']);
});
