/** A chat as its screen shows it, made from the content once for each snapshot. */
import { useCallback, useLayoutEffect, useMemo, useRef } from 'react';
import { setQuery, useQuery } from '../route';
import type { OpenThread } from '../wire/store';
import type { OpenedThread } from '../wire/types';
import {
  childrenOf,
  EMPTY,
  findBranch,
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
import { replyMs, tokensOf, useMeasured } from './times';
import { trackAt, trackOf, type TrackRow } from './track';

export interface Row {
  message: ChatMessage;
  ms: number | null;
  /** About how many tokens the message has. */
  tokens: number;
  /** The ids of all versions of the message, in one text, so that rows can be compared. */
  versions: string;
  track: TrackRow;
  checkpoint: Checkpoint | null;
}

export interface ChatView {
  page: OpenedThread;
  /** Its `branch` is the one that is shown. */
  content: ChatContent;
  /** The branch on which the conversation goes on. */
  current: string;
  rows: readonly Row[];
  head: string | null;
}

/** Tool results are shown with their calls. */
const isShown = (message: ChatMessage): boolean => message.role !== 'tool';

/** The content of a chat; of one that has not begun, the server has the settings that were named. */
function contentOf(page: OpenedThread): ChatContent {
  const stored = page.content as Partial<ChatContent> | undefined;
  return { ...EMPTY, ...stored, config: { ...EMPTY.config, ...stored?.config } };
}

/** The view of a branch; one that the chat does not have is replaced by the current one. */
export function viewOf(
  page: OpenedThread,
  branch: string | null = null,
  measured: ReadonlyMap<string, number> = new Map(),
): ChatView {
  const stored = contentOf(page);
  const content = branch !== null && findBranch(stored, branch) !== null ? { ...stored, branch } : stored;
  const path = pathTo(content.messages, headOf(content));
  const children = childrenOf(content.messages);
  const track = trackOf(content, path);
  const checkpoints = new Map(Object.values(content.checkpoints).map((checkpoint) => [checkpoint.head, checkpoint]));
  const rows = path.flatMap((message, index): Row[] => {
    if (!isShown(message)) return [];
    const ms = message.role === 'assistant' ? (replyMs(path, index, content, children) ?? measured.get(message.id) ?? null) : null;
    const tokens = tokensOf(path, index);
    const versions = siblingsOf(message, content.messages, children).join(' ');
    return [{ message, ms, tokens, versions, track: trackAt(track, index), checkpoint: checkpoints.get(message.id) ?? null }];
  });
  return { page, content, current: stored.branch, rows, head: headOf(content) };
}

/**
 * The view of the branch that the address names, or of the current one.
 *
 * A page that shows the current branch goes along when the conversation moves to another one, here or elsewhere.
 */
export function useView(page: OpenedThread): ChatView {
  const named = useQuery('branch');
  const measured = useMeasured();
  const view = useMemo(() => viewOf(page, named, measured), [page, named, measured]);
  const { current, content } = view;
  const before = useRef(current);
  const isLeft = content.branch === before.current && content.branch !== current;
  const isOnly = Object.keys(content.branches).length + Object.keys(content.closed).length < 2;
  const next = isLeft ? current : content.branch;
  useLayoutEffect(() => {
    before.current = current;
    setQuery('branch', isOnly ? null : next);
  }, [current, isOnly, next]);
  return view;
}

/** The state of calls: by their results, by requests that wait for a person, and by reports of the tools. */
export function useCallState(thread: OpenThread, view: ChatView): (call: CallPart) => CallState {
  const results = useMemo(
    () => resultsOf(pathTo(view.content.messages, view.head)),
    [view],
  );
  const { page, progress } = thread;
  return useCallback(
    (call) => {
      const known = results.get(call.id);
      if (known !== undefined) {
        const asked = view.rows.find((row) =>
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
