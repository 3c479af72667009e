// Long rows in several lines.
const INDENT = '    ';
const isWide = (code: number): boolean => code >= 0x1100 && code <= 0x1ffff && !(code >= 0x1e00 && code < 0x2e80);

/** The width of a text in characters of a monospaced font. */
export function cells(text: string): number {
  let width = 0;
  for (const sign of text) width += isWide(sign.codePointAt(0) ?? 0) ? 2 : 1;
  return width;
}

/** A text in lines of at most `width` cells, indented from the second on; a longer word stays whole. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const joined = line.trim() ? `${line} ${word}` : `${line}${word}`;
    if (line.trim() && cells(joined) > width) {
      lines.push(line);
      line = `${INDENT}${word}`;
    } else {
      line = joined;
    }
  }
  return [...lines, line];
}
