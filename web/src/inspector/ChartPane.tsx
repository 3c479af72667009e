import { useCallback, useMemo, useState } from 'react';
import { kept } from '../parts/storage';
import type { Drawing } from './chart/drawing';
import { GraphView } from './chart/GraphView';
import { LadderView } from './chart/LadderView';
import { type Chart, findStates } from './chart/model';
import { Outline } from './chart/Outline';
import { StateSearch } from './StateSearch';

interface Props {
  chart: { chart: Chart; hash: string } | null;
  missing: string;
  active: ReadonlySet<string>;
  taken: ReadonlySet<string>;
  can: readonly string[];
  onEvent: (type: string) => void;
}

const VIEWS = { ladder: LadderView, graph: GraphView, outline: Outline };
const NAMES: [ViewName, string][] = [
  ['ladder', 'Ladder'],
  ['graph', 'Graph'],
  ['outline', 'Outline'],
];
type ViewName = keyof typeof VIEWS;
const KEPT = 'antiphon.inspector.view';
const NARROW = 760;

function firstView(): ViewName {
  const name = kept.getItem(KEPT);
  if (name !== null && name in VIEWS) return name as ViewName;
  return innerWidth < NARROW ? 'outline' : 'ladder';
}

/** A chart in one of three views, with a search for its states. */
export function ChartPane({ chart, missing, ...rest }: Props) {
  const [view, setView] = useState<ViewName>(firstView);
  const [picked, setPicked] = useState<{ state: string; count: number } | null>(null);
  const pick = useCallback((state: string) => setPicked((before) => ({ state, count: (before?.count ?? 0) + 1 })), []);
  const choose = (name: ViewName): void => {
    kept.setItem(KEPT, name);
    setView(name);
  };
  const find = useCallback((text: string) => (chart ? findStates(chart.chart, text) : []), [chart]);
  const drawing = useMemo<Drawing | null>(
    () => (chart ? { ...chart, ...rest, picked, onPick: pick } : null),
    [chart, rest, picked, pick],
  );
  const View = VIEWS[view];
  const state = picked && chart?.chart.states.get(picked.state);
  return (
    <div className="chart-pane">
      <div className="chart-bar">
        <div role="group" aria-label="View" className="views">
          {NAMES.map(([name, label]) => (
            <button key={name} type="button" aria-pressed={view === name} onClick={() => choose(name)}>
              {label}
            </button>
          ))}
        </div>
        <StateSearch find={find} onPick={pick} />
      </div>
      {drawing ? <View key={drawing.hash} {...drawing} /> : <p className="empty">{missing}</p>}
      {state && (
        <p className="picked-state">
          <b>{state.id}</b> {state.description}
        </p>
      )}
    </div>
  );
}
