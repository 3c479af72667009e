import { useSyncExternalStore } from 'react';
import type { Store } from '../interface.ts';

/** Return the value of a store, or a part of it, and render again when it changes. */
export function useStore<T>(store: Store<T>): T;
export function useStore<T, P>(store: Store<T>, select: (value: T) => P): P;
export function useStore<T, P>(store: Store<T>, select?: (value: T) => P): T | P {
  const get = (): T | P => (select === undefined ? store.get() : select(store.get()));
  return useSyncExternalStore(store.subscribe, get, get);
}
