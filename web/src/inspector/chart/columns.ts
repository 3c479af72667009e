// Columns for vertical lines, so that no two lines in a column overlap.
export interface Span {
  top: number;
  bottom: number;
}

const SPACE = 4;

/** A column for each span of heights, short spans in the first columns. */
export function assignColumns<Key>(spans: Map<Key, Span>): Map<Key, number> {
  const used: Span[][] = [];
  const columns = new Map<Key, number>();
  const sorted = [...spans].sort(([, a], [, b]) => a.bottom - a.top - (b.bottom - b.top));
  for (const [key, span] of sorted) {
    let column = used.findIndex((taken) => taken.every((other) => isFree(other, span)));
    if (column < 0) column = used.push([]) - 1;
    used[column]?.push(span);
    columns.set(key, column);
  }
  return columns;
}

const isFree = (other: Span, span: Span): boolean => span.bottom < other.top - SPACE || span.top > other.bottom + SPACE;
