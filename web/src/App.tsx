import { Suspense, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { NewThread } from './NewThread';
import { useCommands } from './parts/commands';
import { ErrorBoundary } from './parts/ErrorBoundary';
import { KeyMap } from './parts/KeyMap';
import { listenToKeys } from './parts/keys';
import { lazyScreen } from './parts/lazyScreen';
import { LinkLine } from './parts/LinkLine';
import { Palette } from './parts/Palette';
import { Status } from './parts/Status';
import { switchTheme } from './parts/theme';
import { Toasts } from './parts/Toasts';
import { navigate, parseRoute, pathOf, useAddress, type Route } from './route';
import { markSeen } from './threads/marks';
import { ThreadList } from './threads/ThreadList';
import { useSearch } from './threads/useSearch';
import { ThreadScreen } from './ThreadScreen';
import { useThreads } from './wire/store';

const Inspector = lazyScreen(() => import('./inspector/Inspector').then((module) => module.Inspector));

/** A file that is dropped beside its field does not replace the app. */
function ignoreDrops(): () => void {
  const ignore = (event: DragEvent) => event.preventDefault();
  addEventListener('dragover', ignore);
  addEventListener('drop', ignore);
  return () => {
    removeEventListener('dragover', ignore);
    removeEventListener('drop', ignore);
  };
}

function screenOf(route: Route): ReactNode {
  switch (route.screen) {
    case 'home':
    case 'new':
      return <NewThread kind={route.screen === 'new' ? route.kind : 'chat'} />;
    case 'chat':
    case 'run':
    case 'debate':
      return <ThreadScreen key={route.id} kind={route.screen} id={route.id} />;
    case 'inspector':
      return <Inspector key={route.id} id={route.id} />;
    default:
      return <p className="empty">There is nothing at this address.</p>;
  }
}

/** The title of the page names the thread, and counts those that need a person. */
function useTitle(id: string | null): void {
  const { rows } = useThreads();
  const waiting = Object.values(rows).filter((row) => row.status === 'waiting' && !row.archived).length;
  const title = rows[id ?? '']?.title;
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${title ? `${title} · ` : ''}Antiphon`;
  }, [waiting, title]);
}

/** The thread that is open counts as seen, as long as the page is. */
function useSeen(id: string | null): void {
  const row = useThreads().rows[id ?? ''];
  useEffect(() => {
    if (row === undefined) return;
    const mark = () => void (document.hidden || markSeen(row));
    mark();
    document.addEventListener('visibilitychange', mark);
    return () => document.removeEventListener('visibilitychange', mark);
  }, [row]);
}

/** The palette, with the threads of the list and those that a search for the words finds. */
function ThreadPalette({ onClose }: { onClose: () => void }) {
  const [words, setWords] = useState('');
  const { rows } = useThreads();
  const matches = useSearch(words).rows;
  const more = useMemo(
    () =>
      Object.values({ ...Object.fromEntries((matches ?? []).map((row) => [row.id, row])), ...rows })
        .sort((a, b) => b.updated - a.updated)
        .map((row) => ({
          id: `open-${row.id}`,
          group: row.kind,
          label: row.title || 'Untitled',
          run: () => navigate(pathOf(row)),
        })),
    [rows, matches],
  );
  return <Palette more={more} onWords={setWords} onClose={onClose} />;
}

function usePalette() {
  const [isPalette, setPalette] = useState(false);
  return {
    palette: isPalette ? <ThreadPalette onClose={() => setPalette(false)} /> : null,
    openPalette: () => setPalette(true),
  };
}

export function App() {
  const [path = '', query = ''] = useAddress().split('?');
  const route = useMemo(() => parseRoute(path, query), [path, query]);
  const openId = 'id' in route ? route.id : null;
  const [isList, setList] = useState(false);
  const page = useRef<HTMLElement>(null);
  const listButton = useRef<HTMLButtonElement>(null);
  const closeList = () => {
    if (!isList) return;
    flushSync(() => setList(false));
    listButton.current?.focus();
  };
  useEffect(() => {
    // On a wide page the list is beside the screen, and covers nothing.
    const wide = matchMedia('(min-width: 761px)');
    const show = () => wide.matches && setList(false);
    wide.addEventListener('change', show);
    return () => wide.removeEventListener('change', show);
  }, []);
  const [isKeys, setKeys] = useState(false);
  const { palette, openPalette } = usePalette();
  useSeen(openId);
  useTitle(openId);
  useEffect(listenToKeys, []);
  useEffect(ignoreDrops, []);
  useCommands([
    { id: 'palette', group: 'Page', label: 'Commands', keys: 'Mod+k', run: openPalette },
    { id: 'keys', group: 'Page', label: 'Keys', keys: '?', run: () => setKeys(true) },
    { id: 'theme', group: 'Page', label: 'Switch theme', keys: 't', run: switchTheme },
    {
      id: 'inspector',
      group: 'Page',
      label: 'Inspector',
      keys: 'i',
      run: () => navigate(openId === null ? '/inspector' : `/inspector/${encodeURIComponent(openId)}`),
    },
  ]);
  return (
    <div className="app" data-screen={route.screen}>
      <a className="skip" href="#page" onClick={(event) => (event.preventDefault(), page.current?.focus())}>
        Skip the list of threads
      </a>
      <LinkLine />
      <ThreadList openId={openId} isShown={isList} onClose={closeList} onKeys={() => setKeys(true)} />
      <main ref={page} id="page" tabIndex={-1} inert={isList}>
        <button
          type="button"
          ref={listButton}
          className="list-button only-narrow"
          aria-label="Threads"
          aria-expanded={isList}
          onClick={() => setList(true)}
        >
          ☰
        </button>
        <ErrorBoundary place={path}>
          <Suspense fallback={<p className="empty">Loading…</p>}>{screenOf(route)}</Suspense>
        </ErrorBoundary>
      </main>
      {palette}
      {isKeys ? <KeyMap onClose={() => setKeys(false)} /> : null}
      <Toasts />
      <Status />
    </div>
  );
}
