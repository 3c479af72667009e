import { expect, test } from 'vitest';
import type { ActivityList } from '../wire/types';
import { HistoryReader, type History } from './history';

const row = (cursor: string) => ({ seq: 1, cursor, at: 0, kind: 'status', facts: {} });

/** A journal that is read in pages of two. */
function journal(cursors: string[]) {
  const asked: string[] = [];
  const read = (after: string): Promise<ActivityList> => {
    asked.push(after);
    const rest = cursors.slice(cursors.indexOf(after) + 1);
    const items = rest.slice(0, 2).map(row);
    return Promise.resolve({ items, cursor: items.at(-1)?.cursor ?? after, more: rest.length > 2 });
  };
  return { asked, read };
}

const settle = () => new Promise((done) => setTimeout(done));

test('the journal is read page by page up to the cursor that is wanted', async () => {
  const { asked, read } = journal(['h:1', 'h:2.1', 'h:2', 'h:3']);
  let history: History | null = null;
  new HistoryReader(read, (next) => (history = next)).want('h:3');
  await settle();

  expect(asked).toEqual(['', 'h:2.1']);
  expect(history).toMatchObject({
    isLoaded: true,
    activities: [{ cursor: 'h:1' }, { cursor: 'h:2.1' }, { cursor: 'h:2' }, { cursor: 'h:3' }],
  });
});

test('what was read is not read again, and wishes at once are one request', async () => {
  const cursors = ['h:1'];
  const { asked, read } = journal(cursors);
  const reader = new HistoryReader(read, () => undefined);
  reader.want('h:1');
  await settle();
  cursors.push('h:2', 'h:3');
  reader.want('h:2');
  reader.want('h:3');
  reader.want('h:3');
  await settle();

  expect(asked).toEqual(['', 'h:1']);
});

test('another past is read from its beginning', async () => {
  const { asked, read } = journal(['h:1']);
  let history: History | null = null;
  const reader = new HistoryReader(read, (next) => (history = next));
  reader.want('h:1');
  await settle();
  reader.want('other:1');
  reader.stop();
  await settle();

  expect(asked).toEqual(['', '']);
  expect(history).toMatchObject({ activities: [{ cursor: 'h:1' }] });
});
