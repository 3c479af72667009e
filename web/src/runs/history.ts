/** All activities of a run, without words, as its journal has them. */
import { useEffect, useState } from 'react';
import { compareCursors, parseCursor } from '../wire/cursors';
import { get, Problem, threadPath } from '../wire/http';
import type { ActivityList, ActivityRow } from '../wire/types';

const PAGE = 1000;

export interface History {
  activities: readonly ActivityRow[];
  isLoaded: boolean;
  problem: Problem | null;
}

export const NOTHING: History = { activities: [], isLoaded: false, problem: null };

type ReadPage = (after: string) => Promise<ActivityList>;

/** Reads the journal as far as it is wanted: one request at a time, and nothing twice. */
export class HistoryReader {
  private history: History = NOTHING;
  private cursor = '';
  private wanted = '';
  private isReading = false;
  private isStopped = false;

  constructor(
    private readonly readPage: ReadPage,
    private readonly onChange: (history: History) => void,
  ) {}

  /** Read up to a cursor, that of an opened thread. */
  want(cursor: string): void {
    this.wanted = cursor;
    if (!this.isReading) void this.read();
  }

  stop(): void {
    this.isStopped = true;
  }

  private isBehind(): boolean {
    if (this.cursor === '') return true;
    // The cursor of another past: the journal is read again from its beginning.
    if (parseCursor(this.cursor).history !== parseCursor(this.wanted).history) {
      this.cursor = '';
      this.history = { ...this.history, activities: [] };
      return true;
    }
    return compareCursors(this.wanted, this.cursor) > 0;
  }

  private async read(): Promise<void> {
    this.isReading = true;
    try {
      while (!this.isStopped && this.isBehind()) {
        const page = await this.readPage(this.cursor);
        this.cursor = page.cursor;
        this.history = { activities: [...this.history.activities, ...page.items], isLoaded: !page.more, problem: null };
        if (!this.isStopped) this.onChange(this.history);
      }
    } catch (error) {
      const problem = error instanceof Problem ? error : new Problem({ code: 'internal', detail: String(error) });
      this.history = { ...this.history, problem };
      if (!this.isStopped) this.onChange(this.history);
    }
    this.isReading = false;
  }
}

/** The activities of a run up to the cursor at which its thread was read last. */
export function useHistory(id: string, cursor: string): History {
  const [history, setHistory] = useState<History>(NOTHING);
  const [reader, setReader] = useState<HistoryReader | null>(null);
  useEffect(() => {
    const path = (after: string) =>
      threadPath(id, `/events?words=false&limit=${PAGE}${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`);
    const made = new HistoryReader((after) => get<ActivityList>(path(after)), setHistory);
    setReader(made);
    return () => made.stop();
  }, [id]);
  useEffect(() => {
    reader?.want(cursor);
  }, [reader, cursor]);
  return history;
}
