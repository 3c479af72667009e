import { type ReactNode, useRef } from 'react';
import { type Entry, entryLabel } from './entries';
import { valueLabel } from './chart/labels';
import { useShown } from './scrolling';

interface Props {
  entries: readonly Entry[];
  total: number;
  current: number;
  last: number;
  filter: string;
  onFilter: (text: string) => void;
  onStep: (step: number | null) => void;
  loadEarlier: (() => void) | null;
  actions: ReactNode;
}

/** The events of a tree; one of them leads to the step that took it. */
export function EventList({ entries, total, current, last, filter, onFilter, onStep, loadEarlier, actions }: Props) {
  const list = useRef<HTMLOListElement>(null);
  const start = entries[0]?.at ?? 0;
  useShown(list, '[aria-current]', `${current} ${entries.length}`);
  return (
    <section className="side-part grow" aria-labelledby="events-title">
      <div className="side-head">
        <h2 id="events-title">Events</h2>
        <span className="count">{filter ? `${entries.length} of ${total}` : total}</span>
        <div className="side-actions">{actions}</div>
      </div>
      <input
        type="search"
        className="filter"
        aria-label="Filter events"
        placeholder="Filter: event, actor, state, -not"
        value={filter}
        onChange={(event) => onFilter(event.target.value)}
      />
      {loadEarlier && (
        <button type="button" className="quiet" onClick={loadEarlier}>
          Load earlier events
        </button>
      )}
      <ol className="events" aria-label="Events" ref={list} tabIndex={0}>
        {entries.map((entry) => (
          <li key={entry.seq} className={entry.seq > current ? 'later' : ''}>
            <button
              type="button"
              aria-current={entry.seq === current ? 'step' : undefined}
              title={new Date(entry.at).toISOString()}
              onClick={() => onStep(entry.seq >= last ? null : entry.seq)}
            >
              <span className="seq">{entry.seq}</span>
              <b>{entryLabel(entry)}</b>
              {entry.to && (
                <span className="to-actor" title={entry.to}>
                  {entry.to.split('/').at(-1)}
                </span>
              )}
              {entry.value !== null && <span className="to-state">→ {valueLabel(entry.value)}</span>}
              <time>{((entry.at - start) / 1000).toFixed(3)}</time>
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
