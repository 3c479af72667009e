/** The driver of a conversation in the browser: calls of a model as the actor `streamReply`, and what people do. */
import { fromCallback, waitFor } from 'xstate';
import type { Json } from '../json.ts';
import type { ReplyLogic, StreamingActor, StreamingSnapshot } from './machine.ts';
import type { ReplyInput, StreamEvent, StreamingContext, StreamingState } from './types.ts';

/** What a stream tells; the names are those of its listener. */
export interface StreamCallbacks {
  onMessage(payload: { type: 'text' | 'thinking'; content: string }): void;
  onToolStart(payload: { toolId: string; toolName: string; input?: Json }): void;
  onToolComplete(payload: { toolId: string; isError: boolean; durationMs: number; result?: Json }): void;
  onComplete(payload: { costUsd: number | null; durationMs: number; totalTokens: number; stop?: string }): void;
  onError(payload: { code: string; message: string; recoverable: boolean; retryAfterMs?: number }): void;
}

/** The way to a model: a request is sent, and its stream is listened to under the id of the request. */
export interface StreamTransport {
  /** Listen to the stream of a request, from before it is sent; return a function that ends this. */
  subscribe(requestId: string, callbacks: StreamCallbacks): () => void;
  /** Send a request; reject if that fails. The signal says that the reply is not wanted any more. */
  send(request: ReplyInput, signal: AbortSignal): Promise<unknown>;
  /** Stop the work on a request; leaving the page does not. */
  cancel?(requestId: string): void;
}

/** The time and the randomness of a driver. */
export interface Sources {
  now?: () => number;
  jitter?: () => number;
  newId?: () => string;
}
export type OnBusy = 'reject' | 'queue' | 'interrupt';
export interface DriverOptions extends Sources {
  onBusy?: OnBusy;
}

/** A prompt was sent while a reply is in flight. */
export class Busy extends Error {
  override readonly name = 'Busy';
}
/** The budget of the conversation is spent. */
export class OverBudget extends Error {
  override readonly name = 'OverBudget';
}

/** Return callbacks that send what a stream tells as events of a request. */
export function streamCallbacks(requestId: string, send: (event: StreamEvent) => void, sources: Sources = {}): StreamCallbacks {
  const { now = Date.now, jitter = Math.random } = sources;
  return {
    onMessage: ({ type, content }) =>
      send({ type: type === 'text' ? 'TEXT_CHUNK' : 'THINKING_CHUNK', content, requestId, at: now() }),
    onToolStart: (payload) => send({ type: 'TOOL_START', ...payload, requestId, at: now() }),
    onToolComplete: (payload) => send({ type: 'TOOL_COMPLETE', ...payload, requestId }),
    onComplete: (payload) => send({ type: 'COMPLETE', ...payload, requestId, at: now() }),
    onError: (payload) => send({ type: 'ERROR', ...payload, requestId, jitter: jitter() }),
  };
}

/** Return the actor `streamReply` of a transport: it listens, sends the request, and says that it has started. */
export function streamReply(transport: StreamTransport, sources: Sources = {}): ReplyLogic {
  const { jitter = Math.random } = sources;
  return fromCallback(({ input, sendBack }) => {
    const { requestId } = input;
    // Without an id nothing of the stream could be told from that of another request.
    if (requestId === null) return undefined;
    const left = new AbortController();
    const tell = (event: StreamEvent): void => {
      if (!left.signal.aborted) sendBack(event);
    };
    const unsubscribe = transport.subscribe(requestId, streamCallbacks(requestId, tell, sources));
    transport.send(input, left.signal).then(
      () => tell({ type: 'REQUEST_STARTED', requestId }),
      (error: unknown) => {
        const message = (error instanceof Error && error.message) || 'Failed to send message';
        tell({ type: 'ERROR', code: '1001', message, recoverable: true, requestId, jitter: jitter() });
      },
    );
    return () => {
      left.abort();
      unsubscribe();
    };
  });
}

/** The state of a conversation as a page shows it. */
export interface StreamingView {
  state: StreamingState;
  context: StreamingContext;
  isLoading: boolean;
  isError: boolean;
  isComplete: boolean;
}

/** Return what a page shows of a snapshot. */
export function streamingView(snapshot: StreamingSnapshot): StreamingView {
  const state = snapshot.value as StreamingState;
  return {
    state,
    context: snapshot.context,
    isLoading: snapshot.hasTag('loading'),
    isError: state === 'error',
    isComplete: state === 'complete',
  };
}

/** Return whether no reply is in flight, nor waits for its next attempt. */
export function isIdle(snapshot: StreamingSnapshot): boolean {
  return !snapshot.hasTag('loading') && snapshot.context.retryDelayMs === null;
}

/** What people do in a conversation. */
export class StreamingDriver {
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly actor: StreamingActor,
    private readonly transport: StreamTransport,
    private readonly options: DriverOptions = {},
  ) {}

  /** Send a prompt; resolve with the context when its reply has ended, well or not. Without a session the current stays. */
  readonly send = async (
    prompt: string, sessionId?: string | null, onBusy: OnBusy = this.options.onBusy ?? 'reject',
  ): Promise<StreamingContext> => {
    if (onBusy === 'queue') {
      const mine = this.turn.then(async () => {
        await this.untilIdle();
        return this.ask(prompt, sessionId);
      });
      this.turn = mine.catch(() => undefined);
      return mine;
    }
    if (onBusy === 'interrupt') this.cancel();
    else if (!isIdle(this.actor.getSnapshot())) throw new Busy('A reply is still in flight; stop it, or wait for its end');
    return this.ask(prompt, sessionId);
  };

  /** Repeat a reply that failed. */
  readonly retry = async (): Promise<StreamingContext> => {
    this.actor.send({ type: 'RETRY' });
    return this.untilIdle();
  };

  /** Stop the reply in flight; the text that has arrived is kept. */
  readonly cancel = (): void => {
    const { context } = this.actor.getSnapshot();
    if (isIdle(this.actor.getSnapshot())) return;
    this.actor.send({ type: 'CANCEL' });
    if (context.requestId !== null) this.transport.cancel?.(context.requestId);
  };

  /** Start a new conversation; while a reply is in flight this does nothing. */
  readonly reset = (): void => {
    this.actor.send({ type: 'RESET' });
  };

  private ask(prompt: string, sessionId?: string | null): Promise<StreamingContext> {
    const { newId = () => crypto.randomUUID(), now = Date.now } = this.options;
    const session = sessionId === undefined ? {} : { sessionId };
    const event = { type: 'SEND' as const, prompt, requestId: newId(), at: now(), ...session };
    if (!this.actor.getSnapshot().can(event)) throw new OverBudget('The budget of this conversation is spent');
    this.actor.send(event);
    return this.untilIdle();
  }

  private async untilIdle(): Promise<StreamingContext> {
    // An actor that is stopped, such as that of a page that was left, stays as it is.
    const last = await waitFor(this.actor, isIdle).catch(() => this.actor.getSnapshot());
    return last.context;
  }
}
