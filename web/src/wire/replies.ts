/** Replies in progress: what a snapshot has of them, and the words that came after it. */
import type { ActivityRow, OpenReplyRow } from './types';

export interface LiveReply {
  /** The agent or debater, or '' in a chat. */
  speaker: string;
  text: string;
  thinking: string;
  /** The state of the reply's machine: sending, streaming, error. */
  state: string;
  sentAt: number | null;
  attempt: number;
  error: Record<string, unknown> | null;
  /** When a reply that failed is requested again, in milliseconds since the epoch. */
  retryAt: number | null;
  tokens: number | null;
  costUsd: number | null;
}

export type LiveReplies = Readonly<Record<string, LiveReply>>;

export function fromSnapshot(rows: readonly OpenReplyRow[], now: number): LiveReplies {
  const replies: Record<string, LiveReply> = {};
  for (const row of rows) {
    const speaker = row.speaker ?? '';
    replies[speaker] = {
      speaker,
      text: row.text,
      thinking: row.thinking,
      state: row.state,
      sentAt: row.sentAt,
      attempt: row.attempt,
      error: row.error,
      retryAt: row.retryMs === null ? null : now + row.retryMs,
      tokens: null,
      costUsd: null,
    };
  }
  return replies;
}

function newReply(speaker: string, at: number): LiveReply {
  return {
    speaker,
    text: '',
    thinking: '',
    state: 'streaming',
    sentAt: at,
    attempt: 0,
    error: null,
    retryAt: null,
    tokens: null,
    costUsd: null,
  };
}

/** Offsets count characters as Python does, by code points. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit < 0xdc00) count -= 1;
  }
  return count;
}

/** The replies after words have come, or null if words are missing before them. */
export function addWords(replies: LiveReplies, activity: ActivityRow): LiveReplies | null {
  const speaker = activity.speaker ?? '';
  const kind = activity.kind as 'text' | 'thinking';
  const words = String(activity.facts['text'] ?? '');
  const known = replies[speaker];
  const isNew = known === undefined || (activity.offset === 0 && known[kind] !== '') || known.state === 'error';
  const reply = isNew ? newReply(speaker, activity.at) : known;
  const before = codePoints(reply[kind]);
  const offset = activity.offset ?? before;
  if (offset > before) return null;
  const rest = offset === before ? words : [...words].slice(before - offset).join('');
  return { ...replies, [speaker]: { ...reply, state: 'streaming', [kind]: reply[kind] + rest } };
}

/** The replies after a report of the tokens so far. */
export function addUsage(replies: LiveReplies, activity: ActivityRow): LiveReplies {
  const known = replies[activity.speaker ?? ''];
  const usage = activity.facts['usage'] as { input?: number; output?: number } | null | undefined;
  if (known === undefined || !usage) return replies;
  const costUsd = activity.facts['costUsd'];
  const tokens = (usage.input ?? 0) + (usage.output ?? 0);
  return { ...replies, [known.speaker]: { ...known, tokens, costUsd: typeof costUsd === 'number' ? costUsd : null } };
}
