export type LampState = 'idle' | 'live' | 'wait' | 'done' | 'held' | 'stop';

const WORDS: Record<LampState, string> = {
  idle: 'not started',
  live: 'running',
  wait: 'needs you',
  done: 'done',
  held: 'paused',
  stop: 'failed',
};

const BY_STATUS: Record<string, LampState> = {
  pending: 'idle',
  running: 'live',
  waiting: 'wait',
  completed: 'done',
  failed: 'stop',
  stopped: 'held',
  interrupted: 'held',
  paused: 'held',
};

/** The lamp for the status of a thread, or of anything that has the same words. */
export const lampOf = (status: string): LampState => BY_STATUS[status] ?? 'idle';

/** The mark of a state, by shape and colour; without `isSilent` screen readers hear it. */
export function Lamp({ state, label, isSilent = false }: { state: LampState; label?: string; isSilent?: boolean }) {
  return (
    <span className="lamp-box">
      <i className={`lamp ${state}`} aria-hidden="true" />
      {isSilent ? null : <span className="hidden-text">{label ?? WORDS[state]}</span>}
    </span>
  );
}
