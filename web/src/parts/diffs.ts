/** Changes of files as lines with signs. */

export interface DiffLine {
  sign: '+' | '−' | ' ' | '@';
  text: string;
}

export interface FileDiff {
  path: string;
  lines: DiffLine[];
  added: number;
  removed: number;
}

function countLines(path: string, lines: DiffLine[]): FileDiff {
  const count = (sign: string) => lines.filter((line) => line.sign === sign).length;
  return { path, lines, added: count('+'), removed: count('−') };
}

/** Parse the unified diff of one file. */
export function parseDiff(diff: string, path = ''): FileDiff {
  const lines: DiffLine[] = [];
  let name = path;
  let isHead = true;
  for (const line of diff.split('\n')) {
    if (isHead && line.startsWith('--- ')) continue;
    if (isHead && line.startsWith('+++ ')) {
      name ||= line.slice(4);
      continue;
    }
    if (line.startsWith('@@')) {
      isHead = false;
      lines.push({ sign: '@', text: line });
    } else if (line.startsWith('+')) lines.push({ sign: '+', text: line.slice(1) });
    else if (line.startsWith('-')) lines.push({ sign: '−', text: line.slice(1) });
    else lines.push({ sign: ' ', text: line.startsWith(' ') ? line.slice(1) : line });
  }
  return countLines(name, lines);
}

function signed(sign: '+' | '−', text: string): DiffLine[] {
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => ({ sign, text: line }));
}

/** The change that the arguments of a file tool describe, or null: nothing is known of the file before. */
export function diffOfInput(name: string, input: unknown): FileDiff | null {
  if (typeof input !== 'object' || input === null) return null;
  const { path, content, old, new: replacement } = input as Record<string, unknown>;
  if (typeof path !== 'string') return null;
  if (name === 'write_file' && typeof content === 'string') return countLines(path, signed('+', content));
  if (name === 'edit_file' && typeof old === 'string' && typeof replacement === 'string') {
    return countLines(path, [...signed('−', old), ...(replacement === '' ? [] : signed('+', replacement))]);
  }
  return null;
}
