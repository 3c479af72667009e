import { SimulatedClock, createActor } from 'xstate';
import { beforeEach, expect, test } from 'vitest';
import { Busy, OverBudget, type StreamCallbacks, type StreamTransport, StreamingDriver, streamReply, streamingView } from './driver.ts';
import { type StreamingActor, streamingMachine } from './machine.ts';
import type { ReplyInput, StreamingInput } from './types.ts';

/** A transport whose streams are told by the test. */
class Scripted implements StreamTransport {
  readonly requests: ReplyInput[] = [];
  readonly streams = new Map<string, StreamCallbacks>();
  readonly cancelled: string[] = [];
  failure: unknown = null;
  signal: AbortSignal | null = null;

  subscribe(requestId: string, callbacks: StreamCallbacks): () => void {
    this.streams.set(requestId, callbacks);
    return () => this.streams.delete(requestId);
  }

  async send(request: ReplyInput, signal: AbortSignal): Promise<void> {
    this.requests.push(request);
    this.signal = signal;
    if (this.failure !== null) throw this.failure;
  }

  cancel(requestId: string): void {
    this.cancelled.push(requestId);
  }

  stream(requestId: string): StreamCallbacks {
    const callbacks = this.streams.get(requestId);
    if (callbacks === undefined) throw new Error(`nobody listens to ${requestId}`);
    return callbacks;
  }
}

const DONE = { costUsd: 0.01, durationMs: 5, totalTokens: 9 };
let transport: Scripted;
let clock: SimulatedClock;
let actor: StreamingActor;
let driver: StreamingDriver;
let events: string[];

function open(input: StreamingInput = {}): void {
  let ids = 0;
  const sources = { now: () => clock.now(), jitter: () => 0, newId: () => `r${++ids}` };
  const machine = streamingMachine.provide({ actors: { streamReply: streamReply(transport, sources) } });
  const inspect = (found: { type: string; actorRef: unknown; event?: { type: string } }): void => {
    if (found.type === '@xstate.event' && found.actorRef === actor && found.event !== undefined) events.push(found.event.type);
  };
  actor = createActor(machine, { clock, input, inspect });
  actor.start();
  driver = new StreamingDriver(actor, transport, sources);
}

const view = (): ReturnType<typeof streamingView> => streamingView(actor.getSnapshot());
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
};

beforeEach(() => {
  transport = new Scripted();
  clock = new SimulatedClock();
  events = [];
  open();
});

test('S0-56 S0-57 S0-T23 · a conversation begins idle, with the first context', () => {
  expect(view()).toMatchObject({ state: 'idle', isLoading: false, isError: false, isComplete: false });
  expect(view().context).toMatchObject({ requestId: null, sessionId: null, text: '', thinking: '', tools: {}, error: null });
});

test('S0-58 S0-T24 · send sends SEND, then the request, then REQUEST_STARTED', async () => {
  void driver.send('Hello', 's1');
  expect(view().state).toBe('sending');
  expect(transport.requests).toMatchObject([{ requestId: 'r1', sessionId: 's1', messages: [{ role: 'user' }], attempt: 0 }]);
  await settled();

  expect(events).toEqual(['xstate.init', 'SEND', 'REQUEST_STARTED']);
});

test.each([
  [new Error('no route'), 'no route'],
  ['odd', 'Failed to send message'],
])('S0-59 · a request that fails with %s is an error 1001 that may be retried', async (failure, message) => {
  transport.failure = failure;
  void driver.send('Hello');
  await settled();

  expect(view().context.error).toEqual({ code: '1001', message, recoverable: true });
});

test('S0-60 S0-T25 · reset begins a new conversation', async () => {
  const reply = driver.send('Hello', 's1');
  transport.stream('r1').onComplete(DONE);
  await reply;
  driver.reset();

  expect(view().state).toBe('idle');
  expect(view().context).toMatchObject({ sessionId: null, messages: [] });
});

test('S0-61 S0-T26 · isLoading holds while sending and streaming', () => {
  void driver.send('Hello');
  expect(view().isLoading).toBe(true);
  transport.stream('r1').onMessage({ type: 'text', content: 'Hi' });
  expect(view()).toMatchObject({ state: 'streaming', isLoading: true });
  transport.stream('r1').onComplete(DONE);

  expect(view().isLoading).toBe(false);
});

test('S0-62 S0-T27 · isError holds after an error', () => {
  void driver.send('Hello');
  transport.stream('r1').onError({ code: '9001', message: 'no', recoverable: false });

  expect(view()).toMatchObject({ isError: true, isLoading: false });
});

test('S0-63 S0-T28 · isComplete holds after the end', () => {
  void driver.send('Hello');
  transport.stream('r1').onComplete(DONE);

  expect(view()).toMatchObject({ isComplete: true, context: DONE });
});

test('S0-64 S0-T29 · everything that a stream tells becomes its event', () => {
  void driver.send('Hello');
  const stream = transport.stream('r1');
  stream.onMessage({ type: 'thinking', content: 'Hm' });
  stream.onMessage({ type: 'text', content: 'Hi' });
  stream.onToolStart({ toolId: 't', toolName: 'search', input: { q: 1 } });
  stream.onToolComplete({ toolId: 't', isError: false, durationMs: 4, result: 'found' });
  stream.onError({ code: '3001', message: 'slow down', recoverable: true, retryAfterMs: 700 });

  const { text, thinking, tools, error } = view().context;
  expect({ text, thinking }).toEqual({ text: 'Hi', thinking: 'Hm' });
  expect(tools).toEqual({ t: { name: 'search', status: 'complete', durationMs: 4, input: { q: 1 }, result: 'found' } });
  expect(error).toEqual({ code: '3001', message: 'slow down', recoverable: true, retryAfterMs: 700 });
});

test('S0-65 S0-B4 · the stream of an earlier request does not reach the next reply', async () => {
  const first = driver.send('One');
  const late = transport.stream('r1');
  driver.cancel();
  await first;
  void driver.send('Two');
  late.onMessage({ type: 'text', content: 'late' });
  actor.send({ type: 'TEXT_CHUNK', content: 'late', requestId: 'r1' });

  expect(view().context).toMatchObject({ text: '', requestId: 'r2', staleEvents: 1 });
});

test('S0-66 · a stopped conversation listens to nothing, and its request is not wanted any more', () => {
  void driver.send('Hello');
  actor.stop();

  expect(transport.streams.size).toBe(0);
  expect(transport.signal?.aborted).toBe(true);
  expect(transport.cancelled).toEqual([]);
});

test('S0-86 · cancel stops the work and keeps the text', async () => {
  const reply = driver.send('Hello');
  transport.stream('r1').onMessage({ type: 'text', content: 'Half' });
  driver.cancel();

  expect((await reply).messages.at(-1)).toMatchObject({ parts: [{ text: 'Half' }], partial: true });
  expect(transport.cancelled).toEqual(['r1']);
});

test('S0-B5 · a prompt during a reply is refused and no request is made', async () => {
  void driver.send('One');

  await expect(driver.send('Two')).rejects.toThrow(Busy);
  expect(transport.requests).toHaveLength(1);
});

test('S0-B5 · a prompt may wait for its turn, or interrupt', async () => {
  void driver.send('One');
  const waiting = driver.send('Two', undefined, 'queue');
  await settled();
  expect(transport.requests).toHaveLength(1);
  transport.stream('r1').onComplete(DONE);
  await settled();
  transport.stream('r2').onMessage({ type: 'text', content: 'Second' });
  void driver.send('Three', undefined, 'interrupt');

  expect(await waiting).toMatchObject({ requestId: 'r2', cancelled: true });
  expect(transport.requests.map((request) => request.messages.length)).toEqual([1, 2, 4]);
});

test('S0-85 · a failed request is repeated by itself after its delay, and by hand', async () => {
  transport.failure = new Error('gone');
  void driver.send('Hello');
  await settled();
  clock.increment(1_000);
  await settled();
  expect(transport.requests.map(({ attempt }) => attempt)).toEqual([0, 1]);

  transport.failure = null;
  void driver.retry();
  transport.stream('r1').onComplete(DONE);
  expect(view().isComplete).toBe(true);
});

test('S0-T39 · without a request id nothing is listened to', () => {
  actor.send({ type: 'SEND', prompt: 'Hello' });

  expect(view().state).toBe('sending');
  expect(transport.streams.size + transport.requests.length).toBe(0);
});

test('a spent budget refuses a prompt', async () => {
  open({ budgetUsd: 0.01 });
  const reply = driver.send('Hello');
  transport.stream('r1').onComplete(DONE);
  await reply;

  await expect(driver.send('More')).rejects.toThrow(OverBudget);
});
