/** A pytest test that takes the steps of a journal again. */
import { isObject, type Json } from './chart/model';
import type { Entry } from './entries';

export interface TestCase {
  id: string;
  machine: string;
  /** `module:name` of a machine of the user, or null for a machine of Antiphon. */
  source: string | null;
  history: string;
  entries: readonly Entry[];
  /** The snapshot after the first entry, where that is not the beginning of the tree. */
  snapshot: Json | null;
  value: Json;
  context: Json;
}

const BEGINNING = 'xstate.init';

export function writeTest(test: TestCase): string {
  const [first] = test.entries;
  const last = test.entries.at(-1);
  if (!first || !last) return '';
  const begins = first.event['type'] === BEGINNING;
  const steps = begins ? test.entries : test.entries.slice(1);
  const given = begins
    ? [`input=${toPython(first.event['input'] ?? null)}`]
    : [`snapshot=SNAPSHOT`, `after=${first.seq}`];
  const call = ['MACHINE', 'STEPS', ...given, `history=${toPython(test.history)}`].join(', ');
  return [
    `"""Steps ${first.seq} to ${last.seq} of ${test.machine} ${test.id.replace(/[\\"\n]/g, '')}, taken again."""`,
    '',
    ...imports(test.machine, test.source),
    ...(begins ? [] : [`SNAPSHOT = ${toPython(test.snapshot)}`]),
    'STEPS = [  # time, address of the actor, event',
    ...steps.map((entry) => `    (${entry.at}, ${toPython(entry.to)}, ${toPython(entry.event)}),`),
    ']',
    '',
    '',
    `def test_${name(test.machine)}_after_step_${last.seq}() -> None:`,
    `    snapshot = replay_steps(${call})`,
    '',
    `    assert snapshot["value"] == ${toPython(test.value)}`,
    ...contextLines(test.context),
    '',
  ].join('\n');
}

function imports(machine: string, source: string | null): string[] {
  if (source) {
    const [module = '', attribute = ''] = source.split(':');
    return [`from ${module} import ${attribute} as MACHINE`, '', 'from antiphon.testing import replay_steps', ''];
  }
  return [
    'from antiphon.app import own_machines',
    'from antiphon.testing import replay_steps',
    '',
    `MACHINE = next(machine for machine in own_machines() if machine.id == ${toPython(machine)})`,
  ];
}

/** Short values of the context are compared as well. */
function contextLines(context: Json): string[] {
  if (!isObject(context)) return [];
  const isShort = (value: Json): boolean =>
    value === null || ['number', 'boolean'].includes(typeof value) || (typeof value === 'string' && value.length <= 80);
  return Object.entries(context)
    .filter(([, value]) => isShort(value))
    .map(
      ([key, value]) =>
        `    assert snapshot["context"][${toPython(key)}] ${typeof value === 'boolean' || value === null ? 'is' : '=='} ${toPython(value)}`,
    );
}

const name = (text: string): string => text.replace(/\W+/g, '_').toLowerCase();

/** A JSON value as a literal of Python. */
export function toPython(value: Json): string {
  if (value === null) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (Array.isArray(value)) return `[${value.map(toPython).join(', ')}]`;
  if (isObject(value))
    return `{${Object.entries(value)
      .map(([key, inner]) => `${toPython(key)}: ${toPython(inner)}`)
      .join(', ')}}`;
  return JSON.stringify(value);
}
