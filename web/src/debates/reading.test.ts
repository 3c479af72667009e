import { expect, test } from 'vitest';
import { formatUsd } from './figures';
import { debate, response, round } from './fixtures';
import { budgetOf, decision, roundRows, stations } from './reading';

const reply = {
  speaker: 'against',
  text: 'I hear',
  thinking: '',
  state: 'streaming',
  sentAt: 0,
  attempt: 0,
  error: null,
  retryAt: null,
  tokens: null,
  costUsd: null,
};
const CURRENT = {
  phase: 'rebuttal',
  roundNumber: 1,
  responses: [response('for')],
  missing: ['against'],
  target: 'debating',
} as const;

test('the round in progress has turns that are over, live and to come', () => {
  const rows = roundRows(
    debate({
      rounds: [round('opening', 1)],
      current: { ...CURRENT, responses: [response('for')], missing: ['against'] },
    }),
    { against: reply },
    {},
  );
  expect(rows.map((row) => row.isCurrent)).toEqual([false, true]);
  expect(rows[1]?.turns['for']?.kind).toBe('said');
  expect(rows[1]?.turns['against']).toEqual({ kind: 'live', reply });
});

test('a turn that a pause has cut is shown with its words', () => {
  const paused = debate({
    state: 'paused',
    current: { ...CURRENT, responses: [response('for')], missing: ['against'] },
  });
  const rows = roundRows(paused, {}, { against: { phase: 'rebuttal', roundNumber: 1, text: 'I hear' } });
  expect(rows[0]?.turns['against']).toEqual({ kind: 'cut', text: 'I hear' });
});

test('a cut of an earlier round is not shown in a later one', () => {
  const rows = roundRows(debate(), {}, { against: { phase: 'opening', roundNumber: 1, text: 'I hear' } });
  expect(rows[0]?.turns['against']?.kind).toBe('waiting');
});

test('a debate that waits for its judge has no round in progress', () => {
  const rows = roundRows(debate({ state: 'judgeEvaluating', rounds: [round('opening', 1)] }), {}, {});
  expect(rows).toHaveLength(1);
});

test('the last of several rounds of an oxford debate is the closing', () => {
  expect(stations(debate()).map((one) => one.label)).toEqual(['Openings', 'Round 1', 'Closings', 'Judge', 'Verdict']);
});

test('stations are done, in progress and to come', () => {
  expect(stations(debate({ rounds: [round('opening', 1)] })).map((one) => one.mark)).toEqual([
    'done',
    'live',
    'coming',
    'coming',
    'coming',
  ]);
});

test('rounds that the judge has made needless are skipped', () => {
  expect(stations(debate({ rounds: [round('opening', 1)], state: 'judgeEvaluating' })).map((one) => one.mark)).toEqual([
    'done',
    'skipped',
    'skipped',
    'live',
    'coming',
  ]);
});

test('the forecast adds the average of a round for each round that is left', () => {
  const tracker = { ...debate().costTracker, totalCost: '0.02', limitThreshold: '1', warningThreshold: '0.5' };
  const budget = budgetOf(debate({ rounds: [round('opening', 1)], costTracker: tracker }));
  expect(budget.perRound).toBeCloseTo(0.02);
  expect(budget.forecast).toBeCloseTo(0.06);
  expect(budget.end).toBe(1);
});

test('a debate that is over has no forecast', () => {
  expect(budgetOf(debate({ rounds: [round('opening', 1)], state: 'completed' })).forecast).toBeNull();
});

test.each([
  [{ for: 82, against: 75 }, 'for', false, 'Ada wins by 7 points'],
  [{ for: 80, against: 80 }, null, true, 'A tie'],
])('%o is decided as a person says it', (scores, winner, tie, words) => {
  const verdict = { winner, tie, scores, criteria: {}, reasoning: '', references: [], tokensUsed: 0 };
  expect(decision(debate({ verdict }))).toBe(words);
});

test.each([
  [0, '$0.00'],
  ['0.0042', '$0.0042'],
  [0.5, '$0.50'],
  [12.3, '$12.30'],
  [0.29, '$0.29'],
  [1.005, '$1.00'],
])('%s is written as %s', (amount, words) => {
  expect(formatUsd(amount)).toBe(words);
});
