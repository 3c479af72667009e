import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { useCommands } from '../parts/commands';
import { Link } from '../parts/Link';
import { Menu } from '../parts/Menu';
import { useStored } from '../parts/stored';
import { switchTheme } from '../parts/theme';
import { useNow } from '../parts/useNow';
import { navigate } from '../route';
import { useThreads } from '../wire/store';
import { threads } from '../wire/threads';
import { importThread, MOST_FOUND } from './actions';
import { groupThreads, type Group } from './groups';
import { isUnread, pinned, seen } from './marks';
import { ThreadItem } from './ThreadItem';
import { useSearch } from './useSearch';

interface Props {
  openId: string | null;
  isShown: boolean;
  onClose: () => void;
  onKeys: () => void;
}

function useGroups(
  words: string,
  isArchive: boolean,
): { groups: readonly Group[]; isSearch: boolean; problem: string | null } {
  const { rows } = useThreads();
  const pins = useStored(pinned);
  const { rows: matches, problem } = useSearch(words);
  const groups = useMemo(() => groupThreads(Object.values(rows), pins, isArchive), [rows, pins, isArchive]);
  // What a search has found is shown as it is now.
  const current = matches?.map((match) => ({ ...(rows[match.id] ?? match), line: match.line ?? '' }));
  return current === undefined
    ? { groups, isSearch: false, problem }
    : { groups: [{ name: 'Found', rows: current }], isSearch: true, problem };
}

/** The list of threads in its groups, with search. */
export function ThreadList({ openId, isShown, onClose, onKeys }: Props) {
  const [words, setWords] = useState('');
  const [isArchive, setArchive] = useState(false);
  const { groups, isSearch, problem: searchProblem } = useGroups(useDeferredValue(words), isArchive);
  const { isLoaded, next, problem } = useThreads();
  const pins = useStored(pinned);
  const marks = useStored(seen);
  useEffect(() => {
    if (isLoaded) void threads.need(openId === null ? pins : [...pins, openId]);
  }, [isLoaded, pins, openId]);
  const now = useNow(true, 30_000);
  const search = useRef<HTMLInputElement>(null);
  const file = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isShown) list.current?.querySelector('a')?.focus();
  }, [isShown]);
  const count = groups.reduce((sum, group) => sum + group.rows.length, 0);
  useCommands([
    { id: 'new', group: 'Threads', label: 'New thread', keys: 'n', run: () => navigate('/new') },
    { id: 'search', group: 'Threads', label: 'Search threads', keys: '/', run: () => search.current?.focus() },
    { id: 'import', group: 'Threads', label: 'Import a chat', run: () => file.current?.click() },
    {
      id: 'archive-list',
      group: 'Threads',
      label: isArchive ? 'Show current threads' : 'Show archived threads',
      run: () => setArchive(!isArchive),
    },
  ]);
  return (
    <nav
      ref={list}
      className={isShown ? 'threads shown' : 'threads'}
      aria-label="Threads"
      onKeyDown={(event) => {
        if (event.key === 'Escape' && isShown && !event.defaultPrevented) onClose();
      }}
    >
      <div className="threads-head">
        <button type="button" className="only-narrow threads-close" onClick={onClose}>
          Close
        </button>
        <Link to="/new" className="button primary" onClick={onClose}>
          New thread <kbd>N</kbd>
        </Link>
        <input
          ref={search}
          className="field"
          type="search"
          aria-label="Search threads"
          placeholder="Search"
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
      </div>
      <div className="threads-list">
        {groups.map((group) => (
          <section key={group.name}>
            <h2>{group.name}</h2>
            <ul onClick={(event) => (event.target as Element).closest('a') !== null && onClose()}>
              {group.rows.map((row) => (
                <ThreadItem
                  key={row.id}
                  row={row}
                  isOpen={row.id === openId}
                  isPinned={pins.includes(row.id)}
                  isUnread={isUnread(row, marks)}
                  now={now}
                />
              ))}
            </ul>
          </section>
        ))}
        {count === 0 && isLoaded ? (
          <p className="empty">
            {isSearch ? (searchProblem ?? 'Nothing was found.') : isArchive ? 'The archive is empty.' : 'No threads yet.'}
          </p>
        ) : null}
        {problem !== null && !isLoaded ? (
          <p className="empty" role="alert">
            {problem.message}
          </p>
        ) : null}
        {isSearch && count >= MOST_FOUND ? (
          <p className="empty">These are the first {MOST_FOUND}. More words find fewer.</p>
        ) : null}
        {next !== null && !isSearch ? (
          <button type="button" className="quiet" onClick={() => void threads.loadMore()}>
            Show earlier threads
          </button>
        ) : null}
      </div>
      <div className="threads-foot">
        <Link to="/inspector" className="button quiet" onClick={onClose}>
          Inspector
        </Link>
        <span className="spring" />
        <Menu
          label="More"
          items={[
            {
              label: isArchive ? 'Show current threads' : 'Show archived threads',
              run: () => setArchive(!isArchive),
            },
            { label: 'Import a chat…', run: () => file.current?.click() },
            { label: 'Switch theme', run: switchTheme },
            { label: 'Keys', run: onKeys },
          ]}
        >
          More
        </Menu>
        <input
          ref={file}
          type="file"
          accept=".json,application/json"
          hidden
          aria-label="File of an exported chat"
          onChange={(event) => {
            const [chosen] = event.target.files ?? [];
            event.target.value = '';
            if (chosen !== undefined) void importThread(chosen);
          }}
        />
      </div>
    </nav>
  );
}
