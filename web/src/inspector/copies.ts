/** A journal as a test or as a file: both need all of its steps. */
import { get } from '../wire/http';
import type { EntryList } from '../wire/types';
import { isObject, type Json, type JsonObject } from './chart/model';
import type { Entry } from './entries';
import type { Journal } from './files';
import { writeTest } from './snippet';
import { actorPath, loadChart, loadStep } from './tree';

const PAGE = 1000;

async function allEntries(id: string, last: number): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (;;) {
    const after = entries.at(-1)?.seq ?? 0;
    const page = await get<EntryList>(actorPath(id, `/journal?limit=${PAGE}&after=${after}`));
    entries.push(...(page.items as Entry[]).filter((entry) => entry.seq <= last));
    if (page.next === null || (entries.at(-1)?.seq ?? 0) >= last) return entries;
  }
}

/** The text of a test that takes the steps of a tree again, up to one of them. */
export async function testOf(id: string, history: string, last: number, source: string | null): Promise<string> {
  const entries = await allEntries(id, last);
  const [first] = entries;
  const begins = first?.event['type'] === 'xstate.init';
  const snapshot = first && !begins ? ((await loadStep(id, history, first.seq)).snapshot as Json) : null;
  const step = await loadStep(id, history, last);
  const end = step.snapshot as JsonObject;
  return writeTest({
    id,
    machine: step.actors[0]?.machine ?? '',
    source,
    history,
    entries,
    snapshot,
    value: end['value'] ?? null,
    context: end['context'] ?? null,
  });
}

/** A journal with the charts and the states of the actors that it has at its end. */
export async function journalOf(id: string, history: string, last: number): Promise<Journal> {
  const entries = await allEntries(id, last);
  const step = await loadStep(id, history, last);
  const charts: Record<string, JsonObject> = {};
  for (const { address, machine, hash } of step.actors) {
    if (machine === null || hash === null) continue;
    const { config } = await loadChart(machine, hash);
    if (isObject(config)) charts[address] = config;
  }
  const states = Object.fromEntries(step.actors.map(({ address, value, status }) => [address, (value ?? status) as Json]));
  return { id, machine: step.actors[0]?.machine ?? '', hash: step.actors[0]?.hash ?? '', entries, charts, states };
}

export function saveFile(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
