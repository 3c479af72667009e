import { useEffect, useMemo, useState } from 'react';
import type { ActorRow } from '../wire/types';
import { type Chart, type Json, type JsonObject, toChart } from './chart/model';
import { valueLabel } from './chart/labels';
import { addressesOf, type KnownState, stateAt } from './entries';
import type { Journal, OpenedFile } from './files';
import { loadChart } from './tree';
import { Workbench } from './Workbench';

interface Props {
  file: OpenedFile;
  /** A chart that was dropped on a journal: that of the actor that is shown. */
  chart: JsonObject | null;
  onClose: () => void;
}

const NOTHING: ReadonlySet<string> = new Set();

/** A chart or journals from a file; no actor of the server is involved. */
export function FileInspector({ file, chart, onClose }: Props) {
  const [index, setIndex] = useState(0);
  const [address, setAddress] = useState('');
  const [step, setStep] = useState<number | null>(null);
  const journal = file.kind === 'journals' ? (file.journals[index] ?? null) : null;
  const config = useConfig(file, journal, chart, address);
  const drawn = useMemo(() => (config ? { chart: toChart(config), hash: hashOf(config) } : null), [config]);
  const current = step ?? journal?.entries.at(-1)?.seq ?? 0;
  const state = journal ? stateOf(journal, address, current) : null;
  const choose = (number: number): void => {
    setIndex(number);
    setAddress('');
    setStep(null);
  };
  return (
    <>
      <nav className="actors" aria-label="File">
        <div className="actors-head">
          <h2>{file.name}</h2>
          <button type="button" className="quiet" onClick={onClose}>
            Close
          </button>
        </div>
        {file.kind === 'journals' && (
          <Journals
            journals={file.journals}
            index={index}
            onChoose={choose}
            address={address}
            onSelect={setAddress}
            current={current}
          />
        )}
        {file.kind === 'chart' && (
          <p className="hint">A chart without an actor: nothing is active. Drop a journal to see one.</p>
        )}
      </nav>
      <Workbench
        title={address || journal?.machine || drawn?.chart.id || file.name}
        machine={journal?.id ?? file.name}
        status={null}
        value={state?.value ?? null}
        chart={drawn}
        missing="The file has no chart of this actor. Drop the chart on this page."
        taken={NOTHING}
        context={undefined}
        before={undefined}
        entries={journal?.entries ?? []}
        loadEarlier={null}
        step={step}
        onStep={setStep}
        sending={null}
        actions={null}
        notice={journal ? <StateNotice state={state} current={current} /> : null}
      />
    </>
  );
}

/** The state of an actor at a step: a file knows that of its last step, and those that the actor's own entries have. */
function stateOf(journal: Journal, address: string, step: number): KnownState | null {
  const value = journal.states[address];
  if (value !== undefined && step === journal.entries.at(-1)?.seq) return { value, seq: step };
  return stateAt(journal.entries, address, step);
}

const stateLabel = (state: KnownState | null, step: number): string => {
  if (state === null) return 'not known';
  return state.seq === step ? valueLabel(state.value) : `${valueLabel(state.value)} at step ${state.seq}`;
};

/** A state that is older than the step is not shown as if it were that of the step. */
function StateNotice({ state, current }: { state: KnownState | null; current: number }) {
  if (state?.seq === current) return null;
  return (
    <p className="notice quiet-notice">
      {state === null
        ? 'The file does not say in which state this actor is at this step.'
        : `The state is that of step ${state.seq}, the last one of this actor that the file knows; steps of other actors may have changed it since.`}
    </p>
  );
}

interface JournalsProps {
  journals: Journal[];
  index: number;
  onChoose: (index: number) => void;
  address: string;
  onSelect: (address: string) => void;
  current: number;
}

function Journals({ journals, index, onChoose, address, onSelect, current }: JournalsProps) {
  const journal = journals[index];
  const rows = journal
    ? addressesOf(journal.entries).map((each): Pick<ActorRow, 'address'> => ({ address: each }))
    : [];
  return (
    <>
      {journals.length > 1 && (
        <label className="label">
          Tree
          <select className="field" value={index} onChange={(event) => onChoose(Number(event.target.value))}>
            {journals.map((each, number) => (
              <option key={each.id} value={number}>
                {each.id} ({each.machine})
              </option>
            ))}
          </select>
        </label>
      )}
      <ul className="actor-children" aria-label="Actors of this tree">
        {rows.map((row) => (
          <li key={row.address}>
            <button
              type="button"
              aria-pressed={row.address === address}
              data-depth={row.address ? row.address.split('/').length : 0}
              onClick={() => onSelect(row.address)}
            >
              <b>{row.address || journal?.machine}</b>
              <span>{journal ? stateLabel(stateOf(journal, row.address, current), current) : ''}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The chart of the actor that is shown: a dropped one, that of the file, or of the root's machine from the server. */
function useConfig(
  file: OpenedFile,
  journal: Journal | null,
  dropped: JsonObject | null,
  address: string,
): JsonObject | null {
  const [fetched, setFetched] = useState<{ journal: Journal; config: Json } | null>(null);
  useEffect(() => {
    if (journal && !journal.charts[''] && journal.hash)
      loadChart(journal.machine, journal.hash).then(
        (loaded) => setFetched({ journal, config: loaded.config }),
        () => undefined,
      );
  }, [journal]);
  if (file.kind === 'chart') return file.config;
  if (dropped) return dropped;
  const own = journal?.charts[address];
  if (own) return own;
  return address === '' && fetched && fetched.journal === journal ? (fetched.config as JsonObject) : null;
}

/** A hash of a chart that has none from the server. */
function hashOf(config: JsonObject): string {
  let hash = 0xcbf29ce484222325n;
  for (const sign of JSON.stringify(config))
    hash = BigInt.asUintN(64, (hash ^ BigInt(sign.codePointAt(0) ?? 0)) * 0x100000001b3n);
  return `file:${hash.toString(16)}`;
}

export type { Chart };
