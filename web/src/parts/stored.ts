/** A value of this browser, kept in its storage and shared by its tabs. */
import { useSyncExternalStore } from 'react';
import { kept } from './storage';

export class Stored<T> {
  private text: string | null;
  private value: T;
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly name: string,
    private readonly first: T,
  ) {
    this.text = kept.getItem(name);
    this.value = this.parse(this.text);
    addEventListener('storage', (event) => {
      if (event.key === name) this.use(event.newValue);
    });
  }

  readonly get = (): T => this.value;

  readonly set = (value: T): void => {
    const text = JSON.stringify(value);
    kept.setItem(this.name, text);
    this.use(text);
  };

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private use(text: string | null): void {
    if (text === this.text) return;
    this.text = text;
    this.value = this.parse(text);
    for (const listener of this.listeners) listener();
  }

  private parse(text: string | null): T {
    if (text === null) return this.first;
    try {
      return JSON.parse(text) as T;
    } catch {
      return this.first;
    }
  }
}

export function useStored<T>(stored: Stored<T>): T {
  return useSyncExternalStore(stored.subscribe, stored.get);
}
