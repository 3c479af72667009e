/** The line that screen readers hear: what begins and what ends, and not each word. */
import { useSyncExternalStore } from 'react';

let line = '';
const listeners = new Set<() => void>();

export function announce(text: string): void {
  // The same text twice is heard twice.
  line = line === text ? `${text}\u00a0` : text;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Status() {
  const text = useSyncExternalStore(subscribe, () => line);
  return (
    <div className="hidden-text" role="status" aria-live="polite">
      {text}
    </div>
  );
}
