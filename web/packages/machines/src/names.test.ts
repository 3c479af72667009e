import { expect, test } from 'vitest';
import { streamingChart, streamingMachine } from './streaming/machine.ts';
import { threadChart, threadMachine } from './thread/machine.ts';

type Named = 'actions' | 'guards' | 'delays';
const SINGLE = new Set(['guard']);
const ACTIONS = new Set(['actions', 'entry', 'exit']);

/** Collect the names of a chart: those of actions, of guards, and the delays of `after`. */
function namesIn(node: unknown, names: Record<Named, Set<string>>): Record<Named, Set<string>> {
  if (Array.isArray(node)) node.forEach((each) => namesIn(each, names));
  else if (node !== null && typeof node === 'object') {
    for (const [key, value] of Object.entries(node)) {
      if (ACTIONS.has(key)) [value].flat().forEach((each) => names.actions.add(typeof each === 'string' ? each : each.type));
      else if (SINGLE.has(key)) names.guards.add(typeof value === 'string' ? value : value.type);
      else if (key === 'after') Object.keys(value).forEach((each) => names.delays.add(each));
      if (key !== 'context') namesIn(value, names);
    }
  }
  return names;
}

test.each([
  ['streaming', streamingChart, streamingMachine],
  ['thread', threadChart, threadMachine],
])('S3-04 · every name in the chart %s has a twin, and every twin a name', (_name, chart, machine) => {
  const names = namesIn(chart, { actions: new Set(), guards: new Set(), delays: new Set() });
  const { actions, guards, delays } = machine.implementations;

  expect([...names.actions].toSorted()).toEqual(Object.keys(actions).toSorted());
  expect([...names.guards].toSorted()).toEqual(Object.keys(guards).toSorted());
  expect([...names.delays].toSorted()).toEqual(Object.keys(delays).toSorted());
});
