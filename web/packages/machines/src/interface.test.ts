import { createActor } from 'xstate';
import { expect, test } from 'vitest';
import { DebateSnapshot } from './debate/debate.ts';
import { FIRST_INTERFACE, type Storage, createInterfaceStore } from './interface.ts';
import { streamingMachine } from './streaming/machine.ts';

class Kept implements Storage {
  constructor(readonly items: Record<string, string> = {}) {}
  getItem = (key: string): string | null => this.items[key] ?? null;
  setItem = (key: string, value: string): void => void (this.items[key] = value);
}

test('S4-119 S0-98 · what is folded, focused or half written is no state of a machine', () => {
  const actor = createActor(streamingMachine, { input: {} }).start();
  const store = createInterfaceStore();
  const before = actor.getSnapshot();
  store.set({ drafts: { t: 'Half a' }, focusedParticipant: 'for', isThinkingShown: true });

  expect(actor.getSnapshot()).toBe(before);
  const known = [...Object.keys(before.context), ...Object.keys(new DebateSnapshot(null).context)];
  expect(known.filter((key) => key in FIRST_INTERFACE)).toEqual([]);
});

test('S4-119 · a machine that goes on leaves the interface as it is', () => {
  const actor = createActor(streamingMachine, { input: {} }).start();
  const store = createInterfaceStore();
  store.set({ drafts: { t: 'Half a' } });
  let changes = 0;
  store.subscribe(() => (changes += 1));
  actor.send({ type: 'SEND', prompt: 'Hello' });

  expect(store.get().drafts).toEqual({ t: 'Half a' });
  expect(changes).toBe(0);
});

test('S0-98 S0-68 · it is kept in the browser, and read again as far as it has the right types', () => {
  const kept = new Kept();
  createInterfaceStore(kept).set({ drafts: { t: 'Half a' } });
  expect(createInterfaceStore(kept).get().drafts).toEqual({ t: 'Half a' });

  const odd = new Kept({ 'antiphon.interface': '{"isThinkingShown": "yes", "lastThread": "t", "__proto__": {"x": 1}, "drafts": []}' });
  expect(createInterfaceStore(odd).get()).toEqual({ ...FIRST_INTERFACE, lastThread: 't' });
  expect(createInterfaceStore(new Kept({ 'antiphon.interface': 'no JSON' })).get()).toEqual(FIRST_INTERFACE);
});

test('S0-B15 · the thinking of models is folded at first', () => {
  expect(createInterfaceStore().get().isThinkingShown).toBe(false);
});

test('a storage that is forbidden or full disturbs nothing', () => {
  const forbidden: Storage = {
    getItem: () => { throw new Error('denied'); },
    setItem: () => { throw new Error('full'); },
  };
  const store = createInterfaceStore(forbidden);
  store.set({ lastThread: 't' });

  expect(store.get().lastThread).toBe('t');
});
