/** A chat as its screen shows it, made from the content once for each snapshot. */
import { useCallback, useMemo } from 'react';
import type { OpenThread } from '../wire/store';
import type { OpenedThread } from '../wire/types';
import {
  childrenOf,
  EMPTY,
  headOf,
  pathTo,
  resultsOf,
  siblingsOf,
  type CallPart,
  type ChatContent,
  type ChatMessage,
  type Checkpoint,
} from './content';
import type { CallState } from './Parts';
import { trackAt, trackOf, type TrackRow } from './track';

export interface Row {
  message: ChatMessage;
  ms: number | null;
  /** The ids of all versions of the message, in one text, so that rows can be compared. */
  versions: string;
  track: TrackRow;
  checkpoint: Checkpoint | null;
}

export interface ChatView {
  page: OpenedThread;
  content: ChatContent;
  rows: readonly Row[];
  head: string | null;
}

/** Tool results are shown with their calls. */
const isShown = (message: ChatMessage): boolean => message.role !== 'tool';

export function viewOf(page: OpenedThread): ChatView {
  const content = { ...EMPTY, ...(page.content as Partial<ChatContent> | undefined) };
  const path = pathTo(content.messages, headOf(content));
  const children = childrenOf(content.messages);
  const track = trackOf(content, path);
  const checkpoints = new Map(Object.values(content.checkpoints).map((checkpoint) => [checkpoint.head, checkpoint]));
  const rows = path.flatMap((message, index): Row[] => {
    if (!isShown(message)) return [];
    const before = path[index - 1]?.at;
    const ms =
      message.role === 'assistant' && message.at !== undefined && before !== undefined ? message.at - before : null;
    const versions = siblingsOf(message, content.messages, children).join(' ');
    return [{ message, ms, versions, track: trackAt(track, index), checkpoint: checkpoints.get(message.id) ?? null }];
  });
  return { page, content, rows, head: headOf(content) };
}

export function useView(thread: OpenThread): ChatView | null {
  const { page } = thread;
  return useMemo(() => (page === null || page.transcript || page.kind !== 'chat' ? null : viewOf(page)), [page]);
}

/** The state of calls: by their results, by requests that wait for a person, and by reports of the tools. */
export function useCallState(thread: OpenThread, view: ChatView | null): (call: CallPart) => CallState {
  const results = useMemo(
    () => (view === null ? new Map() : resultsOf(pathTo(view.content.messages, view.head))),
    [view],
  );
  const { page, progress } = thread;
  return useCallback(
    (call) => {
      const known = results.get(call.id) as ReturnType<typeof resultsOf> extends Map<string, infer V>
        ? V | undefined
        : never;
      if (known !== undefined) {
        const asked = view?.rows.find((row) =>
          row.message.parts.some((part) => part.type === 'toolCall' && part.id === call.id),
        );
        const ms = known.at === null || asked?.message.at === undefined ? null : known.at - asked.message.at;
        return { status: known.result.isError ? 'failed' : 'done', result: known.result, ms, progress: null };
      }
      if (page?.status === 'waiting') return { status: 'waiting', result: null, ms: null, progress: null };
      if (page?.status !== 'running') return { status: 'cancelled', result: null, ms: null, progress: null };
      const reports = Object.values(progress);
      const facts = reports.at(-1)?.facts;
      const report =
        facts === undefined
          ? null
          : {
              text: String(facts['text'] ?? ''),
              ...(typeof facts['fraction'] === 'number' ? { fraction: facts['fraction'] } : {}),
            };
      return { status: 'running', result: null, ms: null, progress: report };
    },
    [results, page?.status, progress, view],
  );
}
