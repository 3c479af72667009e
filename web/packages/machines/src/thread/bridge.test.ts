import { expect, test } from 'vitest';
import { type OpenedThread, Refused } from '../transport.ts';
import { ThreadBridge, type ThreadSource, type ThreadTransport, threadView } from './bridge.ts';
import { startEvent } from './functions.ts';
import type { ThreadEvent, ThreadStatus } from './types.ts';

/** A server whose snapshots are set by the test. */
class Server implements ThreadTransport {
  readonly sent: ThreadEvent[] = [];
  private readonly listeners = new Set<() => void>();
  refusal: Error | null = null;

  constructor(private latest: ThreadSource | null) {}

  snapshot = (): ThreadSource | null => this.latest;

  subscribe = (changed: () => void): (() => void) => {
    this.listeners.add(changed);
    return () => this.listeners.delete(changed);
  };

  send = async (event: ThreadEvent): Promise<void> => {
    this.sent.push(event);
    if (this.refusal !== null) throw this.refusal;
  };

  publish(source: ThreadSource): void {
    this.latest = source;
    for (const listener of this.listeners) listener();
  }

  get followers(): number {
    return this.listeners.size;
  }
}

const MESSAGE: ThreadEvent = { type: 'FOLLOW_UP', message: { text: 'And then?' } };

function page(status: ThreadStatus, more: Partial<OpenedThread> = {}): OpenedThread {
  return { id: 't', kind: 'chat', status, can: { '': ['FOLLOW_UP'], chat: ['message'] }, costUsd: 0.5, ...more };
}

test('S3-04 · without a server the chart alone decides', async () => {
  const bridge = new ThreadBridge(null, { threadId: 't' });
  await bridge.send({ type: 'START' });

  expect(threadView(bridge.getSnapshot())).toMatchObject({ status: 'running', isBusy: true, context: { runId: 'run-1' } });
});

test('S3-09 · an event is taken at once, and sent to the server', () => {
  const server = new Server(page('completed'));
  const bridge = new ThreadBridge(server);
  void bridge.send(MESSAGE);

  expect(threadView(bridge.getSnapshot())).toMatchObject({ status: 'running', isBusy: true });
  expect(server.sent).toEqual([MESSAGE]);
});

test('S3-03 · what the server refuses did not happen', async () => {
  const server = new Server(page('completed'));
  server.refusal = new Error('busy');
  const bridge = new ThreadBridge(server);

  await expect(bridge.send(MESSAGE)).rejects.toThrow('busy');
  expect(threadView(bridge.getSnapshot())).toMatchObject({ status: 'completed', context: { cost: 0.5, runs: 0 } });
});

test('S3-03 · a snapshot of the server replaces the state, while somebody listens', () => {
  const server = new Server(page('running'));
  const bridge = new ThreadBridge(server);
  let changes = 0;
  const stop = bridge.subscribe(() => (changes += 1));
  server.publish(page('waiting', { waiting: 'question', requests: [{ id: 'w', address: '', reason: 'question' }] }));

  expect(threadView(bridge.getSnapshot())).toMatchObject({ status: 'waiting', context: { waitingReason: 'question' } });
  expect(bridge.can({ type: 'RESPOND', requestId: 'w' })).toBe(true);
  expect(bridge.can({ type: 'RESPOND', requestId: 'other' })).toBe(false);
  expect(changes).toBe(1);
  stop();
  expect(server.followers).toBe(0);
});

test('a stored snapshot of the machine is taken as it is, with the children that run at the server', () => {
  const bridge = new ThreadBridge(new Server(page('completed')));
  void bridge.send(MESSAGE);
  const stored = JSON.parse(JSON.stringify(bridge.getSnapshot()));
  const children = { chat: { snapshot: { status: 'active', value: 'idle', context: { any: 1 }, children: {} }, src: 'chat' } };
  const again = new ThreadBridge(new Server({ ...stored, children }));

  expect(threadView(again.getSnapshot())).toMatchObject({ status: 'running', context: { content: 'chat', runId: 'run-1' } });
  expect(again.can({ type: 'STOP' })).toBe(true);
});

test('an event that the chart refuses is not sent, and what can happen is named', async () => {
  const server = new Server(page('completed'));
  const bridge = new ThreadBridge(server);

  const refusal = await bridge.send({ type: 'STOP' }).catch((error: unknown) => error);

  expect(refusal).toBeInstanceOf(Refused);
  expect((refusal as Refused).message).toBe(
    'STOP is not possible now; possible: START, RESTART, FOLLOW_UP, MERGED, ARCHIVE, UNARCHIVE, RENAME',
  );
  expect(server.sent).toEqual([]);
});

test('a message becomes the event that fits the status', () => {
  expect(startEvent('pending')).toBe('START');
  expect(startEvent('waiting')).toBe('RESPOND');
  expect(startEvent('failed')).toBe('RESTART');
});
