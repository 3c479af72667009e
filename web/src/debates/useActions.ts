/** The actions of a person on a debate: one at a time, and the problem of the last one. */
import { useState } from 'react';
import { post, Problem, threadPath } from '../wire/http';

export interface Actions {
  isBusy: boolean;
  problem: Problem | null;
  clear: () => void;
  start: () => Promise<boolean>;
  pause: () => Promise<boolean>;
  resume: () => Promise<boolean>;
  retry: () => Promise<boolean>;
  stop: () => Promise<boolean>;
  judge: () => Promise<boolean>;
  interject: (text: string) => Promise<boolean>;
  acknowledge: () => Promise<boolean>;
  raiseLimit: (costLimit: number) => Promise<boolean>;
}

/** Not every action is followed by an activity, so the thread is read again after each. */
export function useActions(id: string, reload: () => void): Actions {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const send = async (path: string, body?: unknown): Promise<boolean> => {
    setBusy(true);
    try {
      await post(threadPath(id, path), body);
      setProblem(null);
      reload();
      return true;
    } catch (error) {
      setProblem(error instanceof Problem ? error : new Problem({ code: 'internal', detail: String(error) }));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return {
    isBusy,
    problem,
    clear: () => setProblem(null),
    start: () => send('/start'),
    pause: () => send('/pause'),
    resume: () => send('/resume'),
    retry: () => send('/retry'),
    stop: () => send('/stop'),
    judge: () => send('/judge'),
    interject: (text) => send('/interject', { text }),
    acknowledge: () => send('/perform', { action: 'ACKNOWLEDGE_WARNING' }),
    raiseLimit: (costLimit) => send('/limits', { costLimit }),
  };
}
