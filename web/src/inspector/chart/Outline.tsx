import { useRef } from 'react';
import { useShown } from '../scrolling';
import { type Drawing, possibleEvent } from './drawing';
import type { ChartState } from './model';
import { type Row, stateRows } from './rows';

const TYPES: Record<string, string> = { parallel: 'parallel', final: 'final', history: 'history' };

/** The same chart as a nested list: for screen readers and phones, and where a graph cannot be laid out. */
export function Outline(drawing: Drawing) {
  const box = useRef<HTMLDivElement>(null);
  useShown(box, '[aria-current] > button', drawing.active);
  useShown(box, '.picked', drawing.picked);
  return (
    <div className="outline" data-ready="true" ref={box}>
      <ul aria-label={`States of ${drawing.chart.id}`}>
        <State state={drawing.chart.root} drawing={drawing} />
      </ul>
    </div>
  );
}

function State({ state, drawing }: { state: ChartState; drawing: Drawing }) {
  const isOn = drawing.active.has(state.id);
  const isPicked = drawing.picked?.state === state.id;
  const rows = stateRows(drawing.chart, state);
  return (
    <li
      className={isOn ? 'on' : ''}
      aria-current={isOn && !state.children.some((child) => drawing.active.has(child.id)) ? 'true' : undefined}
    >
      <button
        type="button"
        className={isPicked ? 'outline-state picked' : 'outline-state'}
        aria-pressed={isPicked}
        data-state={state.id}
        onClick={() => drawing.onPick(state.id)}
      >
        <i className={`dot${isOn ? ' live' : state.type === 'final' ? ' final' : ''}`} aria-hidden="true" />
        <b>{state.key}</b>
        {state.isInitial && <em>initial</em>}
        {state.type in TYPES && (
          <em>
            {TYPES[state.type]}
            {state.isDeep ? ', deep' : ''}
          </em>
        )}
        {isOn && <span className="hidden-text"> (active)</span>}
      </button>
      {rows.length > 0 && (
        <ul className="outline-rows">
          {rows.map((row, index) => (
            <RowItem key={index} row={row} drawing={drawing} />
          ))}
        </ul>
      )}
      {state.children.length > 0 && (
        <ul>
          {state.children.map((child) => (
            <State key={child.id} state={child} drawing={drawing} />
          ))}
        </ul>
      )}
    </li>
  );
}

function RowItem({ row, drawing }: { row: Row; drawing: Drawing }) {
  const isTaken = row.transitions.some((each) => drawing.taken.has(each.id));
  const event = possibleEvent(drawing, row.transitions);
  return (
    <li className={isTaken ? 'taken' : ''}>
      {event ? (
        <button type="button" className="outline-event" onClick={() => drawing.onEvent(event)}>
          {row.head}
        </button>
      ) : (
        <b>{row.head}</b>
      )}
      {row.rest && <span> {row.rest}</span>}
      {row.destination && <span className="to"> {row.destination}</span>}
      {isTaken && <span className="hidden-text"> (just taken)</span>}
    </li>
  );
}
