import { memo, useCallback, useEffect, useMemo, useState } from 'react';
import { Canvas } from './Canvas';
import { activeLeaves, type Drawing, possibleEvent } from './drawing';
import { type Ladder, type LadderBox, type LadderLine, type LadderRow, layOutLadder, LINE, PADDING } from './ladder';
import { ladderMetrics, loadFonts } from './measure';
import { StateLamp } from './StateLamp';
import { areasToFollow } from './view';

/** States below one another, with a row for each transition and lines at the right side. */
export function LadderView(drawing: Drawing) {
  const { chart, active, taken, picked } = drawing;
  const [isMeasured, setMeasured] = useState(false);
  useEffect(() => void loadFonts().then(() => setMeasured(true)), []);
  const ladder = useMemo<Ladder | null>(
    () => (isMeasured ? layOutLadder(chart, ladderMetrics()) : null),
    [chart, isMeasured],
  );
  const boxes = useMemo(() => new Map(ladder?.boxes.map((box) => [box.state.id, box])), [ladder]);
  const isTaken = useCallback((line: LadderLine) => line.transitions.some((id) => taken.has(id)), [taken]);
  const follow = useMemo(() => {
    const leaves = activeLeaves(chart, active).flatMap((id) => boxes.get(id) ?? []);
    const starts =
      ladder?.lines
        .filter(isTaken)
        .map(({ start }) => ({ x: start.x, y: start.y - LINE, width: 0, height: 2 * LINE })) ?? [];
    return areasToFollow(leaves, starts);
  }, [boxes, ladder, chart, active, isTaken]);
  const goTo = useMemo(() => {
    const area = picked && boxes.get(picked.state);
    return area ? { area, count: picked.count } : null;
  }, [boxes, picked]);
  if (!ladder) return <p className="empty">Drawing the chart…</p>;
  return (
    <Canvas size={ladder} follow={follow} goTo={goTo} label="Ladder" layouts={1}>
      {ladder.boxes.map((box) => (
        <Box key={box.state.id} box={box} drawing={drawing} />
      ))}
      {ladder.lines.map((line) => (
        <Line key={line.id} line={line} isTaken={false} isOff={active.size > 0 && !active.has(line.source)} />
      ))}
      {ladder.lines.filter(isTaken).map((line) => (
        <Line key={line.id} line={line} isTaken isOff={false} />
      ))}
    </Canvas>
  );
}

function Box({ box, drawing }: { box: LadderBox; drawing: Drawing }) {
  const { state } = box;
  const isOn = drawing.active.has(state.id);
  const names = ['state', state.children.length ? 'compound' : 'leaf'];
  if (isOn) names.push('on');
  if (box.isRegion) names.push('region');
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
      <StateLamp x={box.x + 16} y={box.y + 15} isOn={isOn} isFinal={state.type === 'final'} />
      <text className="title" x={box.x + 30} y={box.y + 20}>
        {box.title}
      </text>
      {box.rows.map((row, index) => (
        <RowText key={index} box={box} row={row} drawing={drawing} />
      ))}
    </g>
  );
}

function RowText({ box, row, drawing }: { box: LadderBox; row: LadderRow; drawing: Drawing }) {
  const event = possibleEvent(drawing, row.row.transitions);
  const isTaken = row.row.transitions.some((each) => drawing.taken.has(each.id));
  const names = ['row', row.row.transitions.length ? '' : 'about', isTaken ? 'taken' : '', event ? 'can' : ''].filter(
    Boolean,
  );
  const destination = row.row.destination.replaceAll(' ', '\u00a0');
  const height = row.lines.length * LINE;
  return (
    <g
      className={names.join(' ')}
      onClick={
        event
          ? (click) => {
              click.stopPropagation();
              drawing.onEvent(event);
            }
          : undefined
      }
    >
      {(isTaken || event) && (
        <rect className="row-back" x={box.x + 4} y={row.y - LINE / 2} width={box.width - 8} height={height} rx={3} />
      )}
      {row.lines.map((line, index) => {
        const hasEnd = index === row.lines.length - 1 && destination !== '' && line.endsWith(destination);
        const text = hasEnd ? line.slice(0, -destination.length) : line;
        const head = text.slice(0, row.heads[index]);
        return (
          <text key={index} x={box.x + PADDING} y={row.y + 4 + index * LINE} xmlSpace="preserve">
            {head && <tspan className="head">{head}</tspan>}
            {text.slice(head.length)}
            {hasEnd && <tspan className={`to f${row.colour ?? 0}`}>{destination}</tspan>}
          </text>
        );
      })}
    </g>
  );
}

const Line = memo(function Line({ line, isTaken, isOff }: { line: LadderLine; isTaken: boolean; isOff: boolean }) {
  const names = ['ladder-line', isTaken ? 'taken' : '', isOff ? 'off' : ''].filter(Boolean).join(' ');
  return (
    <g className={names}>
      <circle className={`f${line.colour}`} cx={line.start.x} cy={line.start.y} r={3} />
      <path className={`line s${line.colour}`} d={line.path} />
      <path className={`f${line.colour}`} d={`M${line.end.x} ${line.end.y}l8 -4v8z`} />
    </g>
  );
});
