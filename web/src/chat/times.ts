/** How long replies took, and how much an unfinished one said, as far as that is known. */
import { useLayoutEffect, useRef, useSyncExternalStore } from 'react';
import type { LiveReply } from '../wire/replies';
import { siblingsOf, type ChatContent, type ChatMessage } from './content';

/** Between the end of a reply and the step that stores it. */
const STORING_MS = 1_000;

/**
 * How long a reply took, or null if that is not known: messages say when they were stored, and not when they were
 * asked for.
 *
 * A first reply was asked for by the message before it, or began when the reply before that was done. Another version
 * was asked for later, and so was one after results of tools that a person had to allow. No reply took longer than the
 * slowest of the chat: one that seems to was repeated after a failure.
 */
export function replyMs(
  path: readonly ChatMessage[],
  index: number,
  content: Pick<ChatContent, 'messages' | 'metrics'>,
  children: Map<string, string[]>,
): number | null {
  const message = path[index];
  const askedAt = path[index - 1]?.at;
  if (message?.at === undefined || askedAt === undefined) return null;
  const { at } = message;
  const versions = siblingsOf(message, content.messages, children);
  if (versions.some((id) => (content.messages[id]?.at ?? Infinity) < at)) return null;
  const ms = at - Math.max(askedAt, path[index - 2]?.at ?? 0);
  const { slowestMs = 0 } = content.metrics;
  return message.interrupted !== true && slowestMs > 0 && ms > slowestMs + STORING_MS ? null : ms;
}

/** About how many tokens a message has: its own count is that of the way to it. */
export const tokensOf = (path: readonly ChatMessage[], index: number): number =>
  Math.max(0, (path[index]?.tokens ?? 0) - (path[index - 1]?.tokens ?? 0));

let measured: ReadonlyMap<string, number> = new Map();
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The times of replies that were seen in this page from their beginning to their end, by their ids. */
export const useMeasured = (): ReadonlyMap<string, number> => useSyncExternalStore(subscribe, () => measured);

/** Measure the replies that are written while their chat is shown. */
export function useMeasuring(live: LiveReply | null, last: ChatMessage | undefined): void {
  const running = useRef<{ sentAt: number; after: string | undefined } | null>(null);
  const endedAt = useRef(0);
  const sentAt = live?.sentAt ?? null;
  useLayoutEffect(() => {
    if (running.current !== null && last?.id !== running.current.after) {
      endedAt.current = Date.now();
      if (last?.role === 'assistant') {
        measured = new Map(measured).set(last.id, endedAt.current - running.current.sentAt);
        for (const listener of listeners) listener();
      }
      running.current = null;
    }
    // What is still shown of the reply before is not the beginning of the next one.
    if (sentAt !== null && sentAt > endedAt.current) running.current ??= { sentAt, after: last?.id };
  }, [sentAt, last]);
}
