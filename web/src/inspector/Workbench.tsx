import { type ReactNode, useCallback, useMemo, useState } from 'react';
import { useCommands } from '../parts/commands';
import { ChartPane } from './ChartPane';
import { ContextPanel } from './ContextPanel';
import { EventList } from './EventList';
import { valueLabel } from './chart/labels';
import { activeStates, type Chart, type Json } from './chart/model';
import { type Entry, filterEntries } from './entries';
import { stepFor, useStepKeys } from './keys';
import { SendPanel } from './SendPanel';

export interface Sending {
  can: readonly string[];
  schemas: Record<string, Json>;
  isLive: boolean;
  send: (event: Json) => Promise<void>;
}

export interface WorkbenchProps {
  title: string;
  machine: string;
  status: string | null;
  value: Json;
  chart: { chart: Chart; hash: string } | null;
  /** Shown instead of the chart. */
  missing: string;
  taken: ReadonlySet<string>;
  context: Json | undefined;
  before: Json | undefined;
  entries: readonly Entry[];
  loadEarlier: (() => void) | null;
  /** The step that is shown; null is the last one, as it grows. */
  step: number | null;
  onStep: (step: number | null) => void;
  sending: Sending | null;
  actions: ReactNode;
  notice: ReactNode;
}

/** One actor: its chart, the events of its tree, its context, and what can be sent to it. */
export function Workbench(props: WorkbenchProps) {
  const { chart, value, entries, step, onStep, sending } = props;
  const [filter, setFilter] = useState('');
  const [draft, setDraft] = useState<{ type: string; count: number } | null>(null);
  const shown = useMemo(() => filterEntries(entries, filter), [entries, filter]);
  const active = useMemo(() => (chart ? activeStates(chart.chart, value) : new Set<string>()), [chart, value]);
  const last = entries.at(-1)?.seq ?? 0;
  const current = step ?? last;
  // A chart without an actor has neither events nor a context.
  const hasSide = sending !== null || entries.length > 0;
  useStepKeys(shown, last, current, onStep);
  const go = (key: string) => () => {
    const to = stepFor(key, shown, last, current);
    if (to !== undefined) onStep(to);
  };
  useCommands([
    { id: 'step-back', label: 'Step back (←)', group: 'Inspector', run: go('ArrowLeft') },
    { id: 'step-forth', label: 'Step forth (→)', group: 'Inspector', run: go('ArrowRight') },
    { id: 'back-to-live', label: 'Back to live (Esc)', group: 'Inspector', run: go('Escape') },
  ]);
  const choose = useCallback((type: string) => setDraft((before) => ({ type, count: (before?.count ?? 0) + 1 })), []);
  return (
    <>
      <section className={hasSide ? 'bench' : 'bench alone'} aria-label="Chart">
        <header className="bench-head">
          <h1>{props.title}</h1>
          <span className="bench-machine">{props.machine}</span>
          <p className="bench-value" role="status">
            {valueLabel(value) || props.status || ''}
          </p>
          {step !== null && (
            <button type="button" className="back-to-live" onClick={() => onStep(null)}>
              Step {step} of {last} · back to live <kbd>Esc</kbd>
            </button>
          )}
        </header>
        {props.notice}
        <ChartPane
          chart={chart}
          missing={props.missing}
          active={active}
          taken={props.taken}
          can={sending?.isLive ? sending.can : []}
          onEvent={choose}
        />
      </section>
      {hasSide && (
        <aside className="bench-side" aria-label="Events and context">
          {sending && <SendPanel sending={sending} draft={draft} onChoose={choose} />}
          <EventList
            entries={shown}
            total={entries.length}
            current={current}
            last={last}
            filter={filter}
            onFilter={setFilter}
            onStep={onStep}
            loadEarlier={props.loadEarlier}
            actions={props.actions}
          />
          <ContextPanel context={props.context} before={props.before} />
        </aside>
      )}
    </>
  );
}
