/** Requests and replies: start, arriving events, history. The twin of `streaming_reply.py`. */
import { type MessageJson, orElse } from '../json.ts';
import type {
  Chunk, Complete, ReplyInput, ReplyState, RequestStarted, SendPrompt, StreamingContext, StreamingFields, StreamingInput,
  StreamingSettings, ToolActivity, ToolCompleted, ToolStarted,
} from './types.ts';

type Changes = Partial<StreamingContext>;

export const DEFAULT_SETTINGS: StreamingSettings = {
  model: null,
  options: {},
  budgetUsd: null,
  firstEventMs: 300_000,
  inactivityMs: 120_000,
  maxAttempts: 3,
  backoffMs: 1_000,
  longestRetryMs: 60_000,
  retryAfterDelta: false,
};

/** Return the context of a new conversation; the input may hold any of the settings as well. */
export function initialContext(input: StreamingInput = {}): StreamingContext {
  const keys = Object.keys(DEFAULT_SETTINGS) as (keyof StreamingSettings)[];
  const settings = Object.fromEntries(keys.map((key) => [key, orElse(input[key], DEFAULT_SETTINGS[key])]));
  return {
    requestId: null,
    sessionId: input.sessionId ?? null,
    ...emptyReply(),
    lastPrompt: null,
    messages: [...(input.messages ?? [])],
    cancelled: false,
    attempt: 0,
    streamEvents: 0,
    eventsAtLook: 0,
    staleEvents: 0,
    settledUsd: 0,
    spentUsd: 0,
    budgetWarned: false,
    reportsToParent: input.reportsToParent ?? false,
    settings: settings as unknown as StreamingSettings,
  };
}

/** Return the state of a reply before anything has arrived. */
function emptyReply(): ReplyState {
  return {
    text: '',
    thinking: '',
    tools: {},
    error: null,
    costUsd: null,
    durationMs: null,
    totalTokens: null,
    stop: null,
    usage: null,
    retryDelayMs: null,
    sentAt: null,
    firstTokenMs: null,
  };
}

/** Clear the last reply and record the prompt; a session in the event, even null, replaces the current one. */
export function resetForNewMessage(context: StreamingContext, event: SendPrompt): Changes {
  const question = event.prompt == null ? [] : [newMessage('user', event.prompt, event.requestId, event.at)];
  return {
    ...emptyReply(),
    requestId: event.requestId ?? null,
    sessionId: orElse(event.sessionId, context.sessionId),
    lastPrompt: event.prompt ?? context.lastPrompt,
    messages: [...context.messages, ...question],
    cancelled: false,
    attempt: 0,
    sentAt: event.at ?? null,
    settledUsd: context.spentUsd,
  };
}

/** Clear the last reply. */
export function resetForRetry(context: StreamingContext, event: StreamingFields): Changes {
  return { ...emptyReply(), requestId: event.requestId || context.requestId, settledUsd: context.spentUsd };
}

/** Return the context of a new conversation with the same settings. */
export function fullReset(context: StreamingContext): Changes {
  return { ...initialContext(), settings: context.settings, reportsToParent: context.reportsToParent };
}

/** Count attempts from the start. */
export function firstAttempt(): Changes {
  return { attempt: 0 };
}

/** Count another attempt. */
export function nextAttempt(context: StreamingContext): Changes {
  return { attempt: context.attempt + 1 };
}

/** Return the input of `streamReply`. */
export function replyInput(context: StreamingContext): ReplyInput {
  const { settings } = context;
  return {
    // A cost that is limited must be known.
    ...(settings.budgetUsd === null ? {} : { limited: true }),
    requestId: context.requestId,
    sessionId: context.sessionId,
    messages: context.messages,
    model: settings.model,
    options: settings.options,
    attempt: context.attempt,
  };
}

/** Record the id of the request, and when it started. */
export function setRequest(context: StreamingContext, event: RequestStarted): Changes {
  return { requestId: event.requestId, sentAt: orElse(event.at, context.sentAt) };
}

/** Record how long the first event took, if both times are known. */
export function noteFirstEvent(context: StreamingContext, event: StreamingFields): Changes {
  return { firstTokenMs: context.sentAt === null || event.at == null ? null : event.at - context.sentAt };
}

/** Append text. */
export function appendText(context: StreamingContext, event: Chunk): Changes {
  return { text: context.text + event.content };
}

/** Append thinking. */
export function appendThinking(context: StreamingContext, event: Chunk): Changes {
  return { thinking: context.thinking + event.content };
}

/** Count an event of the stream. */
export function countEvent(context: StreamingContext): Changes {
  return { streamEvents: context.streamEvents + 1 };
}

/** Remember the number of events, to notice when no more arrive. */
export function lookAtEvents(context: StreamingContext): Changes {
  return { eventsAtLook: context.streamEvents };
}

/** Count an event of an earlier request. */
export function countStale(context: StreamingContext): Changes {
  return { staleEvents: context.staleEvents + 1 };
}

/** Add a running tool. */
export function startTool(context: StreamingContext, event: ToolStarted): Changes {
  const input = event.input === undefined ? {} : { input: event.input };
  return { tools: { ...context.tools, [event.toolId]: { name: event.toolName, status: 'running', ...input } } };
}

/** Record the end of a tool; ignore one that never started. */
export function completeTool(context: StreamingContext, event: ToolCompleted): Changes {
  // An inherited key such as `constructor` is no tool.
  const tool = Object.hasOwn(context.tools, event.toolId) ? context.tools[event.toolId] : undefined;
  if (tool === undefined) return {};
  const ended: ToolActivity = {
    ...tool,
    status: event.isError ? 'error' : 'complete',
    durationMs: event.durationMs,
    ...(event.result === undefined ? {} : { result: event.result }),
  };
  return { tools: { ...context.tools, [event.toolId]: ended } };
}

/** Mark running tools as interrupted: no more events of them will arrive. */
export function interruptTools(context: StreamingContext): Changes {
  const tools = Object.entries(context.tools).map(([id, tool]): [string, ToolActivity] => [
    id,
    tool.status === 'running' ? { ...tool, status: 'error', interrupted: true } : tool,
  ]);
  return { tools: Object.fromEntries(tools) };
}

/** Record cost, duration, tokens and stop reason of the reply. */
export function setCompletion(_context: StreamingContext, event: Complete): Changes {
  return {
    costUsd: event.costUsd ?? null,
    durationMs: event.durationMs ?? null,
    totalTokens: event.totalTokens ?? null,
    stop: event.stop ?? null,
  };
}

/** Record that the reply was cancelled. */
export function setCancelled(): Changes {
  return { cancelled: true, error: null, retryDelayMs: null };
}

/** Return the reply as a message: the provider's own, completed by the text that arrived. */
export function replyMessage(context: StreamingContext, event: StreamingFields): MessageJson {
  return { ...newMessage('assistant', context.text, context.requestId, event.at), ...event.message };
}

/** Append the reply to the history, unless it is empty. */
export function keepReply(context: StreamingContext, event: StreamingFields): Changes {
  const message = replyMessage(context, event);
  return message.parts.length > 0 ? { messages: [...context.messages, message] } : {};
}

/** Append the text of an unfinished reply to the history. */
export function keepPartial(context: StreamingContext): Changes {
  if (context.text === '') return {};
  const message = newMessage('assistant', context.text, context.requestId, null);
  return { messages: [...context.messages, { ...message, partial: true }] };
}

function newMessage(role: string, text: string, requestId?: string | null, at?: number | null): MessageJson {
  return {
    role,
    parts: text === '' ? [] : [{ type: 'text', text }],
    ...(requestId == null ? {} : { requestId }),
    ...(at == null ? {} : { at }),
  };
}
