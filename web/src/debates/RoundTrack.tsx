import { useEffect, useRef } from 'react';
import { showElement } from './showElement';
import { stations, type Station } from './reading';
import type { Debate } from './types';

const WORDS = {
  done: 'done',
  live: 'in progress',
  held: 'paused',
  error: 'failed',
  coming: 'to come',
  skipped: 'skipped',
};

function StationMark({ station }: { station: Station }) {
  const isJudge = station.key === 'judge';
  return (
    <svg className="station-mark" viewBox="-14 -14 28 28" aria-hidden="true">
      {station.mark === 'live' && <circle r="12" className="station-halo" />}
      {station.mark === 'held' ? (
        <path d="M-3.5 -6V6M3.5 -6V6" className="station-bars" />
      ) : station.mark === 'error' || isJudge ? (
        <rect x="-6" y="-6" width="12" height="12" className="station-shape" />
      ) : (
        <circle r={station.mark === 'live' ? 7 : 6} className="station-shape" />
      )}
      {station.key === 'verdict' && <circle r="2.5" className="station-core" />}
    </svg>
  );
}

/** Openings, rounds, judge and verdict on a line; those that were held lead to their place on the page. */
export function RoundTrack({ debate }: { debate: Debate }) {
  const list = useRef<HTMLOListElement>(null);
  const all = stations(debate);
  const current = all.find((station) => ['live', 'held', 'error'].includes(station.mark))?.key;
  useEffect(() => {
    const element = list.current?.querySelector<HTMLElement>('[aria-current]');
    if (element && list.current) list.current.scrollLeft = element.offsetLeft - list.current.clientWidth / 2;
  }, [current]);
  return (
    <ol
      className="round-track"
      ref={list}
      aria-label="Rounds"
      data-size={all.length > 9 ? 'large' : all.length > 6 ? 'medium' : 'small'}
    >
      {all.map((station) => {
        const { target } = station;
        const label = (
          <>
            <span className="station-long">{station.label}</span>
            <span className="station-short">{station.short}</span>
          </>
        );
        return (
          <li key={station.key} data-mark={station.mark} aria-current={station.key === current ? 'step' : undefined}>
            <StationMark station={station} />
            {target === null ? (
              <span className="station-label">{label}</span>
            ) : (
              <button type="button" className="station-label" onClick={() => showElement(target)}>
                {label}
              </button>
            )}
            <span className="hidden-text">, {WORDS[station.mark]}</span>
          </li>
        );
      })}
    </ol>
  );
}
