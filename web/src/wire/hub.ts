/** One connection to the server for all tabs: what they follow is joined, and each gets what it follows. */
import { compareCursors } from './cursors';
import type { ActivityRow } from './types';

export type ToHub =
  | { send: 'follow'; thread: string; cursor: string }
  | { send: 'unfollow'; thread: string }
  | { send: 'alive' }
  | { send: 'wake' }
  | { send: 'check' }
  | { send: 'bye' };

export type FromHub =
  | { event: 'activity'; thread: string; activity: ActivityRow }
  | { event: 'list'; change: string; thread: string }
  | { event: 'behind' }
  | { event: 'moved'; thread: string }
  | { event: 'link'; up: boolean; retryAt: number | null; failures: number }
  | { event: 'forgotten' };

export interface HubPort {
  postMessage(message: FromHub): void;
}

/** The parts of EventSource that the hub uses. */
export interface Source {
  addEventListener(type: string, listener: (event: MessageEvent<string>) => void): void;
  close(): void;
}

interface Change {
  kind: string;
  thread?: string;
  cursor?: string;
  activity?: ActivityRow;
}

interface Tab {
  threads: Set<string>;
  heardAt: number;
}

const LIST_CHANGES = ['created', 'changed', 'ended', 'quarantined', 'removed'];
const FIRST_DELAY = 300;
const LONGEST_DELAY = 5_000;
const JOIN_MS = 10;
/** The server follows as many on one connection. */
const MOST_THREADS = 64;
/** The server says something every 15 seconds, which no script can hear; after as long a silence it is asked. */
const QUIET_MS = 15_000;
const WATCH_MS = 5_000;
const ANSWER_MS = 8_000;
/** A hidden tab may run its timers once a minute only. */
const SILENT_MS = 200_000;

/** Ask whether the server answers; raise an error if it does not. */
export async function askServer(): Promise<void> {
  await fetch('/healthz', { cache: 'no-store', signal: AbortSignal.timeout(ANSWER_MS) });
}

export class Hub {
  private readonly tabs = new Map<HubPort, Tab>();
  private readonly places = new Map<string, string>();
  private source: Source | null = null;
  private isUp = false;
  private failures = 0;
  private retryAt: number | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  /** When the server was last known to answer. */
  private answeredAt = 0;
  private isAsking = false;

  constructor(
    private readonly open: (address: string) => Source,
    private readonly ask: () => Promise<void> = askServer,
  ) {
    setInterval(() => {
      if (this.tabs.size > 0 && Date.now() - this.answeredAt >= QUIET_MS) void this.check();
    }, WATCH_MS);
  }

  connect(port: HubPort): void {
    this.tabs.set(port, { threads: new Set(), heardAt: Date.now() });
    if (this.source === null && this.timer === null) this.reopen();
    else this.tell(port);
  }

  receive(port: HubPort, message: ToHub): void {
    const tab = this.tabs.get(port);
    if (tab === undefined) {
      if (message.send === 'bye') return;
      this.connect(port);
      port.postMessage({ event: 'forgotten' });
      return;
    }
    tab.heardAt = Date.now();
    if (message.send === 'follow') this.follow(tab, message.thread, message.cursor);
    else if (message.send === 'unfollow') tab.threads.delete(message.thread);
    else if (message.send === 'bye') this.tabs.delete(port);
    else if (message.send === 'wake' && !this.isUp) this.reopen();
    else if (message.send === 'check') void this.check();
    this.dropSilentTabs();
  }

  private follow(tab: Tab, thread: string, cursor: string): void {
    const isFollowed = this.isFollowed(thread);
    tab.threads.add(thread);
    const place = this.places.get(thread);
    if (isFollowed && place !== undefined && compareCursors(cursor, place) >= 0) return;
    this.places.set(thread, cursor);
    this.schedule(JOIN_MS);
  }

  private isFollowed(thread: string): boolean {
    return [...this.tabs.values()].some((tab) => tab.threads.has(thread));
  }

  private dropSilentTabs(): void {
    const oldest = Date.now() - SILENT_MS;
    for (const [port, tab] of this.tabs) if (tab.heardAt < oldest) this.tabs.delete(port);
  }

  private schedule(delay: number): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(() => this.reopen(), delay);
  }

  private reopen(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.source?.close();
    for (const thread of this.places.keys()) if (!this.isFollowed(thread)) this.places.delete(thread);
    const places = [...this.places].slice(-MOST_THREADS).map(([thread, cursor]) => `${thread}@${cursor}`);
    const source = this.open(`/events?threads=${encodeURIComponent(places.join(','))}`);
    this.source = source;
    source.addEventListener('open', () => this.setLink(true));
    source.addEventListener('error', () => this.fail(source));
    source.addEventListener('message', (event) => this.take(JSON.parse(event.data) as Change));
    for (const name of LIST_CHANGES)
      source.addEventListener(name, (event) => this.takeList(JSON.parse(event.data) as Change));
    source.addEventListener('behind', () => this.toAll({ event: 'behind' }));
    source.addEventListener('moved', (event) => this.takeMoved(JSON.parse(event.data) as Change));
  }

  /** A server that hangs closes no connection: one that does not answer counts as lost. */
  private async check(): Promise<void> {
    const { source } = this;
    if (!this.isUp || this.isAsking || source === null) return;
    this.isAsking = true;
    try {
      await this.ask();
      this.answeredAt = Date.now();
    } catch {
      this.fail(source);
    } finally {
      this.isAsking = false;
    }
  }

  private fail(source: Source): void {
    if (source !== this.source) return;
    source.close();
    this.source = null;
    const delay = Math.min(FIRST_DELAY * 2 ** this.failures, LONGEST_DELAY);
    this.failures += 1;
    this.schedule(delay);
    this.retryAt = Date.now() + delay;
    this.setLink(false);
  }

  private setLink(isUp: boolean): void {
    this.isUp = isUp;
    if (isUp) {
      this.answeredAt = Date.now();
      this.failures = 0;
      this.retryAt = null;
    }
    for (const port of this.tabs.keys()) this.tell(port);
  }

  private tell(port: HubPort): void {
    port.postMessage({ event: 'link', up: this.isUp, retryAt: this.retryAt, failures: this.failures });
  }

  private take(change: Change): void {
    if (change.activity === undefined || change.thread === undefined) return;
    const { thread, activity } = change;
    this.answeredAt = Date.now();
    this.places.set(thread, activity.cursor);
    for (const [port, tab] of this.tabs)
      if (tab.threads.has(thread)) port.postMessage({ event: 'activity', thread, activity });
  }

  private takeList(change: Change): void {
    this.toAll({ event: 'list', change: change.kind, thread: change.thread ?? '' });
  }

  private takeMoved(change: Change): void {
    if (change.thread === undefined) return;
    if (change.cursor !== undefined) this.places.set(change.thread, change.cursor);
    const { thread } = change;
    for (const [port, tab] of this.tabs) if (tab.threads.has(thread)) port.postMessage({ event: 'moved', thread });
  }

  private toAll(message: FromHub): void {
    for (const port of this.tabs.keys()) port.postMessage(message);
  }
}
