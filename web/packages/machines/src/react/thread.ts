import { useMemo, useRef, useSyncExternalStore } from 'react';
import { ThreadBridge, type ThreadTransport, type ThreadView, threadView } from '../thread/bridge.ts';
import type { ThreadEvent, ThreadInput } from '../thread/types.ts';

/** Status and context of a thread, whether it takes an event, and a way to send one. */
export interface UseThreadMachineReturn extends ThreadView {
  can: (event: ThreadEvent) => boolean;
  send: (event: ThreadEvent) => Promise<void>;
}

/** Run the thread machine in this page: events are taken at once, and what the server sends replaces it.
 *
 * Another transport is another thread; the input is that of the first render.
 */
export function useThreadMachine(transport: ThreadTransport | null = null, input: ThreadInput = {}): UseThreadMachineReturn {
  const first = useRef(input);
  const bridge = useMemo(() => new ThreadBridge(transport, first.current), [transport]);
  const snapshot = useSyncExternalStore(bridge.subscribe, bridge.getSnapshot, bridge.getSnapshot);
  const view = useMemo(() => threadView(snapshot), [snapshot]);
  return { ...view, can: bridge.can, send: bridge.send };
}
