/** The list of threads in memory, which follows the changes that the server reports. */
import { onHub } from './feed';
import { get, Problem, threadPath } from './http';
import type { ThreadList, ThreadRow } from './types';

export interface ThreadsState {
  /** By id; archived threads too, as far as they were read. */
  rows: Readonly<Record<string, ThreadRow>>;
  isLoaded: boolean;
  /** The cursor of the next page, or null at the end. */
  next: string | null;
  problem: Problem | null;
}

const PAGE = 100;
const MOST_CHANGED = 200;
const JOIN_MS = 80;

class ThreadsSource {
  private state: ThreadsState = { rows: {}, isLoaded: false, next: null, problem: null };
  private readonly listeners = new Set<() => void>();
  private readonly hidden = new Set<string>();
  private readonly asked = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | null = null;
  private isConnected = false;

  readonly snapshot = (): ThreadsState => this.state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    this.connect();
    return () => this.listeners.delete(listener);
  };

  readonly loadMore = async (): Promise<void> => {
    const { next } = this.state;
    if (next !== null) await this.read(`/threads?limit=${PAGE}&all=true&after=${encodeURIComponent(next)}`, 'more');
  };

  /** Take a thread out of the list, or put it back: it is about to be deleted. */
  readonly hide = (id: string, isHidden: boolean): void => {
    if (isHidden) this.hidden.add(id);
    else this.hidden.delete(id);
    this.refresh();
    if (isHidden) this.drop(id);
  };

  readonly put = (row: ThreadRow): void => {
    if (!this.hidden.has(row.id)) this.set({ rows: { ...this.state.rows, [row.id]: row } });
  };

  readonly refresh = (): void => {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      void this.readChanged();
    }, JOIN_MS);
  };

  private connect(): void {
    if (this.isConnected) return;
    this.isConnected = true;
    onHub((message) => {
      if (message.event === 'behind') void this.readFirst();
      else if (message.event === 'list' && message.change === 'removed') this.drop(message.thread);
      else if (message.event === 'list') this.refresh();
    });
    void this.readFirst();
  }

  private drop(id: string): void {
    const { [id]: _, ...rows } = this.state.rows;
    this.set({ rows });
  }

  /** What needs a person, and what runs, is read however old it is. */
  private async readFirst(): Promise<void> {
    await this.read(`/threads?limit=${PAGE}&all=true`, 'first');
    if (this.state.next === null) return;
    for (const status of ['waiting', 'running']) await this.read(`/threads?limit=${MOST_CHANGED}&status=${status}`, 'changed');
  }

  /** Read threads that are not in the list, such as pinned ones. */
  readonly need = async (ids: readonly string[]): Promise<void> => {
    const missing = ids.filter((id) => !(id in this.state.rows) && !this.asked.has(id));
    for (const id of missing) {
      this.asked.add(id);
      // One that was deleted meanwhile is not shown.
      await get<ThreadRow>(threadPath(id, '?content=false')).then(this.put, () => undefined);
    }
  };

  private readChanged(): Promise<void> {
    const newest = Object.values(this.state.rows).reduce<ThreadRow | null>(
      (latest, row) => (latest === null || row.updated > latest.updated ? row : latest),
      null,
    );
    if (newest === null) return this.readFirst();
    return this.read(
      `/threads?limit=${MOST_CHANGED}&all=true&since=${encodeURIComponent(newest.listCursor)}`,
      'changed',
    );
  }

  private async read(path: string, part: 'first' | 'more' | 'changed'): Promise<void> {
    try {
      const list = await get<ThreadList>(path);
      const rows = Object.fromEntries(list.items.filter((row) => !this.hidden.has(row.id)).map((row) => [row.id, row]));
      // The first page replaces the list if it is all of it: threads that were deleted meanwhile are not in it.
      const kept = part === 'first' && list.next === null ? {} : this.state.rows;
      const isNext = part === 'more' || (part === 'first' && !this.state.isLoaded);
      this.set({
        rows: { ...kept, ...rows },
        isLoaded: true,
        problem: null,
        ...(isNext ? { next: list.next } : {}),
      });
    } catch (error) {
      this.set({
        problem: error instanceof Problem ? error : new Problem({ code: 'internal', detail: String(error) }),
      });
    }
  }

  private set(change: Partial<ThreadsState>): void {
    this.state = { ...this.state, ...change };
    for (const listener of this.listeners) listener();
  }
}

export const threads = new ThreadsSource();
