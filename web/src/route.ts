/** The address of the page as a route, and the way to another one. */
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';

export type Route =
  | { screen: 'home' }
  | { screen: 'new'; kind: string }
  | { screen: 'chat' | 'run' | 'debate'; id: string }
  | { screen: 'inspector'; id: string | null }
  | { screen: 'missing' };

const SCREENS = { chats: 'chat', runs: 'run', debates: 'debate' } as const;

export function parseRoute(path: string, query = ''): Route {
  const parts = path.split('/').filter(Boolean).map(decode);
  if (parts.includes(null)) return { screen: 'missing' };
  const [first = '', second] = parts as string[];
  if (first === '') return { screen: 'home' };
  if (first === 'new') return { screen: 'new', kind: new URLSearchParams(query).get('kind') ?? 'chat' };
  if (first === 'inspector') return { screen: 'inspector', id: second ?? null };
  if (Object.hasOwn(SCREENS, first) && second !== undefined) return { screen: SCREENS[first as keyof typeof SCREENS], id: second };
  return { screen: 'missing' };
}

/** A part of a path, or null if it is cut in the middle of a character. */
function decode(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

/** The path of a thread's screen. */
export function pathOf(thread: { kind: string; id: string }): string {
  return `/${thread.kind}s/${encodeURIComponent(thread.id)}`;
}

const listeners = new Set<() => void>();

export function navigate(path: string, replace = false): void {
  if (path === location.pathname + location.search) return;
  if (replace) history.replaceState(null, '', path);
  else history.pushState(null, '', path);
  for (const listener of listeners) listener();
}

/** Change one name of the query, in place: going back leads to the page before. */
export function setQuery(name: string, value: string | null): void {
  const query = new URLSearchParams(location.search);
  if (value === null) query.delete(name);
  else query.set(name, value);
  navigate(`${location.pathname}${query.size > 0 ? `?${query}` : ''}`, true);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener('popstate', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('popstate', listener);
  };
}

/** One name of the query of the address. */
export function useQuery(name: string): string | null {
  return useSyncExternalStore(subscribe, () => new URLSearchParams(location.search).get(name));
}

const SETTLE_MS = 200;

/** A value that the query of the address keeps. It may change fast: the address follows when it has settled. */
export function useKeptInQuery(name: string): [string | null, (value: string | null) => void] {
  const named = useQuery(name);
  const [value, setValue] = useState(named);
  const written = useRef(named);
  useEffect(() => {
    // A link has led here.
    if (named !== written.current) setValue(named);
    written.current = named;
  }, [named]);
  useEffect(() => {
    const timer = setTimeout(() => {
      written.current = value;
      setQuery(name, value);
    }, SETTLE_MS);
    return () => clearTimeout(timer);
  }, [name, value]);
  return [value, setValue];
}

/** The address that the page shows: path and query. */
export function useAddress(): string {
  return useSyncExternalStore(subscribe, () => location.pathname + location.search);
}
