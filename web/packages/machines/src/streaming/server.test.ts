import { SimulatedClock, createActor } from 'xstate';
import { beforeEach, expect, test } from 'vitest';
import { StreamingDriver, streamReply, streamingView } from './driver.ts';
import { type StreamingActor, streamingMachine } from './machine.ts';
import { type Activity, SERVER_SETTINGS, ServerChat } from './server.ts';
import type { Json } from '../json.ts';

/** A stream of the server that the test writes. */
class Stream extends EventTarget {
  isClosed = false;

  constructor(readonly url: string) {
    super();
  }

  close = (): void => void (this.isClosed = true);

  tell(kind: string, facts: Record<string, Json>, at = 0): void {
    const activity: Activity = { kind, facts, at, cursor: `h:${kind}` };
    this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(activity) }));
  }
}

let streams: Stream[];
let requests: { path: string; body?: unknown; key?: string | undefined }[];
let refusal: string | null;
let clock: SimulatedClock;
let actor: StreamingActor;
let driver: StreamingDriver;

beforeEach(() => {
  streams = [];
  requests = [];
  refusal = null;
  clock = new SimulatedClock();
  const server = new ServerChat('a b', {
    base: 'http://host',
    fetch: async (input, init) => {
      const headers = new Headers(init?.headers);
      const { body } = init ?? {};
      requests.push({ path: String(input), ...(typeof body === 'string' ? { body: JSON.parse(body), key: headers.get('Idempotency-Key') ?? undefined } : {}) });
      const isRefused = refusal !== null && init?.method === 'POST';
      return isRefused ? Response.json({ detail: refusal }, { status: 409 }) : Response.json({ cursor: 'h:1' });
    },
    openStream: (url) => {
      const stream = new Stream(url);
      streams.push(stream);
      return stream as unknown as EventSource;
    },
  });
  const machine = streamingMachine.provide({ actors: { streamReply: streamReply(server, { now: () => 0, jitter: () => 0 }) } });
  actor = createActor(machine, { clock, input: SERVER_SETTINGS }).start();
  let ids = 0;
  driver = new StreamingDriver(actor, server, { newId: () => `r${++ids}`, now: () => 0 });
});

const view = (): ReturnType<typeof streamingView> => streamingView(actor.getSnapshot());
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
const stream = (): Stream => streams.at(-1) as Stream;

test('S0-58 · a prompt becomes a message of the chat, with the id of the request as its key', async () => {
  void driver.send('Hello');
  await settled();

  expect(requests).toEqual([
    { path: 'http://host/threads/a%20b?content=false' },
    { path: 'http://host/threads/a%20b/messages', body: { text: 'Hello' }, key: 'r1' },
  ]);
  expect(stream().url).toBe('http://host/threads/a%20b/events?after=h%3A1');
});

test('S0-64 · activities become the reply; the calls of each turn are numbered anew', async () => {
  const reply = driver.send('Hello');
  await settled();
  stream().tell('thinking', { text: 'Hm' });
  stream().tell('tool_called', { id: 'c1', name: 'look', input: { a: 1 } }, 10);
  stream().tell('replied', { costUsd: 0.1, durationMs: 5, totalTokens: 7, stop: 'tool_calls' });
  stream().tell('tool_ended', { call: 0, failed: false, result: 'found' }, 14);
  stream().tell('tool_called', { id: 'c2', name: 'look', input: null }, 20);
  stream().tell('replied', { costUsd: 0.1, durationMs: 5, totalTokens: 7, stop: 'tool_calls' });
  stream().tell('tool_ended', { call: 0, failed: true, result: 'no' }, 21);
  stream().tell('text', { text: 'Done' });
  stream().tell('replied', { costUsd: 0.2, durationMs: 1, totalTokens: 1, stop: 'end' });
  stream().tell('status', { status: 'completed', resultInfo: null });

  const context = await reply;
  expect(context).toMatchObject({ text: 'Done', thinking: 'Hm', costUsd: 0.4, durationMs: 11, totalTokens: 15, stop: 'end' });
  expect(context.tools).toMatchObject({ c1: { status: 'complete', durationMs: 4, result: 'found' }, c2: { status: 'error' } });
  expect(stream().isClosed).toBe(true);
});

test('S0-85 · an attempt that the server announces is followed from where the reader is', async () => {
  void driver.send('Hello');
  await settled();
  stream().tell('text', { text: 'Ha' });
  stream().tell('retrying', { code: '1002', message: 'busy', recoverable: true, retryAfterMs: 700 });
  expect(view()).toMatchObject({ state: 'error', context: { retryDelayMs: 700 } });
  clock.increment(700);
  await settled();

  expect(requests).toHaveLength(2);
  expect(stream().url).toContain('after=h%3Aretrying');
  stream().tell('text', { text: 'Hallo' });
  expect(view()).toMatchObject({ state: 'streaming', context: { text: 'Hallo' } });
});

test('S0-T31 · a failed reply is repeated only if a person asks for it', async () => {
  void driver.send('Hello');
  await settled();
  const error = { code: '1002', message: 'busy', recoverable: true, retryAfterMs: 10 };
  stream().tell('status', { status: 'failed', resultInfo: { status: 'failed', error } });
  clock.increment(10_000_000);
  expect(view()).toMatchObject({ isError: true, context: { error: { code: '1002' } } });

  void driver.retry();
  await settled();
  expect(requests.at(-1)?.path).toContain('/retry');
});

test('S0-T32 · after an error that the server gave up on, the next prompt is a message again', async () => {
  void driver.send('One');
  await settled();
  const error = { code: '9003', message: 'no such model', recoverable: false };
  stream().tell('retrying', { ...error, retryAfterMs: null });
  expect(view().state).toBe('sending');
  stream().tell('status', { status: 'failed', resultInfo: { status: 'failed', error } });
  void driver.send('Two');
  await settled();

  expect(requests.at(-1)).toMatchObject({ body: { text: 'Two' }, key: 'r2' });
});

test('S0-59 · what the server refuses is an error with its words', async () => {
  refusal = 'the thread is running';
  void driver.send('Hello');
  await settled();

  expect(view().context.error).toEqual({ code: '1001', message: 'the thread is running', recoverable: true });
});

test('S0-86 · Stop is a request of its own, and leaving the page is not', async () => {
  void driver.send('Hello');
  await settled();
  driver.cancel();
  await settled();
  expect(requests.at(-1)?.path).toContain('/stop');
  expect(stream().isClosed).toBe(true);

  void driver.send('Again');
  await settled();
  const made = requests.length;
  actor.stop();
  expect(stream().isClosed).toBe(true);
  expect(requests).toHaveLength(made);
});

test('a thread that was deleted ends the reply with its problem', async () => {
  void driver.send('Hello');
  await settled();
  stream().dispatchEvent(new MessageEvent('problem', { data: '{"code": "unknown_thread", "detail": "there is none"}' }));

  expect(view().context.error).toEqual({ code: 'unknown_thread', message: 'there is none', recoverable: false });
});
