/** What this browser keeps of debates: the wide column, warnings that were put off, and words that were not sent. */
import { createInterfaceStore } from '@antiphon/machines';
import { useStore } from '@antiphon/machines/react';
import { kept } from '../parts/storage';

const MOST_CLOSED = 50;
const store = createInterfaceStore(kept);

/** The participant whose column is wide, or null, and a way to change it: the same one again makes all equal. */
export function useWideColumn(thread: string): [string | null, (participant: string) => void] {
  const focused = useStore(store, (state) => state.focusedParticipant);
  const prefix = `${thread}/`;
  const wide = focused.startsWith(prefix) ? focused.slice(prefix.length) : null;
  return [wide, (participant) => store.set({ focusedParticipant: participant === wide ? '' : prefix + participant })];
}

/** Whether a warning was closed here without an answer, and a way to close it or open it again. */
export function useClosedWarning(thread: string, threshold: string): [boolean, (isClosed: boolean) => void] {
  const name = `${thread}@${threshold}`;
  const isClosed = useStore(store, (state) => state.closedWarnings.includes(name));
  const set = (value: boolean) => {
    const others = store.get().closedWarnings.filter((one) => one !== name);
    store.set({ closedWarnings: value ? [...others, name].slice(-MOST_CLOSED) : others });
  };
  return [isClosed, set];
}

/** Words to the debaters that were not sent yet. */
export function useDraft(thread: string): [string, (text: string) => void] {
  const text = useStore(store, (state) => state.drafts[thread] ?? '');
  const set = (value: string) => {
    const { [thread]: _, ...others } = store.get().drafts;
    store.set({ drafts: value === '' ? others : { ...others, [thread]: value } });
  };
  return [text, set];
}
