// Graph: the layered layout of ELK. Its result depends on the chart alone, so it is kept by the hash of the chart.
import type { ElkExtendedEdge, ElkNode } from 'elkjs/lib/elk-api';
import type { Chart, ChartState, ChartTransition } from './model';
import { conditionText } from './rows';

export interface TextWidths {
  title: (text: string) => number;
  row: (text: string) => number;
}

export interface GraphBox {
  id: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface GraphWire {
  id: string;
  points: { x: number; y: number }[];
  label: GraphBox | null;
}

export interface Graph {
  width: number;
  height: number;
  boxes: GraphBox[];
  wires: GraphWire[];
}

export interface StateLine {
  head: string;
  text: string;
  transitions: string[];
}

/** The transitions from one state to another, which share a line. */
export interface Wire {
  id: string;
  source: string;
  target: string;
  transitions: ChartTransition[];
}

export type Layout = (graph: ElkNode, options: Record<string, string>) => Promise<ElkNode>;

export const HEADER = 30;
export const STATE_LINE = 16;
export const LABEL_LINE = 16;
const INITIAL = '::initial';

// Options of a graph are not inherited by the graphs in it, so they are passed as defaults. DEPTH_FIRST from the
// initial state gives the order in which people read. ELK throws on some charts; then the next of these is tried.
const OPTIONS: Record<string, string> = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.json.edgeCoords': 'ROOT',
  'elk.json.shapeCoords': 'ROOT',
  'elk.spacing.nodeNode': '30',
  'elk.layered.spacing.nodeNodeBetweenLayers': '26',
  'elk.spacing.edgeNode': '16',
  'elk.spacing.edgeEdge': '12',
  'elk.layered.spacing.edgeNodeBetweenLayers': '14',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '12',
  'elk.spacing.edgeLabel': '2',
  'elk.edgeLabels.inline': 'true',
  'elk.edgeLabels.placement': 'CENTER',
  'elk.layered.considerModelOrder.strategy': 'NONE',
  'elk.layered.cycleBreaking.strategy': 'DEPTH_FIRST',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.layered.thoroughness': '3',
};
// The best placement takes seconds for a chart of more states.
const MANY = 40;
const FAST = { 'elk.layered.thoroughness': '1' };
export const ATTEMPTS: Record<string, string>[] = [
  {},
  { 'elk.layered.nodePlacement.strategy': 'BRANDES_KOEPF' },
  { 'elk.edgeRouting': 'POLYLINE', 'elk.layered.cycleBreaking.strategy': 'GREEDY' },
  { 'elk.edgeLabels.inline': 'false', 'elk.edgeRouting': 'POLYLINE' },
];

export const isInitialMark = (id: string): boolean => id.endsWith(INITIAL);

/** What is written inside the box of a state: actors, actions, and transitions that lead nowhere. */
export function stateLines(state: ChartState): StateLine[] {
  const listed = (head: string, names: string[]): StateLine[] => names.map((text) => ({ head, text, transitions: [] }));
  const stays = state.transitions.filter((each) => !each.targets.length);
  return [
    ...listed('invoke', state.invokes),
    ...listed('entry', state.entry),
    ...listed('exit', state.exit),
    ...stays.map((each) => ({ head: each.label, text: conditionText(each), transitions: [each.id] })),
  ];
}

export const wireLabel = (transition: ChartTransition): string =>
  transition.guard ? `${transition.label} [${transition.guard}]` : transition.label;

export function findWires(chart: Chart): Wire[] {
  const wires = new Map<string, Wire>();
  for (const transition of chart.transitions.values()) {
    for (const target of transition.targets) {
      if (!chart.states.has(target)) continue;
      const id = `${transition.source} > ${target}`;
      const wire = wires.get(id) ?? { id, source: transition.source, target, transitions: [] };
      wire.transitions.push(transition);
      wires.set(id, wire);
    }
  }
  return [...wires.values()];
}

export async function layOutGraph(chart: Chart, widths: TextWidths, layout: Layout): Promise<Graph> {
  const wires = findWires(chart);
  // The machine itself is a box too, because it may have transitions of its own.
  const graph: ElkNode = {
    id: '::graph',
    children: [toElk(chart.root, widths)],
    edges: [...wires.map((wire) => toEdge(wire, widths)), ...initialEdges(chart)],
    layoutOptions: { 'elk.padding': '[top=8,left=8,bottom=8,right=8]' },
  };
  let problem: unknown;
  const attempts = chart.states.size > MANY ? ATTEMPTS.slice(1).map((attempt) => ({ ...attempt, ...FAST })) : ATTEMPTS;
  for (const attempt of attempts) {
    try {
      return toGraph(await layout(structuredClone(graph), { ...OPTIONS, ...attempt }));
    } catch (error) {
      problem = error;
    }
  }
  throw problem;
}

function toElk(state: ChartState, widths: TextWidths): ElkNode {
  if (state.type === 'history') return { id: state.id, width: 26, height: 26 };
  const lines = stateLines(state);
  const rows = lines.map((line) => widths.row(`${line.head}  ${line.text}`) + 34);
  const width = Math.ceil(Math.max(96, widths.title(state.key) + 50, ...rows));
  const height = HEADER + (lines.length ? lines.length * STATE_LINE + 8 : 0);
  if (!state.children.length) return { id: state.id, width, height };
  const children = state.children.map((child) => toElk(child, widths));
  if (state.children.some((child) => child.isInitial)) {
    children.unshift({
      id: `${state.id}${INITIAL}`,
      width: 10,
      height: 10,
      layoutOptions: { 'elk.layered.layering.layerConstraint': 'FIRST' },
    });
  }
  const layoutOptions = {
    'elk.padding': `[top=${height + 14},left=18,bottom=18,right=18]`,
    'elk.nodeSize.constraints': 'MINIMUM_SIZE',
    'elk.nodeSize.minimum': `(${width},${height})`,
    ...(state.type === 'parallel' ? { 'elk.direction': 'RIGHT' } : {}),
  };
  return { id: state.id, children, layoutOptions };
}

function toEdge(wire: Wire, widths: TextWidths): ElkExtendedEdge {
  const width = Math.ceil(Math.max(...wire.transitions.map((each) => widths.row(wireLabel(each))))) + 14;
  const height = wire.transitions.length * LABEL_LINE + 4;
  const isError = wire.transitions.every((each) => each.kind === 'error');
  return {
    id: wire.id,
    sources: [wire.source],
    targets: [wire.target],
    labels: [{ text: wire.id, width, height }],
    layoutOptions: { 'elk.layered.priority.direction': isError ? '0' : '10' },
  };
}

function initialEdges(chart: Chart): ElkExtendedEdge[] {
  const initial = [...chart.states.values()].filter((state) => state.isInitial && state.parent);
  return initial.map((state) => ({
    id: `${state.parent?.id}${INITIAL} > ${state.id}`,
    sources: [`${state.parent?.id}${INITIAL}`],
    targets: [state.id],
  }));
}

function toGraph(laidOut: ElkNode): Graph {
  const boxes: GraphBox[] = [];
  const wires: GraphWire[] = [];
  const walk = (node: ElkNode): void => {
    boxes.push({ id: node.id, x: node.x ?? 0, y: node.y ?? 0, width: node.width ?? 0, height: node.height ?? 0 });
    for (const edge of node.edges ?? []) {
      const [section] = edge.sections ?? [];
      const [label] = edge.labels ?? [];
      if (!section) continue;
      wires.push({
        id: edge.id,
        points: [section.startPoint, ...(section.bendPoints ?? []), section.endPoint],
        label: label
          ? { id: edge.id, x: label.x ?? 0, y: label.y ?? 0, width: label.width ?? 0, height: label.height ?? 0 }
          : null,
      });
    }
    node.children?.forEach(walk);
  };
  walk(laidOut);
  return { width: laidOut.width ?? 0, height: laidOut.height ?? 0, boxes: boxes.slice(1), wires };
}
