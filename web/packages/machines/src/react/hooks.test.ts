/** What hooks return at the first render; what they do later is tested in a browser. */
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import { createInterfaceStore } from '../interface.ts';
import type { OpenedThread } from '../transport.ts';
import { useDebateMachine, useDebateState, useStore, useStreamingMachine, useThreadMachine } from './index.ts';

/** Return what a hook returns when it is rendered once. */
function rendered<T>(hook: () => T): T {
  let value: T | undefined;
  const Probe = (): null => {
    value = hook();
    return null;
  };
  renderToString(createElement(Probe));
  return value as T;
}

const PAGE: OpenedThread = {
  id: 'd', kind: 'debate', status: 'running', can: { '': ['STOP'], debate: ['PAUSE'] }, content: { state: 'debating', maxRounds: 2 },
};
const sent: unknown[] = [];
const server = {
  snapshot: () => PAGE,
  subscribe: () => () => undefined,
  send: async (event: unknown) => void sent.push(event),
};

test('S0-56 S0-T23 · useStreamingMachine begins idle', () => {
  const chat = rendered(() => useStreamingMachine({ subscribe: () => () => undefined, send: async () => undefined }));

  expect(chat).toMatchObject({ state: 'idle', isLoading: false, isError: false, isComplete: false });
  expect([chat.send, chat.reset, chat.cancel, chat.retry].map((each) => typeof each)).toEqual(Array(4).fill('function'));
});

test('S3-09 · useThreadMachine has the status of the server, and says what can happen', () => {
  const thread = rendered(() => useThreadMachine(server));

  expect(thread).toMatchObject({ status: 'running', isBusy: true });
  expect([thread.can({ type: 'STOP' }), thread.can({ type: 'RESPOND' })]).toEqual([true, false]);
});

test('S4-118 · useDebateMachine gives a snapshot and sends what the server takes', async () => {
  const [state, send] = rendered(() => useDebateMachine(server));
  await send({ type: 'PAUSE' });

  expect(state.matches('debating')).toBe(true);
  await expect(send({ type: 'RESUME' })).rejects.toThrow('RESUME is not possible now; possible: PAUSE');
  expect(sent).toEqual([{ type: 'PAUSE' }]);
});

test('S4-118 · useDebateState gives the figures of the debate', () => {
  expect(rendered(() => useDebateState(server))).toMatchObject({ state: 'debating', maxRounds: 2, isActive: true });
});

test('S4-119 · useStore gives a part of the interface', () => {
  expect(rendered(() => useStore(createInterfaceStore(), (value) => value.isThinkingShown))).toBe(false);
});
