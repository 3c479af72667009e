import '../style/inspector.css';
import { type ChangeEvent, type DragEvent, useEffect, useState } from 'react';
import { notifyError } from '../parts/Toasts';
import { errorText, get } from '../wire/http';
import type { ChartList, ChartRow } from '../wire/types';
import { ActorList } from './ActorList';
import { isObject, type JsonObject } from './chart/model';
import { FileInspector } from './FileInspector';
import { type OpenedFile, readFile } from './files';
import { ServerInspector } from './ServerInspector';
import { loadChart } from './tree';

const MOST_BYTES = 200_000_000;

/** The inspector: a tree of the server, or a chart or journal that was dropped on the page. */
export function Inspector({ id }: { id: string | null }) {
  const [file, setFile] = useState<OpenedFile | null>(null);
  const [chart, setChart] = useState<JsonObject | null>(null);
  const [problem, setProblem] = useState('');
  const [isOver, setOver] = useState(false);
  const open = async (source: File): Promise<void> => {
    try {
      if (source.size > MOST_BYTES) throw new Error(`${source.name} is too large for the page`);
      const opened = readFile(source.name, await source.text());
      if (opened.kind === 'chart' && file?.kind === 'journals') setChart(opened.config);
      else {
        setFile(opened);
        setChart(null);
      }
      setProblem('');
    } catch (error) {
      setProblem(errorText(error));
    }
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    const [dropped] = event.dataTransfer.files;
    if (dropped) void open(dropped);
  };
  const over = (event: DragEvent): void => {
    event.preventDefault();
    setOver(true);
  };
  return (
    <div
      className={isOver ? 'inspector over' : 'inspector'}
      onDragOver={over}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      {file && <FileInspector key={file.name} file={file} chart={chart} onClose={() => setFile(null)} />}
      {!file && id !== null && <ServerInspector key={id} id={id} />}
      {!file && id === null && (
        <>
          <ActorList root={null} actors={[]} address="" onSelect={() => undefined} version={0} />
          <Start onOpen={setFile} />
        </>
      )}
      <FileBar problem={problem} onOpen={(source) => void open(source)} />
    </div>
  );
}

function Start({ onOpen }: { onOpen: (file: OpenedFile) => void }) {
  const [charts, setCharts] = useState<ChartRow[]>([]);
  useEffect(() => {
    get<ChartList>('/charts').then((reply) => setCharts(reply.items), notifyError);
  }, []);
  const show = async ({ id, hash }: ChartRow): Promise<void> => {
    const { config } = await loadChart(id, hash);
    if (isObject(config)) onOpen({ kind: 'chart', name: id, config });
  };
  return (
    <section className="inspector-start">
      <h1>Inspector</h1>
      <p>Choose an actor to see its chart, its events and its context, step back in time, and send it an event.</p>
      <p>
        Or drop a file here: a chart as JSON of XState, a saved journal, or an export of <code>antiphon db export</code>
        . It stays in the browser.
      </p>
      <h2>Charts of this server</h2>
      <div className="chart-names">
        {charts.map((chart) => (
          <button key={chart.id} type="button" onClick={() => void show(chart).catch(notifyError)}>
            {chart.id}
          </button>
        ))}
      </div>
    </section>
  );
}

function FileBar({ problem, onOpen }: { problem: string; onOpen: (file: File) => void }) {
  const choose = (event: ChangeEvent<HTMLInputElement>): void => {
    const [chosen] = event.target.files ?? [];
    if (chosen) onOpen(chosen);
    event.target.value = '';
  };
  return (
    <div className="file-bar">
      <label className="button quiet">
        Open a file…
        <input type="file" className="hidden-text" accept=".json,.jsonl,application/json" onChange={choose} />
      </label>
      {problem && (
        <p role="alert" className="problem">
          {problem}
        </p>
      )}
    </div>
  );
}
