/** The state of a page, apart from that of machines: what is shown, folded, focused or half written.
 *
 * It belongs to one browser, is never sent, and no machine reads it; a machine's state comes from the server.
 */
import { isRecord } from './json.ts';

/** A value that listeners follow. */
export interface Store<T> {
  get(): T;
  set(changes: Partial<T>): void;
  subscribe(listener: () => void): () => void;
}

/** Where a store is kept between visits; `localStorage` is one. */
export interface Storage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

/** Create a store; with a storage it begins with what was kept there, as far as that has the types of the first value. */
export function createStore<T extends object>(first: T, kept?: { storage: Storage; key: string }): Store<T> {
  let value = kept === undefined ? first : { ...first, ...readKept(first, kept.storage, kept.key) };
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(changes) {
      value = { ...value, ...changes };
      if (kept !== undefined) keep(kept.storage, kept.key, value);
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function readKept<T extends object>(first: T, storage: Storage, key: string): Partial<T> {
  let read: unknown;
  try {
    read = JSON.parse(storage.getItem(key) ?? 'null');
  } catch {
    return {}; // no storage is allowed here, or it holds something else
  }
  if (!isRecord(read)) return {};
  const fits = Object.entries(read).filter(
    ([name, value]) => Object.hasOwn(first, name) && kindOf(value) === kindOf(first[name as keyof T]),
  );
  return Object.fromEntries(fits) as Partial<T>;
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value;
}

function keep(storage: Storage, key: string, value: object): void {
  try {
    storage.setItem(key, JSON.stringify(value));
  } catch {
    // A full or forbidden storage must not disturb the page.
  }
}

/** What a page keeps of conversations and debates. */
export interface InterfaceState {
  /** Prompts that are not sent yet, by thread. */
  drafts: Record<string, string>;
  /** Whether the thinking of models is unfolded; it is folded at first. */
  isThinkingShown: boolean;
  /** The thread that was open last; empty for none. */
  lastThread: string;
  /** The debater whose column is wide; empty for none. */
  focusedParticipant: string;
  /** Warnings that were closed here without an answer, by thread and threshold. */
  closedWarnings: string[];
}

/** The state of a page that nobody has used. */
export const FIRST_INTERFACE: InterfaceState = {
  drafts: {}, isThinkingShown: false, lastThread: '', focusedParticipant: '', closedWarnings: [],
};

/** Create the store of a page. */
export function createInterfaceStore(storage?: Storage): Store<InterfaceState> {
  return createStore(FIRST_INTERFACE, storage === undefined ? undefined : { storage, key: 'antiphon.interface' });
}
