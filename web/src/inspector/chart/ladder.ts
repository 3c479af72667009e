// Ladder: states below one another, one row for each transition, and lines between them at their right side.
//
// A row that leads to a state names it, and starts a line in the colour of that state. The lines run in a column right
// of the boxes, so that nothing overlaps and a small change of the chart moves little. The regions of a parallel state
// stand side by side, each with a column of its own. A line stays within its column: a row that leads from a region to
// a state elsewhere has the colour and the name of that state, and no line.
import { assignColumns, type Span } from './columns';
import type { Chart, ChartState } from './model';
import { type Row, stateRows, stateTitle } from './rows';
import { cells, wrap } from './wrapping';

export const LINE = 18;
export const PADDING = 12;
export const COLOURS = 8;
const LONGEST_LINE = 68;
const GAP = 16;
const LANE = 9;
const NARROWEST = 96;
const TITLE = 30;
const LAMP = 18;

export interface Metrics {
  /** Width of a character of a row. */
  character: number;
  /** Width of a title. */
  title: (text: string) => number;
}

export const PLAIN_METRICS: Metrics = { character: 7.2, title: (text) => cells(text) * 8 };

export interface LadderRow {
  row: Row;
  lines: string[];
  /** How many characters of each line are names of events. */
  heads: number[];
  y: number;
  colour: number | null;
}

export interface LadderBox {
  state: ChartState;
  title: string;
  isRegion: boolean;
  x: number;
  y: number;
  width: number;
  height: number;
  rows: LadderRow[];
}

export interface LadderLine {
  id: string;
  transitions: string[];
  source: string;
  target: string;
  colour: number;
  path: string;
  start: { x: number; y: number };
  end: { x: number; y: number };
}

export interface Ladder {
  width: number;
  height: number;
  boxes: LadderBox[];
  lines: LadderLine[];
}

interface Shape extends LadderBox {
  children: Shape[];
  area: Shape;
  lanes: number;
}

interface Connection {
  from: Shape;
  row: LadderRow;
  to: Shape;
}

export function layOutLadder(chart: Chart, metrics: Metrics = PLAIN_METRICS): Ladder {
  const root = makeShape(chart, chart.root);
  setAreas(root, root);
  setHeights(root);
  setTops(root, GAP);
  const shapes = [...walk(root)];
  const byState = new Map(shapes.map((shape) => [shape.state.id, shape]));
  const colours = assignColours(shapes);
  const connections = findConnections(shapes, byState);
  const lanes = assignLanes(shapes, connections);
  setWidths(root, metrics);
  setLefts(root, GAP);
  const lines = connections.map((connection) => drawLine(connection, lanes, colours));
  return {
    width: root.x + root.width + column(root) + GAP,
    height: root.y + root.height + GAP,
    boxes: shapes.map(toBox),
    lines,
  };
}

function* walk(shape: Shape): Generator<Shape> {
  yield shape;
  for (const child of shape.children) yield* walk(child);
}

function makeShape(chart: Chart, state: ChartState): Shape {
  const rows = stateRows(chart, state).map((row): LadderRow => {
    const text = [row.head, row.rest, row.destination.replaceAll(' ', '\u00a0')].filter(Boolean).join(' ');
    const lines = wrap(text, LONGEST_LINE);
    return { row, lines, heads: headLengths(row.head, lines), y: 0, colour: null };
  });
  const shape = {
    state,
    rows,
    title: stateTitle(state),
    isRegion: state.parent?.type === 'parallel',
    children: state.children.map((child) => makeShape(chart, child)),
    x: 0,
    y: 0,
    width: 0,
    height: 0,
    lanes: 0,
  } as unknown as Shape;
  shape.area = shape;
  return shape;
}

function headLengths(head: string, lines: string[]): number[] {
  let words = head.split(' ').length;
  return lines.map((line) => {
    const own = line.trim().split(' ').slice(0, words);
    words -= own.length;
    return own.length ? line.length - line.trimStart().length + own.join(' ').length : 0;
  });
}

const hasRegions = (shape: Shape): boolean => shape.state.type === 'parallel' && shape.children.length > 1;
const lineCount = (rows: LadderRow[]): number => rows.reduce((sum, row) => sum + row.lines.length, 0);
const header = (shape: Shape): number => TITLE + (shape.rows.length ? lineCount(shape.rows) * LINE + PADDING : 4);
const column = (shape: Shape): number => (shape.lanes ? GAP + LANE * shape.lanes : 0);
const arrival = (shape: Shape): number => shape.y + TITLE / 2;

function setAreas(shape: Shape, area: Shape): void {
  shape.area = area;
  for (const child of shape.children) setAreas(child, hasRegions(shape) ? child : area);
}

function setHeights(shape: Shape): void {
  shape.children.forEach(setHeights);
  const heights = shape.children.map((child) => child.height);
  let inner = heights.reduce((sum, height) => sum + height + GAP, 0);
  if (hasRegions(shape)) {
    const highest = Math.max(...heights);
    inner = highest + GAP;
    for (const child of shape.children) child.height = highest;
  }
  shape.height = header(shape) + inner;
}

function setTops(shape: Shape, top: number): void {
  shape.y = top;
  let y = top + TITLE;
  for (const row of shape.rows) {
    row.y = y + LINE / 2;
    y += row.lines.length * LINE;
  }
  let below = top + header(shape);
  for (const child of shape.children) {
    setTops(child, below);
    if (!hasRegions(shape)) below += child.height + GAP;
  }
}

function assignColours(shapes: Shape[]): Map<string, number> {
  const colours = new Map<string, number>();
  for (const shape of shapes) {
    for (const row of shape.rows) {
      for (const target of row.row.targets) if (!colours.has(target)) colours.set(target, colours.size % COLOURS);
      const [first] = row.row.targets;
      if (first !== undefined) row.colour = colours.get(first) ?? null;
    }
  }
  return colours;
}

function findConnections(shapes: Shape[], byState: Map<string, Shape>): Connection[] {
  return shapes.flatMap((from) =>
    from.rows.flatMap((row) =>
      row.row.targets.flatMap((target): Connection[] => {
        const to = byState.get(target);
        return to && to.area === from.area ? [{ from, row, to }] : [];
      }),
    ),
  );
}

/** The lane of each target in its area; each area notes how many it has. */
function assignLanes(shapes: Shape[], connections: Connection[]): Map<Shape, number> {
  const spans = new Map<Shape, Span>();
  for (const { row, to } of connections) {
    const span = spans.get(to) ?? { top: arrival(to), bottom: arrival(to) };
    spans.set(to, { top: Math.min(span.top, row.y), bottom: Math.max(span.bottom, row.y) });
  }
  const lanes = new Map<Shape, number>();
  for (const area of shapes.filter((shape) => shape.area === shape)) {
    const columns = assignColumns(new Map([...spans].filter(([shape]) => shape.area === area)));
    area.lanes = Math.max(-1, ...columns.values()) + 1;
    for (const [shape, lane] of columns) lanes.set(shape, lane);
  }
  return lanes;
}

const regionsWidth = (shape: Shape): number =>
  shape.children.reduce((sum, child) => sum + child.width + column(child) + GAP, GAP);

function setWidths(shape: Shape, metrics: Metrics): void {
  for (const child of shape.children) setWidths(child, metrics);
  const rows = shape.rows.flatMap((row) => row.lines.map((line) => cells(line) * metrics.character));
  const own = Math.max(metrics.title(shape.title) + LAMP, ...rows) + 2 * PADDING;
  const widest = Math.max(0, ...shape.children.map((child) => child.width)) + 2 * GAP;
  const inner = shape.children.length ? (hasRegions(shape) ? regionsWidth(shape) : widest) : 0;
  shape.width = Math.max(NARROWEST, own, inner);
}

function setLefts(shape: Shape, left: number): void {
  shape.x = left;
  const last = shape.children.at(-1);
  if (hasRegions(shape) && last) last.width += shape.width - regionsWidth(shape);
  let x = left + GAP;
  for (const child of shape.children) {
    if (!hasRegions(shape)) child.width = shape.width - 2 * GAP;
    setLefts(child, x);
    if (hasRegions(shape)) x += child.width + column(child) + GAP;
  }
}

function drawLine({ from, row, to }: Connection, lanes: Map<Shape, number>, colours: Map<string, number>): LadderLine {
  const { area } = from;
  const lane = area.x + area.width + GAP / 2 + LANE * (lanes.get(to) ?? 0);
  const start = { x: from.x + from.width, y: row.y };
  const end = { x: to.x + to.width, y: arrival(to) };
  return {
    id: `${from.state.id} ${row.y} ${to.state.id}`,
    transitions: row.row.transitions.map((each) => each.id),
    source: from.state.id,
    target: to.state.id,
    colour: colours.get(to.state.id) ?? 0,
    path: `M${start.x} ${start.y}H${lane}V${end.y}H${end.x + 7}`,
    start,
    end,
  };
}

function toBox({ state, title, isRegion, x, y, width, height, rows }: Shape): LadderBox {
  return { state, title, isRegion, x, y, width, height, rows };
}
