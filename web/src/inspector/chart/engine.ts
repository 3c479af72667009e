/** ELK in a worker of its own, and the layouts it has made, which are kept by the hash of the chart. */
import ElkApi from 'elkjs/lib/elk-api.js';
import workerUrl from 'elkjs/lib/elk-worker.min.js?url';
import { type Graph, layOutGraph } from './graph';
import { graphWidths, loadFonts } from './measure';
import type { Chart } from './model';

// A layout of an earlier version of this page is not used.
const PREFIX = 'antiphon.graph.3.';
const kept = new Map<string, Promise<Graph>>();
let elk: InstanceType<typeof ElkApi> | null = null;

export function graphOf(chart: Chart, hash: string): Promise<Graph> {
  const known = kept.get(hash);
  if (known) return known;
  const graph = read(hash) ?? make(chart, hash);
  kept.set(hash, graph);
  graph.catch(() => kept.delete(hash));
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
    const text = localStorage.getItem(PREFIX + hash);
    return text === null ? null : Promise.resolve(JSON.parse(text) as Graph);
  } catch {
    return null;
  }
}

/** Keep a layout; if the storage is full, those of other charts are dropped. */
function write(hash: string, graph: Graph): void {
  const text = JSON.stringify(graph);
  try {
    localStorage.setItem(PREFIX + hash, text);
  } catch {
    try {
      for (const key of Object.keys(localStorage)) if (key.startsWith('antiphon.graph.')) localStorage.removeItem(key);
      localStorage.setItem(PREFIX + hash, text);
    } catch {
      // The chart is laid out again when the page is opened next.
    }
  }
}
