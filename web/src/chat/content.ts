/** The content of a chat, and what is read from its tree of messages. */
import type { Override } from '../wire/types';

export interface TextPart {
  type: 'text';
  text: string;
}
export interface ImagePart {
  type: 'image';
  mediaType: string;
  data?: string;
  url?: string;
}
/** A document such as a PDF, with the name of its file. */
export interface DocumentPart {
  type: 'document';
  mediaType: string;
  data: string;
  name?: string;
}
export interface ThinkingPart {
  type: 'thinking';
  text: string;
  redacted?: boolean;
}
export interface CallPart {
  type: 'toolCall';
  id: string;
  name: string;
  arguments: string;
}
export interface ResultPart {
  type: 'toolResult';
  callId: string;
  parts: (TextPart | ImagePart)[];
  isError?: boolean;
}
export type Part = TextPart | ImagePart | DocumentPart | ThinkingPart | CallPart | ResultPart;

export interface Usage {
  input: number;
  output: number;
  cachedRead: number;
  cachedWrite: number;
  reasoning: number;
  estimated: boolean;
}

export interface ChatMessage {
  id: string;
  parent: string | null;
  role: 'user' | 'assistant' | 'system' | 'tool';
  parts: Part[];
  turn: number;
  tokens: number;
  at?: number;
  source?: string;
  usage?: Usage;
  costUsd?: number | null;
  interrupted?: boolean;
  branch?: string;
  mergedFrom?: string;
  copiedFrom?: string;
  derivedFrom?: string[];
}

export interface Branch {
  name: string;
  head: string | null;
  parent: string | null;
  forkPoint: string | null;
  mergedInto: string | null;
}
export interface Checkpoint {
  id: string;
  head: string | null;
  branch: string;
  turn: number;
  name?: string;
  at?: number;
}
export interface Conflict {
  id: string;
  item: string;
  ours: string | null;
  theirs: string | null;
  pick: string | null;
}
export interface Proposal {
  phase: 'wanted' | 'asked' | 'ready' | 'missing';
  text: string | null;
  error: { message?: string } | null;
}
export interface Merge {
  source: string;
  target: string;
  base: string | null;
  strategy: string;
  conflicts: Conflict[];
  proposal?: Proposal;
}
export interface ChatError {
  code?: string;
  message?: string;
  recoverable?: boolean;
  retryAfterMs?: number;
}

export interface ChatContent {
  config: {
    model: string | null;
    system: string | null;
    contextLimit: number;
    compressAt: number;
    onBusy: string;
    maxBranches: number;
    consent?: { mode?: string; overrides?: Override[] } | null;
  };
  messages: Record<string, ChatMessage>;
  branches: Record<string, Branch>;
  closed: Record<string, Branch>;
  branch: string;
  checkpoints: Record<string, Checkpoint>;
  merge: Merge | null;
  fork: unknown;
  reply: { phase: string; branch: string } | null;
  queue: { text?: string; parts?: Part[] }[];
  lastError: ChatError | null;
  /** What a person has allowed for the whole chat. */
  overrides: Override[];
  metrics: { costUsd: number; inputTokens: number; outputTokens: number; unpriced: number; slowestMs?: number };
}

type Messages = Record<string, ChatMessage>;

/** The messages from the beginning to a message. */
export function pathTo(messages: Messages, head: string | null): ChatMessage[] {
  const path: ChatMessage[] = [];
  for (let id = head; id !== null;) {
    const message: ChatMessage | undefined = messages[id];
    if (message === undefined) break;
    path.push(message);
    id = message.parent;
  }
  return path.toReversed();
}

/** A branch by its name, also one that is merged or closed. */
export function findBranch(content: Pick<ChatContent, 'branches' | 'closed'>, name: string): Branch | null {
  const holder = [content.branches, content.closed].find((branches) => Object.hasOwn(branches, name));
  return holder?.[name] ?? null;
}

export const headOf = (content: ChatContent): string | null => findBranch(content, content.branch)?.head ?? null;

/** The ids of the messages after each message; '' stands for the beginning. Summaries are on no path. */
export function childrenOf(messages: Messages): Map<string, string[]> {
  const children = new Map<string, string[]>();
  for (const message of Object.values(messages)) {
    if (message.role === 'system' && message.derivedFrom !== undefined) continue;
    const parent = message.parent ?? '';
    const known = children.get(parent);
    if (known === undefined) children.set(parent, [message.id]);
    else known.push(message.id);
  }
  return children;
}

/** The versions of a message: those of its role after the same message. */
export function siblingsOf(message: ChatMessage, messages: Messages, children: Map<string, string[]>): string[] {
  return (children.get(message.parent ?? '') ?? []).filter((id) => messages[id]?.role === message.role);
}

/** The latest message that follows a message, on any way; messages are stored in the order in which they came. */
export function latestAfter(id: string, messages: Messages): string {
  const after = new Set([id]);
  let latest = id;
  for (const message of Object.values(messages)) {
    if (message.parent === null || !after.has(message.parent)) continue;
    after.add(message.id);
    latest = message.id;
  }
  return latest;
}

/** How to show a version of a message: by a branch that has it, or by moving the current one. */
export function wayTo(id: string, content: ChatContent): { branch: string } | { message: string } {
  const holders = Object.values(content.branches).filter((branch) =>
    pathTo(content.messages, branch.head).some((message) => message.id === id),
  );
  const [latest] = holders.sort(
    (a, b) => (content.messages[b.head ?? '']?.at ?? 0) - (content.messages[a.head ?? '']?.at ?? 0),
  );
  return latest === undefined ? { message: latestAfter(id, content.messages) } : { branch: latest.name };
}

export const textOf = (parts: readonly Part[]): string =>
  parts
    .map((part) => (part.type === 'text' ? part.text : ''))
    .filter(Boolean)
    .join('\n\n');

export function resultText(result: ResultPart): string {
  return result.parts.map((part) => (part.type === 'text' ? part.text : `[image, ${part.mediaType}]`)).join('\n');
}

/** The results of calls on a path, by the ids of the calls, each with the message that has it. */
export function resultsOf(path: readonly ChatMessage[]): Map<string, { result: ResultPart; at: number | null }> {
  const results = new Map<string, { result: ResultPart; at: number | null }>();
  for (const message of path) {
    if (message.role !== 'tool') continue;
    for (const part of message.parts) {
      if (part.type === 'toolResult') results.set(part.callId, { result: part, at: message.at ?? null });
    }
  }
  return results;
}

/** A name for a new branch that no branch has. */
export function branchName(text: string, content: ChatContent): string {
  const words = text.replace(/\s+/g, ' ').trim();
  const base = words.length <= 28 ? words || 'branch' : `${words.slice(0, 28).replace(/\s\S*$/, '')}…`;
  const taken = (name: string) => name in content.branches || name in content.closed;
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? base : `${base} ${number}`;
    if (!taken(name)) return name;
  }
}

/** The beginning of a message. */
export function shortTextOf(content: ChatContent, id: string | null): string {
  const text = textOf(content.messages[id ?? '']?.parts ?? [])
    .replace(/\s+/g, ' ')
    .trim();
  return text.length <= 40 ? text || 'the beginning' : `${text.slice(0, 39)}…`;
}

/** What is allowed or denied beyond single calls: by the settings of the chat, and by a person. */
export const grantsOf = (content: ChatContent): Override[] => [
  ...(content.config.consent?.overrides ?? []),
  ...content.overrides,
];

/** The content of a chat that has not begun. */
export const EMPTY: ChatContent = {
  config: { model: null, system: null, contextLimit: 128_000, compressAt: 0.8, onBusy: 'reject', maxBranches: 3 },
  messages: {},
  branches: {},
  closed: {},
  branch: 'main',
  checkpoints: {},
  merge: null,
  fork: null,
  reply: null,
  queue: [],
  lastError: null,
  overrides: [],
  metrics: { costUsd: 0, inputTokens: 0, outputTokens: 0, unpriced: 0 },
};
