import { expect, test } from 'vitest';
import {
  branchName,
  childrenOf,
  EMPTY,
  latestAfter,
  pathTo,
  siblingsOf,
  wayTo,
  type Branch,
  type ChatContent,
  type ChatMessage,
} from './content';
import { trackOf } from './track';
import { moveDown, moveUp } from './useWindow';

const message = (id: string, parent: string | null, more: Partial<ChatMessage> = {}): ChatMessage => ({
  id,
  parent,
  role: 'user',
  parts: [{ type: 'text', text: id }],
  turn: 1,
  tokens: 1,
  at: Number(id.slice(1)),
  ...more,
});
const branch = (name: string, head: string, more: Partial<Branch> = {}): Branch => ({
  name,
  head,
  parent: null,
  forkPoint: null,
  mergedInto: null,
  ...more,
});
const byId = (list: ChatMessage[]) => Object.fromEntries(list.map((item) => [item.id, item]));

const content: ChatContent = {
  ...EMPTY,
  messages: byId([
    message('m1', null),
    message('m2', 'm1'),
    message('m3', 'm2'),
    message('m4', 'm2'),
    message('m5', 'm4'),
    message('m6', 'm3'),
    message('m7', 'm6', { mergedFrom: 'm5' }),
  ]),
  branches: { main: branch('main', 'm7'), other: branch('other', 'm5') },
};

test('a path leads from the beginning to a message', () => {
  expect(pathTo(content.messages, 'm5').map((item) => item.id)).toEqual(['m1', 'm2', 'm4', 'm5']);
});

test('versions of a message come after the same message', () => {
  const children = childrenOf(content.messages);
  expect(siblingsOf(content.messages['m3'] as ChatMessage, content.messages, children)).toEqual(['m3', 'm4']);
});

test('a version is shown by the branch that has it, or by going to its latest end', () => {
  expect(wayTo('m4', content)).toEqual({ branch: 'other' });
  expect(wayTo('m4', { ...content, branches: { main: branch('main', 'm7') } })).toEqual({ message: 'm5' });
  expect(latestAfter('m2', content.messages)).toBe('m7');
});

test('a path of ten thousand messages is found', () => {
  const long = byId(
    Array.from({ length: 10_000 }, (_, index) => message(`m${index + 1}`, index === 0 ? null : `m${index}`)),
  );
  expect(pathTo(long, 'm10000')).toHaveLength(10_000);
  expect(latestAfter('m1', long)).toBe('m10000');
});

test('the track shows where a branch leaves and joins', () => {
  const track = trackOf(content, pathTo(content.messages, 'm7'));
  expect(track.get(1)?.forks).toMatchObject([{ branch: 'other', count: 2, lane: 0 }]);
  expect(track.get(2)?.passing).toEqual([0]);
  expect(track.get(4)?.joining).toEqual([0]);
});

test('a new branch has a name that no branch has', () => {
  expect(branchName('other', content)).toBe('other 2');
  expect(branchName('A rather long sentence that goes on', content)).toBe('A rather long sentence that…');
});

test('the window moves with the scrolling and stays small', () => {
  let place = moveUp({ start: 960, end: null }, 1000);
  expect(place).toEqual({ start: 950, end: null });
  for (let step = 0; step < 120; step += 1) place = moveUp(place, 1000);
  expect(place).toEqual({ start: 0, end: 160 });
  for (let step = 0; step < 120; step += 1) place = moveDown(place, 1000);
  expect(place).toEqual({ start: 840, end: null });
});
