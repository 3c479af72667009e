// The rows of a state, the same in every drawing: actions, actors, then transitions, those that stay first.
import { type Chart, type ChartState, type ChartTransition, targetNames } from './model';

export interface Row {
  /** The events, or the word that says what the row is about. */
  head: string;
  /** Guard and actions. */
  rest: string;
  destination: string;
  targets: string[];
  transitions: ChartTransition[];
}

const INITIAL_MARK = '●';
const FINAL_MARK = '◎';
const PARALLEL_MARK = '∥';

export function stateTitle(state: ChartState): string {
  const marks = state.isInitial ? [INITIAL_MARK] : [];
  if (state.type === 'final') marks.push(FINAL_MARK);
  if (state.type === 'parallel') marks.push(PARALLEL_MARK);
  if (state.type === 'history') marks.push(state.isDeep ? '(H*)' : '(H)');
  return [...marks, state.key].join(' ');
}

const about = (head: string, names: string[]): Row[] =>
  names.length ? [{ head, rest: names.join(', '), destination: '', targets: [], transitions: [] }] : [];

export function stateRows(chart: Chart, state: ChartState): Row[] {
  const invokes = state.invokes.flatMap((name) => about('invoke', [name]));
  return [...about('entry', state.entry), ...about('exit', state.exit), ...invokes, ...transitionRows(chart, state)];
}

/** One row for each transition; events with the same candidates share theirs. */
function transitionRows(chart: Chart, state: ChartState): Row[] {
  const byEvent = new Map<string, ChartTransition[]>();
  for (const each of state.transitions) byEvent.set(each.event, [...(byEvent.get(each.event) ?? []), each]);
  const groups = new Map<string, ChartTransition[][]>();
  for (const candidates of byEvent.values()) {
    const key = JSON.stringify(candidates.map((each) => [each.guard, each.actions, each.targets]));
    groups.set(key, [...(groups.get(key) ?? []), candidates]);
  }
  const rows = [...groups.values()].map((events) => groupRows(chart, events));
  const leads = (group: Row[]): number => (group.some((row) => row.targets.length) ? 1 : 0);
  return rows.sort((a, b) => leads(a) - leads(b)).flat();
}

function groupRows(chart: Chart, events: ChartTransition[][]): Row[] {
  const head = events.map((candidates) => candidates[0]?.label ?? '').join(', ');
  return (events[0] ?? []).map((first, index) => ({
    head,
    rest: conditionText(first),
    destination: first.targets.length ? `→ ${targetNames(chart, first.targets)}` : '',
    targets: first.targets,
    transitions: events.flatMap((candidates) => candidates[index] ?? []),
  }));
}

export function conditionText(transition: ChartTransition): string {
  if (!transition.guard && !transition.actions.length && !transition.targets.length) return 'is ignored';
  const guard = transition.guard ? `[${transition.guard}]` : '';
  const actions = transition.actions.length ? `/ ${transition.actions.join(', ')}` : '';
  return [guard, actions].filter(Boolean).join(' ');
}
