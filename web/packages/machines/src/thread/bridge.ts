/** A thread of the server on the chart in the browser: events are taken at once, and the server decides. */
import { type Snapshot, createActor } from 'xstate';
import { type OpenedThread, Refused, type Transport } from '../transport.ts';
import { type ThreadActor, type ThreadSnapshot, firstContext, threadMachine } from './machine.ts';
import type { Kind, RequestJson, ThreadContext, ThreadEvent, ThreadInput, ThreadStatus, WaitingReason } from './types.ts';

/** Events that may come from people. */
export const PUBLIC = [
  'START', 'RESTART', 'RESPOND', 'FOLLOW_UP', 'STOP', 'MERGED', 'ARCHIVE', 'UNARCHIVE', 'RENAME',
] as const satisfies readonly ThreadEvent['type'][];

/** A stored snapshot of the thread machine, as `GET /actors/{id}/snapshot` has it, or the page of a thread. */
export type ThreadSource = OpenedThread | Snapshot<unknown>;
export type ThreadTransport = Transport<ThreadSource, ThreadEvent>;

/** Return a snapshot of the machine from what the server has sent.
 *
 * A page has no ids of runs and no settings, so guards about them let every event pass; the server still decides.
 */
export function threadSnapshot(source: ThreadSource): Snapshot<unknown> {
  if (!('can' in source)) return source;
  const { kind, can, requests = [], costUsd = 0, title = null, owner = '', archived = false } = source;
  const isAlive = Object.hasOwn(can, kind);
  const context: ThreadContext = firstContext({
    threadId: source.id,
    kind: kind as Kind,
    content: isAlive ? (kind as Kind) : null,
    config: source.status === 'running' && can['']?.includes('FOLLOW_UP') ? { onBusy: 'queue' } : {},
    requests: requests as RequestJson[],
    waitingReason: (source.waiting ?? null) as WaitingReason | null,
    cost: costUsd,
    title,
    owner,
    archived,
  });
  const child = { snapshot: { status: 'active' }, src: kind, syncSnapshot: false };
  const children = isAlive ? { [kind]: child } : {};
  return { status: 'active', value: source.status, historyValue: {}, context, children } as unknown as Snapshot<unknown>;
}

/** One thread on the chart. Without a transport the chart alone decides. */
export class ThreadBridge {
  private actor: ThreadActor;
  private source: ThreadSource | null;
  private release: (() => void) | null = null;
  private readonly listeners = new Set<() => void>();

  constructor(private readonly transport: ThreadTransport | null = null, input: ThreadInput = {}) {
    this.source = transport?.snapshot() ?? null;
    this.actor = this.started(this.source, input);
  }

  /** Return the snapshot of the machine, the same object until it changes. */
  readonly getSnapshot = (): ThreadSnapshot => this.actor.getSnapshot();

  /** Call a function after each change. The server is followed while there is a listener. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    if (this.release === null && this.transport !== null) {
      this.release = this.transport.subscribe(this.follow);
      this.follow();
    }
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size > 0) return;
      this.release?.();
      this.release = null;
    };
  };

  /** Return whether the machine takes an event now. */
  readonly can = (event: ThreadEvent): boolean => this.getSnapshot().can(event);

  /** Take an event and send it to the server; if it is refused there, go back to what the server has sent. */
  readonly send = async (event: ThreadEvent): Promise<void> => {
    if (!this.can(event)) throw new Refused(event, PUBLIC.filter((type) => this.can({ type } as ThreadEvent)));
    this.actor.send(event);
    try {
      await this.transport?.send(event);
    } catch (error) {
      if (this.source !== null) this.restore(this.source);
      throw error;
    }
  };

  private readonly follow = (): void => {
    const source = this.transport?.snapshot() ?? null;
    if (source === null || source === this.source) return;
    this.source = source;
    this.restore(source);
  };

  private restore(source: ThreadSource): void {
    this.actor.stop();
    this.actor = this.started(source, {});
    this.tell();
  }

  private started(source: ThreadSource | null, input: ThreadInput): ThreadActor {
    const options = source === null ? { input } : { snapshot: threadSnapshot(source) };
    const actor = createActor(threadMachine, options as { input: ThreadInput }).start();
    actor.subscribe(() => this.tell());
    return actor;
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}

/** The state of a thread as a page shows it. */
export interface ThreadView {
  status: ThreadStatus;
  context: ThreadContext;
  isBusy: boolean;
  isStartable: boolean;
  hasEnded: boolean;
}

/** Return what a page shows of a snapshot. */
export function threadView(snapshot: ThreadSnapshot): ThreadView {
  return {
    status: snapshot.value as ThreadStatus,
    context: snapshot.context,
    isBusy: snapshot.hasTag('busy'),
    isStartable: snapshot.hasTag('startable'),
    hasEnded: snapshot.hasTag('ended'),
  };
}
