import { beforeEach, expect, test, vi } from 'vitest';
import { Hub, type FromHub, type Source } from './hub';

class FakeSource implements Source {
  readonly listeners = new Map<string, (event: MessageEvent<string>) => void>();
  isClosed = false;
  constructor(readonly address: string) {}
  addEventListener(type: string, listener: (event: MessageEvent<string>) => void): void {
    this.listeners.set(type, listener);
  }
  close(): void {
    this.isClosed = true;
  }
  fire(type: string, data: unknown = {}): void {
    this.listeners.get(type)?.({ data: JSON.stringify(data) } as MessageEvent<string>);
  }
}

let sources: FakeSource[] = [];
const last = (): FakeSource => sources.at(-1) as FakeSource;
const threadsOf = (source: FakeSource): string => decodeURIComponent(source.address.split('threads=')[1] ?? '');
const activity = (thread: string, step: number) => ({
  kind: 'activity',
  thread,
  activity: { seq: step, cursor: `h:${step}`, at: 0, kind: 'text', facts: {} },
});

function makeHub(ask: () => Promise<void> = () => Promise.resolve()) {
  return new Hub((address) => {
    const source = new FakeSource(address);
    sources.push(source);
    return source;
  }, ask);
}

function makeTab(hub: Hub) {
  const heard: FromHub[] = [];
  const port = { postMessage: (message: FromHub) => void heard.push(message) };
  hub.connect(port);
  return {
    port,
    heard,
    steps: () => heard.flatMap((message) => (message.event === 'activity' ? [message.activity.seq] : [])),
  };
}

beforeEach(() => {
  sources = [];
  vi.useFakeTimers();
});

test('tabs share one connection, and each hears what it follows', () => {
  const hub = makeHub();
  const [one, two] = [makeTab(hub), makeTab(hub)];
  hub.receive(one.port, { send: 'follow', thread: 'a', cursor: 'h:1' });
  hub.receive(two.port, { send: 'follow', thread: 'b', cursor: 'h:5' });
  vi.advanceTimersByTime(20);

  expect(sources.filter((source) => !source.isClosed)).toHaveLength(1);
  expect(threadsOf(last())).toBe('a@h:1,b@h:5');
  last().fire('message', activity('a', 2));
  expect([one.steps(), two.steps()]).toEqual([[2], []]);
});

test('a connection that is lost is made again from the last activity, later each time', () => {
  const hub = makeHub();
  const tab = makeTab(hub);
  hub.receive(tab.port, { send: 'follow', thread: 'a', cursor: 'h:1' });
  vi.advanceTimersByTime(20);
  last().fire('message', activity('a', 7));
  last().fire('error');
  expect(tab.heard.at(-1)).toMatchObject({ event: 'link', up: false });
  vi.advanceTimersByTime(301);
  expect(threadsOf(last())).toBe('a@h:7');
  const count = sources.length;
  last().fire('error');
  vi.advanceTimersByTime(301);
  expect(sources).toHaveLength(count);
  vi.advanceTimersByTime(301);
  expect(sources).toHaveLength(count + 1);
  last().fire('open');
  expect(tab.heard.at(-1)).toMatchObject({ event: 'link', up: true, failures: 0 });
});

test('a tab that is behind the others gets what it lacks', () => {
  const hub = makeHub();
  const [one, two] = [makeTab(hub), makeTab(hub)];
  hub.receive(one.port, { send: 'follow', thread: 'a', cursor: 'h:1' });
  vi.advanceTimersByTime(20);
  last().fire('message', activity('a', 9));
  hub.receive(two.port, { send: 'follow', thread: 'a', cursor: 'h:4' });
  vi.advanceTimersByTime(20);
  expect(threadsOf(last())).toBe('a@h:4');
});

test('a tab that is ahead needs no other connection', () => {
  const hub = makeHub();
  const [one, two] = [makeTab(hub), makeTab(hub)];
  hub.receive(one.port, { send: 'follow', thread: 'a', cursor: 'h:1' });
  vi.advanceTimersByTime(20);
  const count = sources.length;
  hub.receive(two.port, { send: 'follow', thread: 'a', cursor: 'h:4' });
  vi.advanceTimersByTime(20);
  expect(sources).toHaveLength(count);
});

test('a tab that was forgotten is told to follow again', () => {
  const hub = makeHub();
  const tab = makeTab(hub);
  hub.receive(tab.port, { send: 'bye' });
  hub.receive(tab.port, { send: 'alive' });
  expect(tab.heard.at(-1)).toEqual({ event: 'forgotten' });
});

const linkOf = (heard: readonly FromHub[]) => heard.findLast((message) => message.event === 'link');

test('a server that hangs is found out, though no connection is closed', async () => {
  const hub = makeHub(() => Promise.reject(new Error('no answer')));
  const tab = makeTab(hub);
  last().fire('open');
  await vi.advanceTimersByTimeAsync(14_000);
  expect(linkOf(tab.heard)).toMatchObject({ up: true });
  await vi.advanceTimersByTimeAsync(6_000);
  expect(linkOf(tab.heard)).toMatchObject({ up: false });
  last().fire('open');
  expect(linkOf(tab.heard)).toMatchObject({ up: true });
});

test('a server that answers, and has nothing to say, is not given up', async () => {
  const ask = vi.fn(() => Promise.resolve());
  const tab = makeTab(makeHub(ask));
  last().fire('open');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(linkOf(tab.heard)).toMatchObject({ up: true });
  expect(ask.mock.calls.length).toBeLessThan(6);
});

test('a request that failed has the server asked at once', async () => {
  const hub = makeHub(() => Promise.reject(new Error('no answer')));
  const tab = makeTab(hub);
  last().fire('open');
  hub.receive(tab.port, { send: 'check' });
  await vi.advanceTimersByTimeAsync(0);
  expect(linkOf(tab.heard)).toMatchObject({ up: false });
});
