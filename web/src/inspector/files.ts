// Files that are dropped on the page: charts, journals that the page has saved, and exports of `antiphon db export`.
import { ChartProblem, isObject, type Json, type JsonObject, toChart } from './chart/model';
import type { Entry } from './entries';

export interface Journal {
  id: string;
  machine: string;
  hash: string;
  entries: Entry[];
  /** Charts by the address of their actors, as far as the file has them. */
  charts: Record<string, JsonObject>;
  /** States of the actors after the last step, by their addresses, as far as the file has them. */
  states: Record<string, Json>;
}

export type OpenedFile =
  { kind: 'chart'; name: string; config: JsonObject } | { kind: 'journals'; name: string; journals: Journal[] };

export class FileProblem extends Error {}

export const JOURNAL_FORMAT = 1;

/** Read a chart or journals from the text of a file. */
export function readFile(name: string, text: string): OpenedFile {
  const value = parse(text);
  if (value === undefined) return { kind: 'journals', name, journals: readExport(name, text) };
  if (!isObject(value)) throw new FileProblem(`${name} holds neither a chart nor a journal`);
  if (value['antiphon'] === 'journal') return { kind: 'journals', name, journals: [readJournal(name, value)] };
  if (value['antiphon'] === 'export') return { kind: 'journals', name, journals: readExport(name, text) };
  if (isObject(value['config']) && isObject(value['config']['states']))
    return { kind: 'chart', name, config: checkChart(name, value['config']) };
  return { kind: 'chart', name, config: checkChart(name, value) };
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text.replace(/^\ufeff/, '')) as Json;
  } catch {
    return undefined;
  }
}

function checkChart(name: string, config: JsonObject): JsonObject {
  try {
    toChart(config);
  } catch (error) {
    if (error instanceof ChartProblem) throw new FileProblem(`${name}: ${error.message}`);
    throw error;
  }
  return config;
}

function readJournal(name: string, value: JsonObject): Journal {
  if (value['format'] !== JOURNAL_FORMAT)
    throw new FileProblem(`${name} has the format ${String(value['format'])}; this page reads ${JOURNAL_FORMAT}`);
  const entries = Array.isArray(value['entries']) ? value['entries'].flatMap((each) => readEntry(each)) : [];
  if (!entries.length) throw new FileProblem(`${name} has no entries`);
  const charts = isObject(value['charts']) ? value['charts'] : {};
  const kept = Object.entries(charts).filter((pair): pair is [string, JsonObject] => isObject(pair[1]));
  return {
    id: String(value['id'] ?? name),
    machine: String(value['machine'] ?? ''),
    hash: String(value['hash'] ?? ''),
    entries,
    charts: Object.fromEntries(kept),
    states: isObject(value['states']) ? value['states'] : {},
  };
}

/** Read the lines of an export of a store: each tree is followed by its steps. */
function readExport(name: string, text: string): Journal[] {
  const journals: Journal[] = [];
  text.split('\n').forEach((line, index) => {
    if (!line.trim()) return;
    const record = parse(line);
    if (!isObject(record))
      throw new FileProblem(`${name}: line ${index + 1} is not JSON; this page reads charts and journals`);
    if (index === 0 && record['antiphon'] !== 'export')
      throw new FileProblem(`${name} is no export of \`antiphon db export\``);
    if (isObject(record['tree'])) {
      const { id, machine, hash } = record['tree'];
      journals.push({ id: String(id), machine: String(machine), hash: String(hash ?? ''), entries: [], charts: {}, states: {} });
    }
    if (isObject(record['step'])) journals.at(-1)?.entries.push(...readEntry(record['step']));
  });
  const full = journals.filter((journal) => journal.entries.length);
  if (!full.length) throw new FileProblem(`${name} has no journals`);
  return full;
}

/** Read an entry of a page of the server, or a step of an export; one whose body was removed is left out. */
function readEntry(value: Json): Entry[] {
  if (!isObject(value)) return [];
  const body = isObject(value['body']) ? value['body'] : value;
  const event = body['event'];
  if (!isObject(event) || typeof value['seq'] !== 'number') return [];
  return [
    {
      seq: value['seq'],
      at: Number(value['at'] ?? 0),
      to: String(value['to'] ?? ''),
      event,
      value: body['value'] ?? null,
      status: typeof body['status'] === 'string' ? body['status'] : null,
    },
  ];
}

/** The text of a journal to be saved and opened again without a server. */
export function writeJournal(journal: Journal): string {
  const { id, machine, hash, charts, states, entries } = journal;
  const content = { antiphon: 'journal', format: JOURNAL_FORMAT, id, machine, hash, charts, states, entries };
  return `${JSON.stringify(content, null, 1)}\n`;
}
