/** The groups of the list: what needs a person first, then what runs, then the rest. */
import type { ThreadRow } from '../wire/types';

export interface Group {
  name: string;
  rows: readonly ThreadRow[];
}

const byTime = (a: ThreadRow, b: ThreadRow): number => b.updated - a.updated || (a.id < b.id ? 1 : -1);

export function groupThreads(rows: readonly ThreadRow[], pins: readonly string[], isArchive: boolean): Group[] {
  const shown = rows.filter((row) => row.archived === isArchive).sort(byTime);
  if (isArchive) return [{ name: 'Archived', rows: shown }];
  const groups: Group[] = [
    { name: 'Needs you', rows: shown.filter((row) => row.status === 'waiting') },
    { name: 'Running', rows: shown.filter((row) => row.status === 'running') },
  ];
  const rest = shown.filter((row) => row.status !== 'waiting' && row.status !== 'running');
  groups.push({ name: 'Pinned', rows: rest.filter((row) => pins.includes(row.id)) });
  groups.push({ name: 'Earlier', rows: rest.filter((row) => !pins.includes(row.id)) });
  return groups.filter((group) => group.rows.length > 0);
}
