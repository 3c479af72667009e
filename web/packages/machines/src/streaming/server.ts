/** The way to the models of an Antiphon server: a chat of it is the conversation. */
import type { Json } from '../json.ts';
import type { StreamCallbacks, StreamTransport } from './driver.ts';
import type { ReplyInput, StreamingInput } from './types.ts';

/** An activity of a thread, as streams of the server have it. */
export interface Activity {
  kind: string;
  at: number;
  cursor: string;
  facts: Record<string, Json>;
}

/** Settings for a conversation with a server: attempts are those that it announces with their delay, and no others. */
export const SERVER_SETTINGS: StreamingInput = {
  retryAfterDelta: true, maxAttempts: 1_000, longestRetryMs: 3_600_000, backoffMs: Number.MAX_SAFE_INTEGER,
};

interface Failed {
  code: string;
  message: string;
  recoverable: boolean;
  retryAfterMs?: number;
}
const STOPPED: Failed = { code: 'interrupted', message: 'The reply was stopped', recoverable: true };

/** Tells activities of a chat to the callbacks of a stream; `read` returns whether the request has ended. */
export class ActivityReader {
  private calls: { id: string; at: number }[] = [];
  private isReplied = false;
  private costUsd: number | null = 0;
  private durationMs = 0;
  private totalTokens = 0;
  private stop: string | undefined;

  constructor(private readonly callbacks: StreamCallbacks) {}

  readonly read = ({ kind, facts, at }: Activity): boolean => {
    switch (kind) {
      case 'text':
      case 'thinking':
        this.callbacks.onMessage({ type: kind, content: String(facts.text) });
        return false;
      case 'tool_called':
        this.beginTool(String(facts.id), String(facts.name), facts.input ?? null, at);
        return false;
      case 'tool_ended':
        this.endTool(Number(facts.call), facts.failed === true, facts.result ?? null, at);
        return false;
      case 'replied':
        this.add(facts);
        return false;
      case 'retrying':
        return this.announceAttempt(facts);
      case 'status':
        return this.end(String(facts.status), facts.resultInfo);
      default:
        return false;
    }
  };

  private beginTool(toolId: string, toolName: string, input: Json, at: number): void {
    // The calls of each reply are numbered anew.
    if (this.isReplied) this.calls = [];
    this.isReplied = false;
    this.calls.push({ id: toolId, at });
    this.callbacks.onToolStart({ toolId, toolName, input });
  }

  private endTool(number: number, isError: boolean, result: Json, at: number): void {
    const call = this.calls[number];
    if (call !== undefined) this.callbacks.onToolComplete({ toolId: call.id, isError, durationMs: at - call.at, result });
  }

  private add(facts: Record<string, Json>): void {
    this.isReplied = true;
    const { costUsd } = facts;
    this.costUsd = this.costUsd === null || typeof costUsd !== 'number' ? null : this.costUsd + costUsd;
    this.durationMs += Number(facts.durationMs ?? 0);
    this.totalTokens += Number(facts.totalTokens ?? 0);
    this.stop = typeof facts.stop === 'string' ? facts.stop : undefined;
  }

  /** Tell that the server tries again; an error that it gives up on is told by the status. */
  private announceAttempt(facts: Record<string, Json>): boolean {
    if (facts.recoverable !== true) return false;
    const retryAfterMs = Number(facts.retryAfterMs ?? 0);
    this.callbacks.onError({ code: String(facts.code), message: String(facts.message), recoverable: true, retryAfterMs });
    return true;
  }

  private end(status: string, resultInfo: Json | undefined): boolean {
    const { costUsd, durationMs, totalTokens, stop } = this;
    if (status === 'completed') this.callbacks.onComplete({ costUsd, durationMs, totalTokens, ...(stop === undefined ? {} : { stop }) });
    else if (status === 'failed') this.callbacks.onError(failureOf(resultInfo));
    else if (status === 'stopped' || status === 'interrupted') this.callbacks.onError(STOPPED);
    else return false;
    return true;
  }
}

/** Return the error of a run; it is not repeated unless a person asks for it. */
function failureOf(resultInfo: Json | undefined): Failed {
  const { code, message, recoverable } = ((resultInfo as { error?: Failed } | null)?.error) ?? STOPPED;
  return { code, message, recoverable };
}

/** What a chat needs of its surroundings; those of a page are taken if nothing else is named. */
export interface ServerOptions {
  /** The address of the server; empty for that of the page. */
  base?: string;
  fetch?: typeof fetch;
  openStream?: (url: string) => EventSource;
}

/** The chat of a server as a transport: prompts become its messages, and its activities the events of the stream. */
export class ServerChat implements StreamTransport {
  private readonly listeners = new Map<string, StreamCallbacks>();
  private readonly path: string;
  private cursor = '';
  /** The last request that the server has taken: sent again, it is repeated. */
  private taken: string | null = null;
  /** The request that the server tries again by itself, so that its next attempt only listens. */
  private retrying: string | null = null;

  constructor(thread: string, private readonly options: ServerOptions = {}) {
    this.path = `${options.base ?? ''}/threads/${encodeURIComponent(thread)}`;
  }

  readonly subscribe = (requestId: string, callbacks: StreamCallbacks): (() => void) => {
    this.listeners.set(requestId, callbacks);
    return () => this.listeners.delete(requestId);
  };

  readonly send = async (request: ReplyInput, signal: AbortSignal): Promise<void> => {
    const callbacks = this.listeners.get(request.requestId ?? '');
    if (callbacks === undefined) return;
    const isRetrying = this.retrying === request.requestId;
    this.retrying = null;
    if (!isRetrying) {
      this.cursor = ((await this.call('GET', '?content=false')) as { cursor: string }).cursor;
      await this.ask(request);
    }
    if (!signal.aborted) this.follow(request.requestId, callbacks, signal);
  };

  /** Stop the work of the thread; the text so far is kept. */
  readonly cancel = (): void => {
    void this.call('POST', '/stop', {}).catch(() => undefined); // it has ended by itself
  };

  private async ask(request: ReplyInput): Promise<void> {
    if (this.taken === request.requestId) {
      await this.call('POST', '/retry', {});
    } else {
      await this.call('POST', '/messages', { text: lastText(request) }, request.requestId ?? undefined);
      this.taken = request.requestId;
    }
  }

  private follow(requestId: string | null, callbacks: StreamCallbacks, signal: AbortSignal): void {
    const url = `${this.path}/events?after=${encodeURIComponent(this.cursor)}`;
    const stream = this.options.openStream?.(url) ?? new EventSource(url);
    const reader = new ActivityReader(callbacks);
    stream.addEventListener('message', ({ data }: MessageEvent<string>) => {
      const activity = JSON.parse(data) as Activity;
      this.cursor = activity.cursor;
      this.retrying = activity.kind === 'retrying' ? requestId : null;
      if (reader.read(activity)) stream.close();
    });
    stream.addEventListener('problem', ({ data }) => {
      const { code = '9001', detail = 'The server has ended the stream' } = JSON.parse(data) as Record<string, string>;
      stream.close();
      callbacks.onError({ code, message: detail, recoverable: false });
    });
    signal.addEventListener('abort', () => stream.close());
  }

  private async call(method: string, path: string, body?: object, key?: string): Promise<unknown> {
    const headers = { 'Content-Type': 'application/json', ...(key === undefined ? {} : { 'Idempotency-Key': key }) };
    const init = body === undefined ? { method } : { method, headers, body: JSON.stringify(body) };
    const response = await (this.options.fetch ?? fetch)(`${this.path}${path}`, init);
    const reply = (await response.json()) as { detail?: string };
    if (!response.ok) throw new Error(reply.detail ?? `the server answered ${response.status}`);
    return reply;
  }
}

/** Return the text of the last message of a request, which is the prompt. */
function lastText({ messages }: ReplyInput): string {
  const parts = messages.at(-1)?.parts as { text?: string }[] | undefined;
  return parts?.map(({ text = '' }) => text).join('') ?? '';
}
