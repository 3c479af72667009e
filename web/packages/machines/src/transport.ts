/** What the hooks need of a server. */

/** A source of snapshots of the server that also takes events; a store of the page, or a test. */
export interface Transport<Snapshot, Event> {
  /** Return the latest snapshot, the same object until it changes; null before the first. */
  snapshot(): Snapshot | null;
  /** Call a function after each change; return a function that ends this. */
  subscribe(changed: () => void): () => void;
  /** Send an event; reject if the server refuses it. */
  send(event: Event): Promise<unknown>;
}

/** The page of a thread, `GET /threads/{id}`, as far as it is read here. */
export interface OpenedThread {
  id: string;
  kind: string;
  status: string;
  title?: string | null;
  owner?: string;
  archived?: boolean;
  waiting?: string | null;
  costUsd?: number;
  requests?: { id: string; address: string; reason: string }[];
  /** The events that actors take now, by their addresses; that of the thread is empty. */
  can: Record<string, string[]>;
  content?: Record<string, unknown>;
}

/** An event that cannot be taken now; `can` has the types of those that can. */
export class Refused extends Error {
  override readonly name = 'Refused';

  constructor(readonly event: { type: string }, readonly can: readonly string[]) {
    super(`${event.type} is not possible now; possible: ${can.join(', ') || 'nothing'}`);
  }
}
