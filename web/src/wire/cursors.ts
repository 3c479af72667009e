/** A place in the journal of a thread: `history:step` after a whole step, `history:step.part` within one. */
export interface Place {
  history: string;
  step: number;
  part: number;
}

export function parseCursor(cursor: string): Place {
  const colon = cursor.lastIndexOf(':');
  const [step = '0', part] = cursor.slice(colon + 1).split('.');
  return {
    history: cursor.slice(0, Math.max(colon, 0)),
    step: Number(step),
    part: part === undefined ? Infinity : Number(part),
  };
}

/** Negative if the first place is before the second. */
export function compareCursors(first: string, second: string): number {
  const a = parseCursor(first);
  const b = parseCursor(second);
  if (a.step !== b.step) return a.step - b.step;
  return a.part === b.part ? 0 : a.part - b.part;
}
