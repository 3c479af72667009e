/** Hooks that give components the threads, one thread, and the state of the connection. */
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { onHub } from './feed';
import { get, Problem } from './http';
import { ThreadSource, type ThreadState } from './thread';
import { threads, type ThreadsState } from './threads';

export interface Link {
  up: boolean;
  retryAt: number | null;
  failures: number;
}

const MOST_SOURCES = 8;
const sources = new Map<string, ThreadSource>();

/** The source of a thread; the latest ones are kept, so that going back shows them at once. */
export function sourceOf(id: string): ThreadSource {
  const known = sources.get(id);
  if (known !== undefined) {
    sources.delete(id);
    sources.set(id, known);
    return known;
  }
  const source = new ThreadSource(id);
  sources.set(id, source);
  const [oldest] = sources.keys();
  if (sources.size > MOST_SOURCES && oldest !== undefined) sources.delete(oldest);
  return source;
}

export type OpenThread = ThreadState & { reload: () => void };

/** A thread with its live replies; it is followed as long as a component uses it. */
export function useThread(id: string): OpenThread {
  const source = useMemo(() => sourceOf(id), [id]);
  const state = useSyncExternalStore(source.subscribe, source.snapshot);
  return useMemo(() => ({ ...state, reload: source.reload }), [state, source]);
}

export function useThreads(): ThreadsState {
  return useSyncExternalStore(threads.subscribe, threads.snapshot);
}

let link: Link = { up: true, retryAt: null, failures: 0 };

function subscribeLink(listener: () => void): () => void {
  return onHub((message) => {
    if (message.event !== 'link') return;
    link = { up: message.up, retryAt: message.retryAt, failures: message.failures };
    listener();
  });
}

/** Whether the server is reached, and when it is tried again. */
export function useLink(): Link {
  return useSyncExternalStore(subscribeLink, () => link);
}

const answers = new Map<string, unknown>();

/** What the server answers to a path, read once for the page; if it could not be read, again when the server is back. */
export function useRead<T>(path: string): { value: T | null; problem: Problem | null } {
  const { up } = useLink();
  const [state, setState] = useState<{ value: T | null; problem: Problem | null }>(() => ({
    value: (answers.get(path) as T | undefined) ?? null,
    problem: null,
  }));
  const isRead = state.value !== null;
  useEffect(() => {
    if (isRead) return;
    const reading = new AbortController();
    get<T>(path, { signal: reading.signal }).then(
      (value) => {
        answers.set(path, value);
        setState({ value, problem: null });
      },
      (error: unknown) => {
        const problem = error instanceof Problem ? error : new Problem({ code: 'internal', detail: String(error) });
        if (!reading.signal.aborted) setState({ value: null, problem });
      },
    );
    return () => reading.abort();
  }, [path, up, isRead]);
  return state;
}
