/** What every drawing of a chart shows: the chart, its active states, and the transitions just taken. */
import type { Chart, ChartTransition } from './model';

export interface Drawing {
  chart: Chart;
  hash: string;
  active: ReadonlySet<string>;
  taken: ReadonlySet<string>;
  /** Types of events that the actor takes now; none in the past. */
  can: readonly string[];
  picked: { state: string; count: number } | null;
  onPick: (state: string) => void;
  onEvent: (type: string) => void;
}

/** The first event of some transitions that the actor takes now. */
export function possibleEvent({ active, can }: Drawing, transitions: readonly ChartTransition[]): string | null {
  const possible = transitions.find((each) => active.has(each.source) && can.includes(each.event));
  return possible?.event ?? null;
}

/** The ids of active states that have no active state inside. */
export function activeLeaves(chart: Chart, active: ReadonlySet<string>): string[] {
  return [...active].filter((id) => !chart.states.get(id)?.children.some((child) => active.has(child.id)));
}
