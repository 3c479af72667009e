import { useEffect, useState } from 'react';
import { errorText } from '../wire/http';
import type { ThreadRow } from '../wire/types';
import { searchThreads } from './actions';

const PAUSE_MS = 150;

interface Search {
  /** The threads whose texts have the words, or null without words. */
  rows: readonly ThreadRow[] | null;
  /** Why the server did not search. */
  problem: string | null;
}

const NO_SEARCH: Search = { rows: null, problem: null };

export function useSearch(words: string): Search {
  const [search, setSearch] = useState(NO_SEARCH);
  const query = words.trim();
  useEffect(() => {
    if (query === '') {
      setSearch(NO_SEARCH);
      return;
    }
    const abort = new AbortController();
    const timer = setTimeout(() => {
      searchThreads(query, abort.signal).then(
        (list) => setSearch({ rows: list.items, problem: null }),
        (error: unknown) => {
          if (!abort.signal.aborted) setSearch({ rows: [], problem: errorText(error) });
        },
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [query]);
  return search;
}
