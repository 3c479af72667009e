/** A page that shows what the hooks return, and has a button for everything that they do. */
import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import {
  type DebateEvent, type OpenedThread, SERVER_SETTINGS, ServerChat, type ThreadEvent, type Transport, createInterfaceStore, debateRequest,
} from '@antiphon/machines';
import { useDebateMachine, useDebateState, useStore, useStreamingMachine, useThreadMachine } from '@antiphon/machines/react';

const query = new URLSearchParams(location.search);
const store = createInterfaceStore(localStorage);

async function post(path: string, body: object): Promise<unknown> {
  const response = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  const reply = (await response.json()) as { detail?: string };
  if (!response.ok) throw new Error(reply.detail);
  return reply;
}

/** The page of a thread, read again after each activity. */
function threadTransport<Event>(id: string, send: (event: Event) => Promise<unknown>): Transport<OpenedThread, Event> {
  let page: OpenedThread | null = null;
  const listeners = new Set<() => void>();
  let reading = Promise.resolve();
  const read = (): void => {
    reading = reading.then(async () => {
      page = (await (await fetch(`/threads/${id}`)).json()) as OpenedThread;
      listeners.forEach((listener) => listener());
    }).catch(() => undefined); // the page or the server is going away
  };
  new EventSource(`/threads/${id}/events`).addEventListener('message', read);
  return {
    send,
    snapshot: () => page,
    subscribe(changed) {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
  };
}

function Chat({ chat }: { chat: ServerChat }) {
  const { state, context, isLoading, isError, isComplete, send, cancel, retry, reset } = useStreamingMachine(chat, { input: SERVER_SETTINGS });
  const draft = useStore(store, (value) => value.drafts['chat'] ?? '');
  const [problem, setProblem] = useState('');
  const submit = (): void => void send(draft).catch((error: Error) => setProblem(error.name));
  const flags = Object.entries({ isLoading, isError, isComplete }).filter(([, holds]) => holds).map(([name]) => name);
  return (
    <section aria-label="Chat">
      <output aria-label="State">{state}</output>
      <output aria-label="Flags">{flags.join(' ')}</output>
      <output aria-label="Text">{context.text}</output>
      <output aria-label="Messages">{context.messages.length}</output>
      <output aria-label="Error">{context.error?.message}</output>
      <output aria-label="Tokens">{context.totalTokens}</output>
      <output aria-label="Problem">{problem}</output>
      <input aria-label="Prompt" value={draft} onChange={(event) => store.set({ drafts: { chat: event.target.value } })} />
      <button onClick={submit}>Send</button>
      <button onClick={cancel}>Stop</button>
      <button onClick={() => void retry()}>Retry</button>
      <button onClick={reset}>Reset</button>
    </section>
  );
}

function Thread({ transport }: { transport: Transport<OpenedThread, ThreadEvent> }) {
  const { status, isBusy, can, send } = useThreadMachine(transport);
  const [problem, setProblem] = useState('');
  return (
    <section aria-label="Thread">
      <output aria-label="Status">{status}</output>
      <output aria-label="Busy">{String(isBusy)}</output>
      <output aria-label="Refusal">{problem}</output>
      <button disabled={!can({ type: 'ARCHIVE' })} onClick={() => void send({ type: 'ARCHIVE' })}>Archive</button>
      <button onClick={() => void send({ type: 'STOP' }).catch((error: Error) => setProblem(error.message))}>Stop thread</button>
    </section>
  );
}

const EVENTS: DebateEvent[] = [
  { type: 'START_DEBATE' }, { type: 'PAUSE' }, { type: 'RESUME' }, { type: 'JUDGE_NOW' }, { type: 'ACKNOWLEDGE_WARNING' },
];

function Debate({ transport }: { transport: Transport<OpenedThread, DebateEvent> }) {
  const [state, send] = useDebateMachine(transport);
  const { currentRound, maxRounds, totalCost, verdict, isOver } = useDebateState(transport);
  return (
    <section aria-label="Debate">
      <output aria-label="State">{state.value}</output>
      <output aria-label="Topic">{state.context.topic}</output>
      <output aria-label="Round">{`${currentRound} of ${maxRounds}`}</output>
      <output aria-label="Cost">{totalCost}</output>
      <output aria-label="Winner">{isOver ? verdict?.winner : ''}</output>
      {EVENTS.map((event) => (
        <button key={event.type} disabled={!state.can(event)} onClick={() => void send(event)}>{event.type}</button>
      ))}
    </section>
  );
}

function Page() {
  const [isOpen, setIsOpen] = useState(true);
  return (
    <>
      {isOpen && chat !== null && <Chat chat={chat} />}
      {isOpen && thread !== null && <Thread transport={thread} />}
      {isOpen && debate !== null && <Debate transport={debate} />}
      <button onClick={() => setIsOpen(!isOpen)}>Leave</button>
    </>
  );
}

const chatId = query.get('chat');
const debateId = query.get('debate');
const chat = chatId === null ? null : new ServerChat(chatId);
const thread = chatId === null ? null : threadTransport<ThreadEvent>(chatId, (event) => post(`/actors/${chatId}/events`, { event }));
const debate = debateId === null ? null : threadTransport<DebateEvent>(debateId, (event) => {
  const { path, body } = debateRequest(debateId, event);
  return post(path, body);
});

const root = document.getElementById('root');
if (root !== null) createRoot(root).render(<StrictMode><Page /></StrictMode>);
