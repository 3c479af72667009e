/** The track beside a conversation: where other branches leave it, and where they join it again. */
import { pathTo, type ChatContent, type ChatMessage } from './content';

export interface Fork {
  branch: string;
  /** Messages that only the branch has. */
  count: number;
  at: number | null;
  isClosed: boolean;
  lane: number;
}

export interface TrackRow {
  /** Branches that leave after the message. */
  forks: readonly Fork[];
  /** Lanes that pass beside the message. */
  passing: readonly number[];
  /** Lanes that join at the message. */
  joining: readonly number[];
}

const MOST_LANES = 2;
const NONE: TrackRow = { forks: [], passing: [], joining: [] };

interface Line extends Fork {
  from: number;
  to: number | null;
}

function linesOf(content: ChatContent, path: readonly ChatMessage[]): Line[] {
  const place = new Map(path.map((message, index) => [message.id, index]));
  const merges = new Map(
    path.flatMap((message, index) => (message.mergedFrom === undefined ? [] : [[message.mergedFrom, index] as const])),
  );
  const lines: Line[] = [];
  for (const [branches, isClosed] of [
    [content.branches, false],
    [content.closed, true],
  ] as const) {
    for (const branch of Object.values(branches)) {
      if (branch.name === content.branch) continue;
      const own = pathTo(content.messages, branch.head);
      const first = own.findIndex((message) => !place.has(message.id));
      if (first < 0) continue;
      const from = first === 0 ? -1 : (place.get(own[first - 1]?.id ?? '') ?? -1);
      const to = merges.get(branch.head ?? '') ?? null;
      lines.push({
        branch: branch.name,
        count: own.length - first,
        at: own[first]?.at ?? null,
        isClosed,
        lane: 0,
        from,
        to,
      });
    }
  }
  return lines.sort((a, b) => a.from - b.from);
}

/** What the track shows beside each message of a path; index -1 is the place before the first one. */
export function trackOf(content: ChatContent, path: readonly ChatMessage[]): Map<number, TrackRow> {
  const rows = new Map<number, { forks: Fork[]; passing: number[]; joining: number[] }>();
  const row = (index: number) => {
    const known = rows.get(index) ?? { forks: [], passing: [], joining: [] };
    rows.set(index, known);
    return known;
  };
  const busyUntil: number[] = [];
  for (const line of linesOf(content, path)) {
    let lane = busyUntil.findIndex((end) => end <= line.from);
    if (lane < 0) lane = Math.min(busyUntil.length, MOST_LANES - 1);
    busyUntil[lane] = line.to ?? line.from + 1;
    const { from, to, ...fork } = line;
    row(from).forks.push({ ...fork, lane });
    if (to === null) continue;
    for (let index = from + 1; index < to; index += 1) row(index).passing.push(lane);
    row(to).joining.push(lane);
  }
  return rows;
}

export const trackAt = (track: Map<number, TrackRow>, index: number): TrackRow => track.get(index) ?? NONE;
