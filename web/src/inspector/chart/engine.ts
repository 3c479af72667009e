/** ELK in a worker of its own, and the layouts it has made, which are kept by the hash of the chart. */
import ElkApi from 'elkjs/lib/elk-api.js';
import workerUrl from 'elkjs/lib/elk-worker.min.js?url';
import { kept } from '../../parts/storage';
import { type Graph, layOutGraph } from './graph';
import { graphWidths, loadFonts } from './measure';
import type { Chart } from './model';

// A layout of an earlier version of this page is not used.
const PREFIX = 'antiphon.graph.3.';
const graphs = new Map<string, Promise<Graph>>();
let elk: InstanceType<typeof ElkApi> | null = null;

export function graphOf(chart: Chart, hash: string): Promise<Graph> {
  const known = graphs.get(hash);
  if (known) return known;
  const graph = read(hash) ?? make(chart, hash);
  graphs.set(hash, graph);
  graph.catch(() => graphs.delete(hash));
  return graph;
}

async function make(chart: Chart, hash: string): Promise<Graph> {
  await loadFonts();
  elk ??= new ElkApi({ workerUrl });
  const engine = elk;
  const graph = await layOutGraph(chart, graphWidths(), (node, layoutOptions) =>
    engine.layout(node, { layoutOptions }),
  );
  write(hash, graph);
  return graph;
}

function read(hash: string): Promise<Graph> | null {
  try {
    const text = kept.getItem(PREFIX + hash);
    return text === null ? null : Promise.resolve(JSON.parse(text) as Graph);
  } catch {
    return null;
  }
}

/** Keep a layout; if the storage is full, those of other charts are dropped. */
function write(hash: string, graph: Graph): void {
  const text = JSON.stringify(graph);
  if (kept.setItem(PREFIX + hash, text)) return;
  kept.removeAll('antiphon.graph.');
  kept.setItem(PREFIX + hash, text);
}
