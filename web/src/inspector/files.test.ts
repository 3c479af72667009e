import { expect, test } from 'vitest';
import { type Journal, readFile, writeJournal } from './files';

const CHART = { id: 'lamp', initial: 'off', states: { off: { on: { GO: 'on' } }, on: {} } };
const STEP = { seq: 1, at: 5, to: '', letter: null, body: { event: { type: 'xstate.init' }, value: 'off' } };
const EXPORT = [
  { antiphon: 'export', format: 1, boots: 1 },
  { tree: { id: 'a', machine: 'lamp', hash: '2:x', seq: 1 } },
  { step: STEP },
  { end: { tree: 1 } },
];
const lines = (records: object[]): string => `${records.map((record) => JSON.stringify(record)).join('\n')}\n`;

test('a chart is opened, also one in a reply of the server', () => {
  expect(readFile('lamp.json', JSON.stringify(CHART))).toEqual({ kind: 'chart', name: 'lamp.json', config: CHART });
  expect(readFile('lamp.json', JSON.stringify({ id: 'lamp', config: CHART }))).toMatchObject({
    kind: 'chart',
    config: CHART,
  });
});

test('an export of a store gives the journals of its trees', () => {
  const opened = readFile('store.jsonl', lines(EXPORT));

  expect(opened).toEqual({
    kind: 'journals',
    name: 'store.jsonl',
    journals: [
      {
        id: 'a',
        machine: 'lamp',
        hash: '2:x',
        charts: {},
        states: {},
        entries: [{ seq: 1, at: 5, to: '', event: { type: 'xstate.init' }, value: 'off', status: null }],
      },
    ],
  });
});

test('steps without a body, of a compacted journal, are left out', () => {
  const compacted = { step: { seq: 1, at: 5, to: '', letter: null, body: null } };
  const opened = readFile('x', lines([...EXPORT.slice(0, 2), compacted, { step: { ...STEP, seq: 2 } }]));

  expect(opened.kind === 'journals' && opened.journals[0]?.entries.map((each) => each.seq)).toEqual([2]);
});

test('a saved journal is the same when it is opened again', () => {
  const journal: Journal = {
    id: 'a',
    machine: 'lamp',
    hash: '2:x',
    charts: { '': CHART },
    states: { '': 'off' },
    entries: [{ seq: 1, at: 5, to: '', event: { type: 'xstate.init' }, value: 'off', status: null }],
  };

  expect(readFile('a.json', writeJournal(journal))).toEqual({ kind: 'journals', name: 'a.json', journals: [journal] });
});

test.each([
  ['[1]', 'neither a chart nor a journal'],
  ['{"states": 5}', 'no chart'],
  ['not json', 'line 1 is not JSON'],
  ['{"antiphon":"export"}\n{"end":{}}', 'no journals'],
  ['{"antiphon":"journal","format":2}', 'has the format 2'],
  ['{"antiphon":"journal","format":1,"entries":[]}', 'no entries'],
])('%s is refused with a reason', (text, reason) => {
  expect(() => readFile('file', text)).toThrow(reason);
});
