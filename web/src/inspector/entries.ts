// Entries of a journal, as the server sends them.
import { eventLabel, valueLabel } from './chart/labels';
import type { Json, JsonObject } from './chart/model';

export interface Entry {
  seq: number;
  at: number;
  to: string;
  event: JsonObject;
  letter?: string | null;
  value: Json;
  status: string | null;
  emitted?: Json[];
}

export const eventType = (entry: Entry): string => String(entry.event['type'] ?? '');

/** The name of an event in a list. */
export const entryLabel = (entry: Entry): string => eventLabel(eventType(entry), '').replace(/^antiphon\./, '');

/** Entries whose event, recipient or state contains all words of a text; `-word` leaves entries out. */
export function filterEntries(entries: readonly Entry[], text: string): Entry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [...entries];
  return entries.filter((entry) => {
    const line = `${eventType(entry)} ${entry.to} ${valueLabel(entry.value)} #${entry.seq}`.toLowerCase();
    return words.every((word) =>
      word.length > 1 && word.startsWith('-') ? !line.includes(word.slice(1)) : line.includes(word),
    );
  });
}

/** A state that an actor had at a step. */
export interface KnownState {
  value: Json;
  seq: number;
}

/** The last state of an actor up to a step that its own entries have; a letter to another actor may have changed it. */
export function stateAt(entries: readonly Entry[], address: string, seq: number): KnownState | null {
  let state: KnownState | null = null;
  for (const entry of entries) {
    if (entry.seq > seq) break;
    if (entry.to === address && entry.value !== null && entry.value !== undefined)
      state = { value: entry.value, seq: entry.seq };
  }
  return state;
}

/** The addresses of the actors that took a letter, the root first. */
export function addressesOf(entries: readonly Entry[]): string[] {
  return [...new Set(['', ...entries.map((entry) => entry.to)])].sort();
}
