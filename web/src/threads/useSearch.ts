import { useEffect, useState } from 'react';
import type { ThreadRow } from '../wire/types';
import { searchThreads } from './actions';

const PAUSE_MS = 150;

/** The threads whose texts have the words, or null without words. */
export function useSearch(words: string): readonly ThreadRow[] | null {
  const [rows, setRows] = useState<readonly ThreadRow[] | null>(null);
  const query = words.trim();
  useEffect(() => {
    if (query === '') {
      setRows(null);
      return;
    }
    const abort = new AbortController();
    const timer = setTimeout(() => {
      searchThreads(query, abort.signal).then(
        (list) => setRows(list.items),
        () => undefined,
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [query]);
  return rows;
}
