/** The content of a thread that runs somewhere else. */
import type { ActorLogic, EventObject, NonReducibleUnknown, Snapshot } from 'xstate';

/** An actor that does nothing, and keeps the snapshot that it is restored with: its events are taken by the server. */
export const remoteContent: ActorLogic<Snapshot<unknown>, EventObject, NonReducibleUnknown> = {
  transition: (snapshot) => snapshot,
  getInitialSnapshot: () => ({ status: 'active', output: undefined, error: undefined }),
  getPersistedSnapshot: (snapshot) => snapshot,
  restoreSnapshot: (snapshot) => snapshot as Snapshot<unknown>,
};
