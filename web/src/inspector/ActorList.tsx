import { useCallback, useEffect, useState } from 'react';
import { Lamp, lampOf, type LampState } from '../parts/Lamp';
import { Link } from '../parts/Link';
import { errorText, get } from '../wire/http';
import { useThreads } from '../wire/store';
import type { ActorRow, RootList, RootRow } from '../wire/types';
import { valueLabel } from './chart/labels';

interface Props {
  root: string | null;
  actors: readonly ActorRow[];
  address: string;
  onSelect: (address: string) => void;
  /** Changes when the list should be read again. */
  version: number;
}

const PAGE = 1000;
const JOIN_MS = 100;
const BY_STATUS: Record<string, LampState> = { done: 'done', error: 'stop', quarantined: 'stop', stopped: 'held' };

/** Ids that were made together differ at their ends. */
const shortId = (id: string): string => (id.length > 20 ? `${id.slice(0, 6)}…${id.slice(-6)}` : id);

/** All trees of the store, the latest first; the tree that is open has its actors below it. */
export function ActorList({ root, actors, address, onSelect, version }: Props) {
  const [roots, setRoots] = useState<RootRow[] | null>(null);
  const [next, setNext] = useState<string | null>(null);
  const [filter, setFilter] = useState('');
  const [problem, setProblem] = useState('');
  const { rows } = useThreads();
  const load = useCallback(async (after: string): Promise<void> => {
    try {
      const page = await get<RootList>(`/actors?limit=${PAGE}&after=${encodeURIComponent(after)}`);
      setRoots((before) => (after ? [...(before ?? []), ...page.items] : page.items));
      setNext(page.next);
      setProblem('');
    } catch (error) {
      setProblem(errorText(error));
    }
  }, []);
  useEffect(() => {
    // Changes that come close together are one.
    const timer = setTimeout(() => void load(''), JOIN_MS);
    return () => clearTimeout(timer);
  }, [load, version, rows]);
  const wanted = filter.toLowerCase();
  const name = (row: RootRow): string => rows[row.id]?.title || row.id;
  const shown = (roots ?? [])
    .filter((row) => `${name(row)} ${row.id} ${row.machine} ${rows[row.id]?.kind ?? ''}`.toLowerCase().includes(wanted))
    .sort((a, b) => b.updated - a.updated);
  return (
    <nav className="actors" aria-label="Actors">
      <div className="actors-head">
        <h2>Actors</h2>
        <Link to="/">Threads</Link>
      </div>
      <input
        type="search"
        className="filter"
        aria-label="Filter actors"
        placeholder="Filter actors"
        value={filter}
        onChange={(event) => setFilter(event.target.value)}
      />
      {problem && (
        <p role="alert" className="problem">
          {problem}
        </p>
      )}
      <ul>
        {shown.map((row) => (
          <li key={row.id}>
            <Link
              to={`/inspector/${encodeURIComponent(row.id)}`}
              className="actor-root"
              aria-current={row.id === root ? 'page' : undefined}
            >
              <Lamp
                state={rows[row.id] ? lampOf(rows[row.id]?.status ?? '') : (BY_STATUS[row.status] ?? 'idle')}
                label={rows[row.id]?.status ?? row.status}
              />
              <b title={row.id}>{rows[row.id]?.title || shortId(row.id)}</b>
              <em>{rows[row.id]?.kind ?? row.machine}</em>
            </Link>
            {row.id === root && <Actors actors={actors} address={address} onSelect={onSelect} />}
          </li>
        ))}
      </ul>
      {roots !== null && shown.length === 0 && (
        <p className="hint">There are no actors{filter ? ' of that name' : ''}.</p>
      )}
      {next !== null && (
        <button type="button" className="quiet" onClick={() => void load(next)}>
          Load more
        </button>
      )}
    </nav>
  );
}

function Actors({ actors, address, onSelect }: Pick<Props, 'actors' | 'address' | 'onSelect'>) {
  return (
    <ul className="actor-children" aria-label="Actors of this tree">
      {actors.map((actor) => (
        <li key={actor.address}>
          <button
            type="button"
            data-depth={Math.min(4, actor.address ? actor.address.split('/').length : 0)}
            aria-pressed={actor.address === address}
            onClick={() => onSelect(actor.address)}
          >
            <b>{actor.address.split('/').at(-1) || actor.machine || 'root'}</b>
            <span>{valueLabel(actor.value) || actor.status}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
