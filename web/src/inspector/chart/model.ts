// A chart as it is drawn: states with their transitions. XState resolves the targets, so what is drawn is what runs.
import { type AnyStateNode, createMachine } from 'xstate';
import { actionLabel, eventLabel, guardLabel, kindOf, type TransitionKind } from './labels';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };
export type StateType = 'atomic' | 'compound' | 'parallel' | 'final' | 'history';

export interface ChartTransition {
  /** State, event as the chart names it, and place among the transitions for it; the server names them so too. */
  id: string;
  source: string;
  event: string;
  label: string;
  kind: TransitionKind;
  guard: string;
  actions: string[];
  targets: string[];
  description?: string;
}

export interface ChartState {
  id: string;
  key: string;
  type: StateType;
  depth: number;
  parent?: ChartState;
  children: ChartState[];
  isInitial: boolean;
  isDeep: boolean;
  entry: string[];
  exit: string[];
  invokes: string[];
  transitions: ChartTransition[];
  description?: string;
}

export interface Chart {
  id: string;
  root: ChartState;
  states: Map<string, ChartState>;
  transitions: Map<string, ChartTransition>;
}

export class ChartProblem extends Error {}

export const transitionId = (source: string, event: string, index: number): string => `${source} ${event} ${index}`;

/** Make the chart of a config of XState, or of the definition that `machine.toJSON()` gives. */
export function toChart(json: Json): Chart {
  if (!isObject(json) || !isObject(json['states'] ?? null)) {
    throw new ChartProblem('this is no chart: a chart is a JSON object with "states"');
  }
  const config = isDefinition(json) ? toConfig(json) : json;
  let root: AnyStateNode;
  try {
    root = createMachine(config as Parameters<typeof createMachine>[0]).root;
  } catch (error) {
    throw new ChartProblem(`this chart cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  const states = new Map<string, ChartState>();
  const transitions = new Map<string, ChartTransition>();
  const state = readState(root, undefined, states, transitions);
  return { id: root.id, root: state, states, transitions };
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readState(
  node: AnyStateNode,
  parent: ChartState | undefined,
  states: Map<string, ChartState>,
  transitions: Map<string, ChartTransition>,
): ChartState {
  const state: ChartState = {
    id: node.id,
    key: node.key,
    type: node.type,
    depth: parent ? parent.depth + 1 : 0,
    children: [],
    isInitial: node.parent?.type === 'compound' && node.parent.initial?.target?.[0] === node,
    isDeep: node.history === 'deep',
    entry: node.entry.map(actionLabel).filter(isWritten),
    exit: node.exit.map(actionLabel).filter(isWritten),
    invokes: node.invoke.map((invoke) => (typeof invoke.src === 'string' ? invoke.src : invoke.id)),
    transitions: [],
  };
  if (parent) state.parent = parent;
  if (node.description) state.description = node.description;
  states.set(state.id, state);
  state.transitions = readTransitions(node);
  for (const transition of state.transitions) transitions.set(transition.id, transition);
  state.children = Object.values(node.states).map((child) => readState(child, state, states, transitions));
  return state;
}

function readTransitions(node: AnyStateNode): ChartTransition[] {
  const listed: ChartTransition[] = [];
  const groups: [string, readonly XTransition[]][] = [...node.transitions.entries()];
  if (node.always?.length) groups.push(['', node.always]);
  for (const [event, group] of groups) {
    group.forEach((transition, index) => {
      const read: ChartTransition = {
        id: transitionId(node.id, event, index),
        source: node.id,
        event,
        label: eventLabel(event, node.id),
        kind: kindOf(event),
        guard: guardLabel(transition.guard),
        actions: transition.actions.map(actionLabel).filter(isWritten),
        targets: (transition.target ?? []).map((target) => target.id),
      };
      if (transition.description) read.description = transition.description;
      listed.push(read);
    });
  }
  if (node.type === 'history') listed.push(...historyDefault(node));
  return listed;
}

type XTransition =
  AnyStateNode['transitions'] extends Map<string, infer List extends readonly unknown[]> ? List[number] : never;

/** The state that a history state leads to if there is no history yet. */
function historyDefault(node: AnyStateNode): ChartTransition[] {
  const target = (node.config as { target?: string }).target;
  if (!target || !node.parent) return [];
  const sibling = target.startsWith('#') ? undefined : node.parent.states[target.replace(/^\./, '')];
  const id = sibling?.id ?? target.replace(/^#/, '');
  return [
    {
      id: transitionId(node.id, 'default', 0),
      source: node.id,
      event: 'default',
      label: 'default',
      kind: 'always',
      guard: '',
      actions: [],
      targets: [id],
    },
  ];
}

/** Actions that XState adds for delays are not in the chart. */
const isWritten = (label: string): boolean => !label.startsWith('xstate.');

function isDefinition(json: JsonObject): boolean {
  return Array.isArray(json['transitions']) && isObject(json['on'] ?? null) && typeof json['key'] === 'string';
}

/** Make a config again of a definition, in which targets are ids and delays are events. */
function toConfig(state: JsonObject): JsonObject {
  const config: JsonObject = {};
  for (const key of ['id', 'entry', 'exit', 'description', 'tags', 'meta', 'always']) {
    if (state[key] !== undefined) config[key] = state[key];
  }
  if (state['type'] !== 'atomic' && state['type'] !== 'compound') config['type'] = state['type'] ?? null;
  if (state['type'] === 'history') config['history'] = state['history'] || 'shallow';
  const initial = isObject(state['initial']) ? state['initial']['target'] : undefined;
  const states = isObject(state['states']) ? state['states'] : {};
  if (Array.isArray(initial) && initial.length) {
    const [key] =
      Object.entries(states).find(([, child]) => isObject(child) && `#${String(child['id'])}` === initial[0]) ?? [];
    if (key) config['initial'] = key;
  }
  config['states'] = Object.fromEntries(
    Object.entries(states).map(([key, child]) => [key, isObject(child) ? toConfig(child) : {}]),
  );
  const on = isObject(state['on']) ? state['on'] : {};
  config['on'] = Object.fromEntries(Object.entries(on).map(([event, list]) => [event, asList(list).map(toTransition)]));
  config['invoke'] = asList(state['invoke'] ?? []).flatMap((invoke) =>
    isObject(invoke)
      ? [{ id: invoke['id'] ?? '', src: typeof invoke['src'] === 'string' ? invoke['src'] : 'actor' }]
      : [],
  );
  return config;
}

function toTransition(value: Json): Json {
  if (!isObject(value)) return {};
  const kept = ['target', 'guard', 'actions', 'reenter', 'description'].filter((key) => value[key] !== undefined);
  return Object.fromEntries(kept.map((key) => [key, value[key] ?? null]));
}

const asList = (value: Json): Json[] => (Array.isArray(value) ? value : [value]);

/** The ids of the states that a state value names, those around them included. */
export function activeStates(chart: Chart, value: Json | undefined): Set<string> {
  const active = new Set<string>();
  const add = (state: ChartState, inner: Json | undefined): void => {
    active.add(state.id);
    if (typeof inner === 'string') {
      const child = state.children.find((each) => each.key === inner);
      if (child) active.add(child.id);
    } else if (isObject(inner)) {
      for (const child of state.children) if (child.key in inner) add(child, inner[child.key]);
    }
  };
  if (value !== undefined && value !== null) add(chart.root, value);
  return active;
}

/** States whose key or path contains a text, in the order of the chart. */
export function findStates(chart: Chart, text: string): ChartState[] {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const [, ...inner] = chart.states.values();
  return inner.filter((state) => state.id.toLowerCase().includes(wanted) || state.key.toLowerCase().includes(wanted));
}

export const targetNames = (chart: Chart, targets: readonly string[]): string =>
  targets.map((id) => chart.states.get(id)?.key ?? id).join(', ');
