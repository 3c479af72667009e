/** This tab's side of the hub. Without SharedWorker the hub runs in the tab itself. */
import { Hub, type FromHub, type ToHub } from './hub';

type Listener = (message: FromHub) => void;

const ALIVE_MS = 30_000;
const listeners = new Set<Listener>();
let send: ((message: ToHub) => void) | null = null;

function hear(message: FromHub): void {
  for (const listener of listeners) listener(message);
}

function connectWorker(): (message: ToHub) => void {
  const worker = new SharedWorker(new URL('./hub.worker.ts', import.meta.url), { type: 'module', name: 'antiphon' });
  worker.port.addEventListener('message', (event: MessageEvent<FromHub>) => hear(event.data));
  worker.port.start();
  return (message) => worker.port.postMessage(message);
}

function connectHere(): (message: ToHub) => void {
  const hub = new Hub((address) => new EventSource(address));
  const port = { postMessage: (message: FromHub) => queueMicrotask(() => hear(message)) };
  hub.connect(port);
  return (message) => hub.receive(port, message);
}

/** Connect to the hub, once. */
export function connectFeed(): void {
  if (send !== null) return;
  const sender = typeof SharedWorker === 'undefined' ? connectHere() : connectWorker();
  send = sender;
  setInterval(() => sender({ send: 'alive' }), ALIVE_MS);
  addEventListener('pagehide', () => sender({ send: 'bye' }));
  // A page that comes back from the cache of the browser is connected again.
  addEventListener('pageshow', (event) => {
    if (event.persisted) sender({ send: 'alive' });
  });
  addEventListener('offline', () => sender({ send: 'check' }));
  addEventListener('online', () => sender({ send: 'wake' }));
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) sender({ send: 'wake' });
  });
}

export function tellHub(message: ToHub): void {
  send?.(message);
}

export function onHub(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
