/** Arguments of calls that a person changes. */

/** JSON with sorted names, so that the same arguments are the same text. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const names = Object.keys(value).toSorted();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical((value as Record<string, unknown>)[name])}`).join(',')}}`;
}

export type Draft = Readonly<Record<string, string>>;

/** The arguments as fields of text: strings as they are, other values as JSON. */
export function draftOf(value: unknown): Draft {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, typeof item === 'string' ? item : JSON.stringify(item)]),
  );
}

/** The arguments of a draft, or the name of the field that is not JSON. */
export function readDraft(draft: Draft, original: unknown): { value: Record<string, unknown> } | { wrong: string } {
  const value: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(draft)) {
    const former = (original as Record<string, unknown>)[name];
    try {
      value[name] = typeof former === 'string' ? text : (JSON.parse(text) as unknown);
    } catch {
      return { wrong: name };
    }
  }
  return { value };
}
