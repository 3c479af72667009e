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

/** The state value of an actor after a step, as far as its own entries tell. */
export function valueAt(entries: readonly Entry[], address: string, seq: number): Json {
  let value: Json = null;
  for (const entry of entries) {
    if (entry.seq > seq) break;
    if (entry.to === address && entry.value !== null && entry.value !== undefined) value = entry.value;
  }
  return value;
}

/** The addresses of the actors that took a letter, the root first. */
export function addressesOf(entries: readonly Entry[]): string[] {
  return [...new Set(['', ...entries.map((entry) => entry.to)])].sort();
}
