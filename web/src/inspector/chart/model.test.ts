import { describe, expect, test } from 'vitest';
import * as charts from './charts.fixture';
import { activeStates, findStates, type Json, toChart } from './model';

const DOOR: Json = {
  id: 'door',
  initial: 'closed',
  states: {
    closed: { on: { OPEN: [{ target: 'open', guard: 'isFree' }, { actions: 'complain' }] } },
    open: {
      id: 'wide',
      initial: 'still',
      after: { 2000: '#door.closed' },
      states: { still: { always: 'moved' }, moved: {}, back: { type: 'history' } },
    },
    gone: { type: 'final' },
  },
};

describe('the chart of a config', () => {
  const chart = toChart(DOOR);

  test('has its states in order, with the ids of XState', () => {
    expect([...chart.states.keys()]).toEqual([
      'door',
      'door.closed',
      'wide',
      'door.open.still',
      'door.open.moved',
      'door.open.back',
      'door.gone',
    ]);
  });

  test('names transitions by state, event and place', () => {
    expect([...chart.transitions.keys()]).toEqual([
      'door.closed OPEN 0',
      'door.closed OPEN 1',
      'wide xstate.after.2000.wide 0',
      'door.open.still  0',
    ]);
    expect(chart.transitions.get('door.closed OPEN 0')).toMatchObject({
      guard: 'isFree',
      targets: ['wide'],
      kind: 'event',
    });
    expect(chart.transitions.get('wide xstate.after.2000.wide 0')).toMatchObject({ label: 'after 2 s', kind: 'after' });
  });

  test('has no actions that XState adds for delays', () => {
    expect(chart.states.get('wide')?.entry).toEqual([]);
  });

  test('finds active states also below an id of their own', () => {
    expect([...activeStates(chart, { open: 'still' })]).toEqual(['door', 'wide', 'door.open.still']);
    expect(activeStates(chart, undefined).size).toBe(0);
  });

  test('finds states by a part of their names', () => {
    expect(findStates(chart, 'MOV').map((state) => state.id)).toEqual(['door.open.moved']);
    expect(findStates(chart, ' ')).toEqual([]);
  });
});

test('a definition gives the same transitions as its config', () => {
  const definition: Json = {
    id: 'lamp',
    key: 'lamp',
    type: 'compound',
    initial: { target: ['#lamp.off'] },
    on: {},
    transitions: [],
    states: {
      off: {
        id: 'lamp.off',
        key: 'off',
        type: 'atomic',
        initial: { target: [] },
        states: {},
        transitions: [],
        on: { GO: [{ target: ['#lamp.on'], guard: 'may', actions: ['note'] }] },
      },
      on: { id: 'lamp.on', key: 'on', type: 'final', initial: { target: [] }, states: {}, transitions: [], on: {} },
    },
  };
  const chart = toChart(definition);

  expect(chart.transitions.get('lamp.off GO 0')).toMatchObject({
    targets: ['lamp.on'],
    guard: 'may',
    actions: ['note'],
  });
  expect(chart.states.get('lamp.off')?.isInitial).toBe(true);
});

test.each(Object.entries(charts))('the chart %s is read, and its targets exist', (_, json) => {
  const chart = toChart(json);
  const targets = [...chart.transitions.values()].flatMap((each) => each.targets);

  expect(targets.length).toBeGreaterThan(0);
  expect(targets.filter((id) => !chart.states.has(id))).toEqual([]);
});

test.each<[Json, string]>([
  [[], 'no chart'],
  [{ states: 5 }, 'no chart'],
  [{ id: 'x', initial: 'a', states: { a: { on: { GO: 'nowhere' } } } }, 'cannot be read'],
])('%j is refused with a reason', (json, reason) => {
  expect(() => toChart(json)).toThrow(reason);
});
