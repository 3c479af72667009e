import { expect, test } from 'vitest';
import type { Entry } from './entries';
import { type TestCase, toPython, writeTest } from './snippet';

const entry = (seq: number, event: Entry['event'], to = ''): Entry => ({
  seq,
  at: seq * 10,
  to,
  event,
  value: null,
  status: null,
});
const CASE: TestCase = {
  id: 'a"b',
  machine: 'thread',
  source: null,
  history: 'h1',
  snapshot: null,
  value: 'completed',
  context: { n: 1, ok: true, none: null, text: 'x'.repeat(100), list: [] },
  entries: [entry(1, { type: 'xstate.init', input: { n: 1 } }), entry(2, { type: 'GO', ok: true }, 'chat')],
};

test('a journal from its beginning becomes a test of a machine of Antiphon', () => {
  expect(writeTest(CASE)).toBe(
    `"""Steps 1 to 2 of thread ab, taken again."""

from antiphon.app import own_machines
from antiphon.testing import replay_steps

MACHINE = next(machine for machine in own_machines() if machine.id == "thread")
STEPS = [  # time, address of the actor, event
    (10, "", {"type": "xstate.init", "input": {"n": 1}}),
    (20, "chat", {"type": "GO", "ok": True}),
]


def test_thread_after_step_2() -> None:
    snapshot = replay_steps(MACHINE, STEPS, input={"n": 1}, history="h1")

    assert snapshot["value"] == "completed"
    assert snapshot["context"]["n"] == 1
    assert snapshot["context"]["ok"] == True
    assert snapshot["context"]["none"] == None
`
      .replace('== True', 'is True')
      .replace('== None', 'is None'),
  );
});

test('a journal of a fork begins with its snapshot', () => {
  const text = writeTest({
    ...CASE,
    source: 'shop.charts:order',
    snapshot: { value: 'idle' },
    entries: [entry(1, { type: 'antiphon.forked' }), entry(2, { type: 'GO' })],
  });

  expect(text).toContain('from shop.charts import order as MACHINE');
  expect(text).toContain('SNAPSHOT = {"value": "idle"}');
  expect(text).toContain('snapshot=SNAPSHOT, after=1, history="h1"');
  expect(text).not.toContain('antiphon.forked');
});

test('JSON becomes literals of Python', () => {
  expect(toPython({ a: [null, true, false, 1.5, 'x"\n\u2028'] })).toBe(
    '{"a": [None, True, False, 1.5, "x\\"\\n\u2028"]}',
  );
});
