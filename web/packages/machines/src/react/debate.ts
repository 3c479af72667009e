import { useCallback, useMemo, useSyncExternalStore } from 'react';
import { type DebateEvent, type DebateFigures, DebateSnapshot, type DebateTransport, debateFigures } from '../debate/debate.ts';

/** Return the latest snapshot of a debate and a way to send events, as `useMachine` does for a machine of this page.
 *
 * The promise of `send` is rejected if the event cannot be taken now, or the server refuses it.
 */
export function useDebateMachine(transport: DebateTransport): [DebateSnapshot, (event: DebateEvent) => Promise<void>] {
  const subscribe = useCallback((changed: () => void) => transport.subscribe(changed), [transport]);
  const latest = useCallback(() => transport.snapshot(), [transport]);
  const page = useSyncExternalStore(subscribe, latest, latest);
  const snapshot = useMemo(() => new DebateSnapshot(page), [page]);
  const send = useCallback(
    async (event: DebateEvent): Promise<void> => {
      await transport.send(new DebateSnapshot(transport.snapshot()).check(event));
    },
    [transport],
  );
  return [snapshot, send];
}

/** Return the figures of a debate that a page shows. */
export function useDebateState(transport: DebateTransport): DebateFigures {
  const [snapshot] = useDebateMachine(transport);
  return useMemo(() => debateFigures(snapshot), [snapshot]);
}
