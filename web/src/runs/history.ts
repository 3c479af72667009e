/** All activities of a run, without words: those of its journal, and those that came since. */
import { useEffect, useMemo, useState } from 'react';
import { compareCursors } from '../wire/cursors';
import { get, Problem, threadPath } from '../wire/http';
import type { ActivityList, ActivityRow } from '../wire/types';

const PAGE = 1000;

interface Past {
  activities: readonly ActivityRow[];
  cursor: string;
}

async function readPast(id: string, signal: AbortSignal): Promise<Past> {
  const activities: ActivityRow[] = [];
  let cursor = '';
  for (;;) {
    const after = cursor === '' ? '' : `&after=${encodeURIComponent(cursor)}`;
    const page = await get<ActivityList>(threadPath(id, `/events?words=false&limit=${PAGE}${after}`), { signal });
    activities.push(...page.items);
    cursor = page.cursor;
    if (!page.more) return { activities, cursor };
  }
}

/** Activities in order, each once; `since` has those that came after some cursor. */
export function joinActivities(past: Past, since: readonly ActivityRow[]): readonly ActivityRow[] {
  const isNew = (activity: ActivityRow) => past.cursor === '' || compareCursors(activity.cursor, past.cursor) > 0;
  return [...past.activities, ...since.filter(isNew)];
}

export interface History {
  activities: readonly ActivityRow[];
  isLoaded: boolean;
  problem: Problem | null;
}

/** The activities of a run; `since` are those that its thread has received, from `firstCursor` on. */
export function useHistory(id: string, isOpen: boolean, since: readonly ActivityRow[]): History {
  const [past, setPast] = useState<Past | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    // Read after the thread was opened: what comes between both is in `since`.
    if (!isOpen) return;
    const reading = new AbortController();
    readPast(id, reading.signal).then(setPast, (error: unknown) => {
      if (!reading.signal.aborted) setProblem(error instanceof Problem ? error : new Problem({ code: 'internal', detail: String(error) }));
    });
    return () => reading.abort();
  }, [id, isOpen]);
  const activities = useMemo(() => (past === null ? [] : joinActivities(past, since)), [past, since]);
  return { activities, isLoaded: past !== null, problem };
}
