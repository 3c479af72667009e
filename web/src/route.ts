/** The address of the page as a route, and the way to another one. */
import { useSyncExternalStore } from 'react';

export type Route =
  | { screen: 'home' }
  | { screen: 'new'; kind: string }
  | { screen: 'chat' | 'run' | 'debate'; id: string }
  | { screen: 'inspector'; id: string | null }
  | { screen: 'missing' };

const SCREENS = { chats: 'chat', runs: 'run', debates: 'debate' } as const;

export function parseRoute(path: string, query = ''): Route {
  const [first = '', second] = path.split('/').filter(Boolean).map(decodeURIComponent);
  if (first === '') return { screen: 'home' };
  if (first === 'new') return { screen: 'new', kind: new URLSearchParams(query).get('kind') ?? 'chat' };
  if (first === 'inspector') return { screen: 'inspector', id: second ?? null };
  if (first in SCREENS && second !== undefined) return { screen: SCREENS[first as keyof typeof SCREENS], id: second };
  return { screen: 'missing' };
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

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener('popstate', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('popstate', listener);
  };
}

/** The address that the page shows: path and query. */
export function useAddress(): string {
  return useSyncExternalStore(subscribe, () => location.pathname + location.search);
}
