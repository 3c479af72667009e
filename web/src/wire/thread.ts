/** One thread in memory: its snapshot, and what came after it. */
import { compareCursors, parseCursor } from './cursors';
import { onHub, tellHub } from './feed';
import { get, Problem, threadPath } from './http';
import { addUsage, addWords, fromSnapshot, type LiveReplies } from './replies';
import type { ActivityRow, OpenedThread } from './types';

export interface ThreadState {
  id: string;
  /** The thread as it was at its cursor; null until it is read. */
  page: OpenedThread | null;
  replies: LiveReplies;
  /** Reports of running tools, by the number of the call. */
  progress: Readonly<Record<number, ActivityRow>>;
  /** Activities since the thread was opened here, without words. */
  activities: readonly ActivityRow[];
  problem: Problem | null;
}

const WORDS = new Set(['text', 'thinking']);
/** Activities that change nothing in a snapshot that is not shown by them. */
const LIGHT = new Set(['usage', 'tool_progress']);
const RELOAD_MS = 40;
const MOST_ACTIVITIES = 2_000;

export class ThreadSource {
  private state: ThreadState;
  private readonly listeners = new Set<() => void>();
  /** The cursor of the last activity that was taken, or of the snapshot if that is later. */
  private last = '';
  private since: ActivityRow[] | null = null;
  private mustReload = false;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private release: (() => void) | null = null;
  private frame = 0;
  /** How long the last reading took: a long thread is not read again at once. */
  private lastMs = 0;

  constructor(readonly id: string) {
    this.state = { id, page: null, replies: {}, progress: {}, activities: [], problem: null };
  }

  readonly snapshot = (): ThreadState => this.state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    if (this.listeners.size === 1) this.begin();
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) this.end();
    };
  };

  /** Read the snapshot again, now or when the reading in progress is done. */
  readonly reload = (): void => {
    if (this.since !== null) this.mustReload = true;
    else void this.load();
  };

  /** Use a page that an action has answered with. */
  readonly apply = (page: OpenedThread): void => {
    if (page.content === undefined) return;
    const own = this.state.page;
    if (own !== null && compareCursors(page.cursor, own.cursor) < 0) return;
    this.reload();
  };

  private begin(): void {
    this.release = onHub((message) => {
      if (message.event === 'activity' && message.thread === this.id) this.take(message.activity);
      else if (message.event === 'moved' && message.thread === this.id) this.reload();
      else if (message.event === 'list' && message.thread === this.id && message.change === 'removed') this.reload();
      else if (message.event === 'forgotten') this.follow();
      else if (message.event === 'link' && message.up && this.state.problem !== null) this.reload();
    });
    this.follow();
    this.reload();
  }

  private end(): void {
    this.release?.();
    this.release = null;
    tellHub({ send: 'unfollow', thread: this.id });
  }

  private follow(): void {
    if (this.last !== '') tellHub({ send: 'follow', thread: this.id, cursor: this.last });
  }

  private async load(): Promise<void> {
    const isFirst = this.state.page === null;
    this.since = [];
    const started = performance.now();
    try {
      const page = await get<OpenedThread>(threadPath(this.id));
      this.use(page, isFirst);
    } catch (error) {
      this.set({
        problem: error instanceof Problem ? error : new Problem({ code: 'internal', detail: String(error) }),
      });
    }
    this.since = null;
    this.lastMs = performance.now() - started;
    if (this.mustReload) {
      this.mustReload = false;
      this.schedule();
    }
  }

  private use(page: OpenedThread, isFirst: boolean): void {
    let replies = fromSnapshot(page.replies, Date.now());
    for (const activity of this.since ?? []) {
      if (compareCursors(activity.cursor, page.cursor) <= 0) continue;
      if (WORDS.has(activity.kind)) replies = addWords(replies, activity) ?? replies;
      else if (!LIGHT.has(activity.kind)) this.mustReload = true;
    }
    const progress = page.status === 'running' ? this.state.progress : {};
    const isOther = parseCursor(page.cursor).history !== parseCursor(this.last).history;
    if (isFirst || isOther || compareCursors(page.cursor, this.last) > 0) this.last = page.cursor;
    this.set({ page, replies, progress, problem: null });
    if (isFirst || isOther) this.follow();
  }

  private schedule(): void {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.reload();
    }, Math.max(RELOAD_MS, this.lastMs));
  }

  private take(activity: ActivityRow): void {
    if (this.last !== '' && compareCursors(activity.cursor, this.last) <= 0) return;
    this.last = activity.cursor;
    this.since?.push(activity);
    if (WORDS.has(activity.kind)) {
      const replies = addWords(this.state.replies, activity);
      if (replies === null) this.reload();
      else this.set({ replies }, true);
      return;
    }
    if (activity.kind === 'usage') this.set({ replies: addUsage(this.state.replies, activity) }, true);
    else if (activity.kind === 'tool_progress') this.setProgress(activity);
    else {
      const activities = [...this.state.activities, activity].slice(-MOST_ACTIVITIES);
      this.set({ activities }, true);
      this.schedule();
    }
  }

  private setProgress(activity: ActivityRow): void {
    this.set({ progress: { ...this.state.progress, [Number(activity.facts['call'])]: activity } }, true);
  }

  /** Words are shown once a frame; a hidden page has no frames, and nothing to show. */
  private set(change: Partial<ThreadState>, isWords = false): void {
    this.state = { ...this.state, ...change };
    if (!isWords || document.hidden) {
      cancelAnimationFrame(this.frame);
      this.frame = 0;
      this.notify();
    } else if (this.frame === 0) {
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.notify();
      });
    }
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }
}
