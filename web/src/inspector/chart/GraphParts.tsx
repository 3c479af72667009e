/** Boxes and lines of a graph. */
import { type Drawing, possibleEvent } from './drawing';
import {
  type GraphBox,
  type GraphWire,
  HEADER,
  isInitialMark,
  LABEL_LINE,
  STATE_LINE,
  stateLines,
  type Wire,
  wireLabel,
} from './graph';
import type { ChartState } from './model';
import { StateLamp } from './StateLamp';

export function StateBox({ box, drawing }: { box: GraphBox; drawing: Drawing }) {
  const state = drawing.chart.states.get(box.id);
  if (isInitialMark(box.id) || !state)
    return <circle className="initial" cx={box.x + box.width / 2} cy={box.y + box.height / 2} r={4} />;
  const isOn = drawing.active.has(state.id);
  const names = ['state', state.children.length ? 'compound' : 'leaf'];
  if (isOn) names.push('on');
  if (drawing.picked?.state === state.id) names.push('picked');
  return (
    <g
      className={names.join(' ')}
      data-state={state.id}
      onClick={(event) => {
        event.stopPropagation();
        drawing.onPick(state.id);
      }}
    >
      {state.type === 'history' ? (
        <HistoryMark box={box} state={state} />
      ) : (
        <Plate box={box} state={state} drawing={drawing} isOn={isOn} />
      )}
    </g>
  );
}

function HistoryMark({ box, state }: { box: GraphBox; state: ChartState }) {
  return (
    <>
      <circle className="state-plate" cx={box.x + box.width / 2} cy={box.y + box.height / 2} r={12} />
      <text className="title" x={box.x + box.width / 2} y={box.y + box.height / 2 + 5} textAnchor="middle">
        {state.isDeep ? 'H*' : 'H'}
      </text>
    </>
  );
}

function Plate({ box, state, drawing, isOn }: { box: GraphBox; state: ChartState; drawing: Drawing; isOn: boolean }) {
  const lines = stateLines(state);
  const header = HEADER + (lines.length ? lines.length * STATE_LINE + 8 : 0);
  return (
    <>
      <rect
        className="state-plate"
        x={box.x}
        y={box.y}
        width={box.width}
        height={box.height}
        rx={state.children.length ? 6 : 4}
      />
      {state.type === 'final' && (
        <rect className="inner" x={box.x + 3} y={box.y + 3} width={box.width - 6} height={box.height - 6} rx={2} />
      )}
      {state.children.length > 0 && <path className="rule" d={`M${box.x} ${box.y + header}H${box.x + box.width}`} />}
      <StateLamp x={box.x + 15} y={box.y + 15} isOn={isOn} isFinal={state.type === 'final'} />
      <text className="title" x={box.x + 28} y={box.y + 20}>
        {state.key}
        {state.type === 'parallel' ? ' ∥' : ''}
      </text>
      {lines.map((line, index) => (
        <text
          key={index}
          className={`small${line.transitions.some((id) => drawing.taken.has(id)) ? ' taken' : ''}`}
          x={box.x + 14}
          y={box.y + HEADER + 12 + index * STATE_LINE}
        >
          <tspan className="dim">{line.head}</tspan>
          <tspan dx={7}>{line.text}</tspan>
        </text>
      ))}
    </>
  );
}

export function WirePath({ wire, name, kind }: { wire: GraphWire; name: '' | 'off' | 'taken'; kind: string }) {
  return <path className={`wire ${kind} ${name}`} d={roundedPath(wire.points)} markerEnd={`url(#arrow${name})`} />;
}

export function WireLabel({ box, wire, drawing }: { box: GraphBox | null; wire: Wire | undefined; drawing: Drawing }) {
  if (!box || !wire) return null;
  const event = possibleEvent(drawing, wire.transitions);
  const isOff = drawing.active.size > 0 && !drawing.active.has(wire.source);
  return (
    <g
      className={`wire-label${event ? ' can' : ''}${isOff ? ' off' : ''}`}
      onClick={event ? () => drawing.onEvent(event) : undefined}
    >
      <rect x={box.x} y={box.y} width={box.width} height={box.height} rx={3} />
      {wire.transitions.map((each, index) => {
        const y = box.y + 2 + index * LABEL_LINE;
        const isTaken = drawing.taken.has(each.id);
        return (
          <g key={each.id} className={isTaken ? 'taken' : ''}>
            {isTaken && <rect x={box.x + 1} y={y} width={box.width - 2} height={LABEL_LINE} rx={3} />}
            <text x={box.x + box.width / 2} y={y + 12} textAnchor="middle">
              {wireLabel(each)}
            </text>
          </g>
        );
      })}
    </g>
  );
}

const RADIUS = 5;

/** A line with rounded bends. */
function roundedPath(points: { x: number; y: number }[]): string {
  const [first, ...rest] = points;
  if (!first) return '';
  let path = `M${first.x} ${first.y}`;
  let before = first;
  rest.forEach((point, index) => {
    const next = rest[index + 1];
    if (!next) {
      path += `L${point.x} ${point.y}`;
      return;
    }
    const into = Math.hypot(point.x - before.x, point.y - before.y) || 1;
    const out = Math.hypot(next.x - point.x, next.y - point.y) || 1;
    const radius = Math.min(RADIUS, into / 2, out / 2);
    path += `L${point.x - ((point.x - before.x) / into) * radius} ${point.y - ((point.y - before.y) / into) * radius}`;
    path += `Q${point.x} ${point.y} ${point.x + ((next.x - point.x) / out) * radius} ${point.y + ((next.y - point.y) / out) * radius}`;
    before = point;
  });
  return path;
}
