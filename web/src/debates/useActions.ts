/** The actions of a person on a debate: one at a time, and the problem of the last one. */
import { debateRequest, Refused, type DebateEvent, type DebateTransport, type OpenedThread } from '@antiphon/machines';
import { useDebateMachine } from '@antiphon/machines/react';
import { useMemo, useState } from 'react';
import { post, Problem } from '../wire/http';
import { sourceOf } from '../wire/store';

export interface Actions {
  isBusy: boolean;
  problem: Problem | null;
  clear: () => void;
  /** Whether the server takes an event now. */
  can: (type: DebateEvent['type']) => boolean;
  /** Send an event; the answer is whether it was taken. */
  send: (event: DebateEvent) => Promise<boolean>;
}

/** A debate of the server: its pages from the store of this tab, and its events as requests. */
function transportOf(id: string): DebateTransport {
  const source = sourceOf(id);
  return {
    snapshot: () => source.snapshot().page as OpenedThread | null,
    subscribe: source.subscribe,
    send: async (event) => {
      const { path, body } = debateRequest(id, event);
      await post(path, body);
      // Not every event is followed by an activity, so the page is read again.
      source.reload();
    },
  };
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof Refused) return new Problem({ code: 'not_taken', detail: error.message });
  return new Problem({ code: 'internal', detail: String(error) });
}

export function useActions(id: string): Actions {
  const transport = useMemo(() => transportOf(id), [id]);
  const [snapshot, send] = useDebateMachine(transport);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  return {
    isBusy,
    problem,
    clear: () => setProblem(null),
    can: (type) => snapshot.can({ type }),
    send: async (event) => {
      setBusy(true);
      try {
        await send(event);
        setProblem(null);
        return true;
      } catch (error) {
        setProblem(problemOf(error));
        return false;
      } finally {
        setBusy(false);
      }
    },
  };
}
