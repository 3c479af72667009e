/** Short notices at the bottom of the page, some with a button that takes the action back. */
import { useSyncExternalStore } from 'react';
import { announce } from './Status';

interface Toast {
  id: number;
  text: string;
  isError: boolean;
  action?: { label: string; run: () => void };
}

const SHOWN_MS = 6_000;
let toasts: readonly Toast[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

export function dismiss(id: number): void {
  set(toasts.filter((toast) => toast.id !== id));
}

export function notify(
  text: string,
  options: { action?: Toast['action']; isError?: boolean; ms?: number } = {},
): number {
  const id = nextId;
  nextId += 1;
  const { action, isError = false, ms = SHOWN_MS } = options;
  set([...toasts.slice(-2), { id, text, isError, ...(action === undefined ? {} : { action }) }]);
  announce(text);
  setTimeout(() => dismiss(id), ms);
  return id;
}

/** Show an error that an action has met. */
export function notifyError(error: unknown): void {
  const text = error instanceof Error ? error.message : String(error);
  // The events that would be possible are for programs.
  notify(text.replace(/; possible: .*$/s, ''), { isError: true, ms: 10_000 });
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div className="toasts">
      {shown.map(({ id, text, isError, action }) => (
        <div key={id} className={isError ? 'toast error' : 'toast'} role={isError ? 'alert' : undefined}>
          <span>{text}</span>
          {action === undefined ? null : (
            <button type="button" onClick={() => (action.run(), dismiss(id))}>
              {action.label}
            </button>
          )}
          <button type="button" className="quiet" aria-label="Dismiss" onClick={() => dismiss(id)}>
            ✕
          </button>
        </div>
      ))}
    </div>
  );
}
