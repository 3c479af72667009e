import Elk from 'elkjs/lib/elk.bundled.js';
import { expect, test } from 'vitest';
import * as charts from './charts.fixture';
import { ATTEMPTS, findWires, type Layout, layOutGraph, stateLines } from './graph';
import { toChart } from './model';

const elk = new Elk();
const layout: Layout = (graph, layoutOptions) => elk.layout(graph, { layoutOptions });
const WIDTHS = { title: (text: string) => text.length * 8, row: (text: string) => text.length * 6.6 };

test.each(Object.entries(charts))(
  'the graph of %s has all states and lines, and states do not overlap',
  async (_, json) => {
    const chart = toChart(json);
    const graph = await layOutGraph(chart, WIDTHS, layout);
    const boxes = new Map(graph.boxes.map((box) => [box.id, box]));
    const leaves = [...chart.states.values()]
      .filter((state) => !state.children.length)
      .flatMap((state) => boxes.get(state.id) ?? []);
    const clashes = leaves.flatMap((a) =>
      leaves.filter(
        (b) =>
          a.id < b.id && a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height,
      ),
    );

    const drawn = new Set(graph.wires.map((wire) => wire.id));

    expect([...chart.states.keys()].filter((id) => !boxes.has(id))).toEqual([]);
    expect(findWires(chart).filter((wire) => !drawn.has(wire.id))).toEqual([]);
    expect(clashes).toEqual([]);
  },
  60_000,
);

test('transitions from one state to another share a line', () => {
  const chart = toChart({
    id: 'm',
    initial: 'a',
    states: { a: { on: { X: 'b', Y: { target: 'b', guard: 'may' }, Z: { actions: 'note' } } }, b: {} },
  });

  expect(findWires(chart).map((wire) => [wire.id, wire.transitions.map((each) => each.event)])).toEqual([
    ['m.a > m.b', ['X', 'Y']],
  ]);
  expect(chart.states.get('m.a') && stateLines(chart.states.get('m.a')!)).toEqual([
    { head: 'Z', text: '/ note', transitions: ['m.a Z 0'] },
  ]);
});

test('settings that are milder are tried before it fails', async () => {
  const tried: Record<string, string>[] = [];
  const failing: Layout = (_, options) => {
    tried.push(options);
    return Promise.reject(new Error(`no ${tried.length}`));
  };

  await expect(layOutGraph(toChart(charts.tools), WIDTHS, failing)).rejects.toThrow(`no ${ATTEMPTS.length}`);
  expect(new Set(tried.map((options) => JSON.stringify(options))).size).toBe(ATTEMPTS.length);
});
