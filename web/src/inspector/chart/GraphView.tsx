import { useEffect, useMemo, useState } from 'react';
import { Canvas } from './Canvas';
import { activeLeaves, type Drawing } from './drawing';
import { findWires, type Graph, type Wire } from './graph';
import { StateBox, WireLabel, WirePath } from './GraphParts';
import { Outline } from './Outline';
import { areasToFollow } from './view';

/** The chart as ELK has laid it out; the outline if that fails. */
export function GraphView(drawing: Drawing) {
  const { chart, hash, active, taken, picked } = drawing;
  const [graph, setGraph] = useState<Graph | null>(null);
  const [layouts, setLayouts] = useState(0);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    let isGone = false;
    import('./engine')
      .then((engine) => engine.graphOf(chart, hash))
      .then(
        (made) => {
          if (!isGone) {
            setGraph(made);
            setLayouts((count) => count + 1);
            setProblem('');
          }
        },
        (error: unknown) => {
          if (!isGone) setProblem(error instanceof Error ? error.message : String(error));
        },
      );
    return () => {
      isGone = true;
    };
  }, [chart, hash]);
  const wires = useMemo(() => new Map(findWires(chart).map((wire) => [wire.id, wire])), [chart]);
  const boxes = useMemo(() => new Map(graph?.boxes.map((box) => [box.id, box])), [graph]);
  const follow = useMemo(() => {
    const leaves = activeLeaves(chart, active).flatMap((id) => boxes.get(id) ?? []);
    const starts = [...wires.values()]
      .filter((wire) => wire.transitions.some((each) => taken.has(each.id)))
      .flatMap((wire) => boxes.get(wire.source) ?? []);
    return areasToFollow(leaves, starts);
  }, [boxes, wires, chart, active, taken]);
  const goTo = useMemo(() => {
    const area = picked && boxes.get(picked.state);
    return area ? { area, count: picked.count } : null;
  }, [boxes, picked]);
  if (problem)
    return (
      <>
        <p className="notice" role="alert">
          The graph could not be laid out ({problem}); this is the outline.
        </p>
        <Outline {...drawing} />
      </>
    );
  if (!graph) return <p className="empty">Laying out the graph…</p>;
  const outer = graph.boxes.filter((box) => chart.states.get(box.id)?.children.length);
  const inner = graph.boxes.filter((box) => !chart.states.get(box.id)?.children.length);
  return (
    <Canvas size={graph} follow={follow} goTo={goTo} label="Graph" layouts={layouts}>
      <defs>
        {['', 'off', 'taken'].map((name) => (
          <marker
            key={name}
            id={`arrow${name}`}
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="7"
            markerHeight="7"
            orient="auto"
            markerUnits="userSpaceOnUse"
          >
            <path d="M0 0.8L7.2 4L0 7.2Z" className={`arrow ${name}`} />
          </marker>
        ))}
      </defs>
      {outer.map((box) => (
        <StateBox key={box.id} box={box} drawing={drawing} />
      ))}
      {graph.wires.map((wire) => (
        <WirePath
          key={wire.id}
          wire={wire}
          name={wireName(wires.get(wire.id), active, taken)}
          kind={wires.get(wire.id)?.transitions[0]?.kind ?? 'initial'}
        />
      ))}
      {inner.map((box) => (
        <StateBox key={box.id} box={box} drawing={drawing} />
      ))}
      {graph.wires.map((wire) => (
        <WireLabel key={wire.id} box={wire.label} wire={wires.get(wire.id)} drawing={drawing} />
      ))}
      {outer
        .filter((box) => chart.states.get(box.id)?.parent === chart.root)
        .map((box) => (
          <text
            key={box.id}
            className="part-name"
            x={box.x + box.width / 2}
            y={box.y + box.height / 2}
            textAnchor="middle"
            dominantBaseline="central"
          >
            {chart.states.get(box.id)?.key}
          </text>
        ))}
    </Canvas>
  );
}

function wireName(
  wire: Wire | undefined,
  active: ReadonlySet<string>,
  taken: ReadonlySet<string>,
): '' | 'off' | 'taken' {
  if (wire?.transitions.some((each) => taken.has(each.id))) return 'taken';
  return wire && active.size > 0 && !active.has(wire.source) ? 'off' : '';
}
