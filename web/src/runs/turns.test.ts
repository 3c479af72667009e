import { expect, test } from 'vitest';
import type { ActivityRow } from '../wire/types';
import { agentName, buildTimeline, type Calls, type Turn } from './turns';

let step = 0;

function activity(kind: string, facts: Record<string, unknown> = {}, speaker?: string): ActivityRow {
  step += 1;
  return {
    seq: step,
    cursor: `h:${step}`,
    at: step * 1000,
    kind,
    facts,
    ...(speaker === undefined ? {} : { speaker }),
  };
}

const PLAN = (...statuses: string[]) => ({
  steps: statuses.map((status, index) => ({ index, description: `part ${index + 1}`, status })),
});
const started = (agent: string, facts: Record<string, unknown> = {}) =>
  activity('agent_started', {
    agent,
    iteration: 1,
    crew: [{ mode: agent }],
    decision: { type: 'SELECT_MODE', mode: agent, reason: 'it fits' },
    ...facts,
  });
const called = (id: string, name = 'read_file') =>
  activity('tool_called', { id, name, input: { path: id } }, 'agent-0');
const ended = (id: string, failed = false) =>
  activity(
    'tool_ended',
    { call: 0, failed, result: { callId: id, parts: [{ type: 'text', text: `result of ${id}` }] } },
    'agent-0',
  );

const turnOf = (rows: readonly ActivityRow[]): Turn => buildTimeline(rows).find((row) => row.kind === 'turn') as Turn;
const callsOf = (turn: Turn): Calls[] => turn.items.filter((item) => item.kind === 'calls');

test('a decision has its reason, and says who made it', () => {
  const rows = buildTimeline([
    activity('task_started', { task: 'Write it' }),
    started('planner'),
    started('developer', { decision: { type: 'SELECT_MODE', mode: 'developer', reason: 'rule of planner' } }),
    started('tester', { decision: { type: 'SELECT_MODE', mode: 'developer', reason: 'rule of planner' } }),
  ]);

  expect(
    rows.map((row) => (row.kind === 'turn' ? `${row.chooser} ${row.agents[0]}: ${row.reason}` : row.kind)),
  ).toEqual([
    'start',
    'arbiter planner: it fits',
    'rule developer: planner is followed by developer',
    'person tester: instead of the choice of the arbiter',
  ]);
});

test('a turn that another one interrupts was cut short', () => {
  const rows = buildTimeline([started('developer'), started('tester')]);

  expect(rows.map((row) => row.kind === 'turn' && row.result)).toEqual(['cancelled', 'working']);
});

test('calls of one tool in a row are one item', () => {
  const turn = turnOf([
    started('developer'),
    called('a'),
    ended('a'),
    called('b'),
    ended('b'),
    called('c', 'shell'),
    called('d'),
  ]);

  expect(callsOf(turn).map((item) => [item.name, item.calls.map((call) => call.id)])).toEqual([
    ['read_file', ['a', 'b']],
    ['shell', ['c']],
    ['read_file', ['d']],
  ]);
});

test('a call ends with its result and its time', () => {
  const call = callsOf(turnOf([started('developer'), called('a'), ended('a')]))[0]?.calls[0];

  expect(call).toMatchObject({ status: 'done', result: 'result of a' });
  expect((call?.endedAt ?? 0) - (call?.startedAt ?? 0)).toBe(1000);
});

test('the time for which a person was asked is no time of the call', () => {
  const asked = activity('agent_waits', { requestId: 'r', calls: [{ id: 'a', diff: '@@ -0,0 +1 @@\n+x' }] }, 'agent-0');
  const call = callsOf(
    turnOf([started('developer'), called('a'), asked, activity('agent_goes_on', {}, 'agent-0'), ended('a')]),
  )[0]?.calls[0];

  expect(call?.diff).toContain('+x');
  expect((call?.endedAt ?? 0) - (call?.startedAt ?? 0)).toBe(1000);
});

test('a call has the arguments that a person has given it', () => {
  const changed = activity(
    'tool_ended',
    { call: 0, failed: false, result: { callId: 'a', parts: [], edited: { path: 'b' } } },
    'agent-0',
  );

  expect(callsOf(turnOf([started('developer'), called('a'), changed]))[0]?.calls[0]).toMatchObject({
    input: { path: 'b' },
    isEdited: true,
  });
});

test('a call that was never made and has a result was denied', () => {
  const answered = activity('tool_answered', { toolResult: { id: 'a', isError: true } }, 'agent-0');

  expect(callsOf(turnOf([started('developer'), called('a'), answered]))[0]?.calls[0]?.status).toBe('denied');
});

test('steps of the plan are told when their status changes', () => {
  const turn = turnOf([
    started('developer', { plan: PLAN('in_progress', 'pending') }),
    activity('plan_changed', { plan: PLAN('complete', 'in_progress') }),
    activity('plan_changed', { plan: PLAN('complete', 'skipped') }),
  ]);

  expect(turn.items.map((item) => item.kind === 'note' && item.text)).toEqual([
    'Step 1 done: part 1',
    'Step 2 skipped: part 2',
  ]);
});

test('cost and tokens of a turn are those of its agents', () => {
  const entries = [
    { result: 'success', costUsd: 0.25, tokenUsage: { input: 10, output: 5 } },
    { result: 'success', costUsd: 0.5 },
  ];

  expect(turnOf([started('developer'), activity('agent_completed', { entries })])).toMatchObject({
    costUsd: 0.75,
    tokens: 15,
    result: 'success',
  });
});

test('agents that work side by side keep their names', () => {
  const turn = turnOf([started('developer', { crew: [{ mode: 'developer' }, { mode: 'tester' }] })]);

  expect([agentName(turn, 'agent-0'), agentName(turn, 'agent-1')]).toEqual(['developer', 'tester']);
});

test('the end has the outcome, and later notes do not belong to the last turn', () => {
  const rows = buildTimeline([
    started('developer'),
    activity('run_ended', { success: false, reason: 'cancelled', summary: '' }),
  ]);

  expect(rows.map((row) => row.kind)).toEqual(['turn', 'end']);
  expect(rows[0]).toMatchObject({ result: 'cancelled' });
});

test('a call of a turn that is cut short does not go on', () => {
  const rows = buildTimeline([
    started('developer'),
    called('a'),
    activity('run_ended', { success: false, reason: 'cancelled', summary: '' }),
  ]);

  expect(callsOf(rows[0] as Turn)[0]?.calls[0]).toMatchObject({ status: 'cancelled', endedAt: (rows[1] as Turn).at });
});

test('the end of a run lasts until its step in the journal, also if the run knows no time', () => {
  const begin = activity('task_started', { task: 'Write it' });
  const facts = { success: false, reason: 'cancelled', summary: '', durationMs: 0, startedAt: begin.at };
  const end = activity('run_ended', facts);

  expect(buildTimeline([begin, end])[1]).toMatchObject({ outcome: { durationMs: end.at - begin.at } });
});

test('a question that nobody answered in time is told apart from a denial', () => {
  const asked = activity('agent_waits', { requestId: 'r', calls: [{ id: 'a' }], timeoutMs: 1000 }, 'agent-0');
  const answered = activity('tool_answered', { toolResult: { id: 'a', isError: true } }, 'agent-0');
  const denied = activity('agent_waits', { requestId: 'r', calls: [{ id: 'a' }], timeoutMs: 300_000 }, 'agent-0');

  const call = (row: ActivityRow) => callsOf(turnOf([started('developer'), called('a'), row, answered]))[0]?.calls[0];
  expect(call(asked)).toMatchObject({ status: 'denied', isExpired: true });
  expect(call(denied)).toMatchObject({ status: 'denied', isExpired: false });
});
