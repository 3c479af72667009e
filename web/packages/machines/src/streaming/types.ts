/** Context, settings and events of the streaming machine, as `streaming_types.py` has them. */
import type { Json, MessageJson, UsageJson } from '../json.ts';

export type StreamingState = 'idle' | 'sending' | 'streaming' | 'complete' | 'error';
export type ToolStatus = 'running' | 'complete' | 'error';

/** Progress of a tool that the model uses. */
export interface ToolActivity {
  name: string;
  status: ToolStatus;
  durationMs?: number;
  input?: Json;
  result?: Json;
  interrupted?: boolean;
}

/** Error of a reply. The first digit of the code says what to do: 1 try again, 2 sign in, 3 wait, 9 give up. */
export interface Failure {
  code: string;
  message: string;
  recoverable: boolean;
  retryAfterMs?: number;
}

/** Limits of a conversation, and options that are passed to the model. */
export interface StreamingSettings {
  model: string | null;
  options: Record<string, Json>;
  budgetUsd: number | null;
  firstEventMs: number;
  inactivityMs: number;
  maxAttempts: number;
  backoffMs: number;
  longestRetryMs: number;
  retryAfterDelta: boolean;
}

/** The part of the context that every request starts anew. */
export interface ReplyState {
  text: string;
  thinking: string;
  tools: Record<string, ToolActivity>;
  error: Failure | null;
  costUsd: number | null;
  durationMs: number | null;
  totalTokens: number | null;
  stop: string | null;
  usage: UsageJson | null;
  retryDelayMs: number | null;
  sentAt: number | null;
  firstTokenMs: number | null;
}

/** The latest reply, the history of the conversation, its spending and its settings. */
export interface StreamingContext extends ReplyState {
  requestId: string | null;
  sessionId: string | null;
  lastPrompt: string | null;
  messages: MessageJson[];
  cancelled: boolean;
  attempt: number;
  streamEvents: number;
  eventsAtLook: number;
  staleEvents: number;
  settledUsd: number;
  spentUsd: number;
  budgetWarned: boolean;
  reportsToParent: boolean;
  settings: StreamingSettings;
}

/** The input of the machine: settings, a history, and a prompt with which it starts at once. */
export interface StreamingInput extends Partial<StreamingSettings> {
  messages?: MessageJson[] | null;
  sessionId?: string | null;
  reportsToParent?: boolean;
  prompt?: string | null;
  requestId?: string;
  at?: number;
}

/** The input of the actor `streamReply`. */
export interface ReplyInput {
  requestId: string | null;
  sessionId: string | null;
  messages: MessageJson[];
  model: string | null;
  options: Record<string, Json>;
  attempt: number;
  limited?: true;
}

interface OfRequest {
  requestId?: string | null;
}
interface Timed {
  at?: number | null;
}

/** A prompt; null asks for a reply to the messages so far. */
export interface SendPrompt extends OfRequest, Timed {
  type: 'SEND';
  prompt: string | null;
  sessionId?: string | null;
}
/** The request was sent to the model. */
export interface RequestStarted extends Timed {
  type: 'REQUEST_STARTED';
  requestId: string;
}
/** The first event of the reply arrived. */
export interface FirstEvent extends OfRequest, Timed {
  type: 'FIRST_EVENT';
}
/** More text, or more thinking. */
export interface Chunk extends OfRequest, Timed {
  type: 'TEXT_CHUNK' | 'THINKING_CHUNK';
  content: string;
}
/** The model started a tool. */
export interface ToolStarted extends OfRequest, Timed {
  type: 'TOOL_START';
  toolId: string;
  toolName: string;
  index?: number;
  input?: Json;
}
/** A tool finished. */
export interface ToolCompleted extends OfRequest {
  type: 'TOOL_COMPLETE';
  toolId: string;
  isError: boolean;
  durationMs: number;
  result?: Json;
}
/** Usage of the reply so far; also sent as a sign of life while nothing can be shown yet. */
export interface UsageReported extends OfRequest {
  type: 'USAGE';
  usage: UsageJson;
  costUsd: number | null;
}
/** The reply is complete. */
export interface Complete extends OfRequest, Timed {
  type: 'COMPLETE';
  costUsd: number | null;
  durationMs: number;
  totalTokens: number;
  message?: MessageJson;
  problems?: string[];
  stop?: string;
  usage?: UsageJson;
}
/** The reply failed; `jitter` is a random number from 0 to 1 that spreads retries. */
export interface StreamError extends OfRequest {
  type: 'ERROR';
  code: string;
  message: string;
  recoverable: boolean;
  retryAfterMs?: number;
  jitter?: number;
  costUsd?: number | null;
  usage?: UsageJson;
}
/** Cancel the reply, try again, or start a new conversation. */
export interface StreamCommand extends OfRequest {
  type: 'CANCEL' | 'RETRY' | 'RESET';
}

/** An event of a stream, as the call of a model sends them. */
export type StreamEvent =
  | RequestStarted | FirstEvent | Chunk | ToolStarted | ToolCompleted | UsageReported | Complete | StreamError;
/** An event of the streaming machine. */
export type StreamingEvent = SendPrompt | StreamCommand | StreamEvent;
/** The machine warns once, when most of the budget is spent. */
export interface BudgetWarning {
  type: 'BUDGET_WARNING';
  spentUsd: number;
  budgetUsd: number;
}

/** The fields of events, for functions that more than one event reaches. */
export interface StreamingFields extends OfRequest, Timed {
  message?: Partial<MessageJson>;
  problems?: string[];
  usage?: UsageJson | null;
  costUsd?: number | null;
  jitter?: number;
  input?: StreamingInput | null;
  error?: unknown;
}
