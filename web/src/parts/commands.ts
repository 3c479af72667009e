/** Commands of the screens: the palette and the list of keys are made from them. */
import { useEffect, useRef, useSyncExternalStore } from 'react';

export interface Command {
  id: string;
  label: string;
  group: string;
  /** A key such as `n` or `Mod+k`; a single letter counts outside of text fields only. */
  keys?: string;
  run: () => void;
}

const known = new Map<symbol, readonly Command[]>();
let all: readonly Command[] = [];
const listeners = new Set<() => void>();

function publish(): void {
  all = [...known.values()].flat();
  for (const listener of listeners) listener();
}

/** Offer commands as long as the component is there; their functions may change with each render. */
export function useCommands(commands: readonly Command[]): void {
  const latest = useRef(commands);
  latest.current = commands;
  const names = commands.map(({ id, label, keys }) => `${id}\t${label}\t${keys ?? ''}`).join('\n');
  useEffect(() => {
    const key = Symbol('commands');
    const offered = latest.current.map((command, index) => ({
      ...command,
      run: () => latest.current[index]?.run(),
    }));
    known.set(key, offered);
    publish();
    return () => {
      known.delete(key);
      publish();
    };
  }, [names]);
}

export function allCommands(): readonly Command[] {
  return all;
}

export function useAllCommands(): readonly Command[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => all,
  );
}
