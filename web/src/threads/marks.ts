/** Marks of this browser on threads: what was seen, and what is pinned. */
import { kept } from '../parts/storage';
import { Stored } from '../parts/stored';
import type { ThreadRow } from '../wire/types';

const MOST_SEEN = 2_000;

/** When each thread was last seen; threads that were not changed since the first visit count as seen. */
export const seen = new Stored<Record<string, number>>('antiphon.seen', { '': Date.now() });
export const pinned = new Stored<readonly string[]>('antiphon.pinned', []);

if (seen.get()[''] !== undefined && kept.getItem('antiphon.seen') === null) seen.set(seen.get());

export function markSeen(thread: Pick<ThreadRow, 'id' | 'updated'>): void {
  const marks = seen.get();
  if ((marks[thread.id] ?? 0) >= thread.updated) return;
  const entries = Object.entries({ ...marks, [thread.id]: thread.updated });
  const latest = entries.length > MOST_SEEN ? entries.sort((a, b) => b[1] - a[1]).slice(0, MOST_SEEN) : entries;
  seen.set(Object.fromEntries([...latest, ['', marks[''] ?? 0]]));
}

export function isUnread(thread: ThreadRow, marks: Record<string, number>): boolean {
  return thread.updated > Math.max(marks[thread.id] ?? 0, marks[''] ?? 0);
}

export function togglePin(id: string): void {
  const ids = pinned.get();
  pinned.set(ids.includes(id) ? ids.filter((other) => other !== id) : [...ids, id]);
}
