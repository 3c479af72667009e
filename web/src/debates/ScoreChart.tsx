import { useSyncExternalStore } from 'react';
import { letterOf, nameOf } from './reading';
import { spread } from './spread';
import type { Debate } from './types';

/** Room in the drawing: beside the lines for the names, or above them where it is narrow. */
const ROOMY = { left: 128, right: 600, width: 620, row: 44, top: 44, name: 5 };
const NARROW = { left: 14, right: 346, width: 360, row: 62, top: 62, name: -30 };
type Room = typeof ROOMY;
const AXIS = [0, 25, 50, 75, 100];
interface Mark {
  id: string;
  letter: string;
  score: number;
}

const place = (score: number, room: Room): number => room.left + (score / 100) * (room.right - room.left);

const query = matchMedia('(max-width: 760px)');

function useRoom(): Room {
  const isNarrow = useSyncExternalStore(
    (listener) => {
      query.addEventListener('change', listener);
      return () => query.removeEventListener('change', listener);
    },
    () => query.matches,
  );
  return isNarrow ? NARROW : ROOMY;
}

function MarkShape({ letter, cx }: { letter: string; cx: number }) {
  const common = { className: `score-mark side-${letter}` };
  if (letter === 'A') return <circle cx={cx} cy={0} r={9} {...common} />;
  if (letter === 'B') return <rect x={cx - 8} y={-8} width={16} height={16} rx={2} {...common} />;
  if (letter === 'C') return <path d={`M${cx} -10L${cx + 10} 8H${cx - 10}Z`} {...common} />;
  return <path d={`M${cx} -10L${cx + 10} 0L${cx} 10L${cx - 10} 0Z`} {...common} />;
}

function ScoreRow({ name, marks, y, room }: { name: string; marks: readonly Mark[]; y: number; room: Room }) {
  const ordered = [...marks].sort((a, b) => a.score - b.score);
  const places = spread(ordered.map((mark) => place(mark.score, room)));
  return (
    <g transform={`translate(0 ${y})`}>
      <text x={0} y={room.name} className="score-name">
        {name}
      </text>
      <path d={`M${room.left} 0H${room.right}`} className="score-line" />
      <path d={`M${places[0]} 0H${places.at(-1)}`} className="score-span" />
      {ordered.map((mark, index) => {
        const cx = places[index] ?? 0;
        return (
          <g key={mark.id}>
            <MarkShape letter={mark.letter} cx={cx} />
            <text x={cx} y={mark.letter === 'C' ? 6 : 4} className="score-letter" textAnchor="middle">
              {mark.letter}
            </text>
            <text x={cx} y={-13} textAnchor="middle">
              {mark.score}
            </text>
          </g>
        );
      })}
    </g>
  );
}

/** The scores of the debaters by criterion, and in total, each with a shape and a letter of its own. */
export function ScoreChart({ debate }: { debate: Debate }) {
  const room = useRoom();
  const { verdict } = debate;
  if (verdict === null) return null;
  const marksOf = (scores: Record<string, number | string>): Mark[] =>
    debate.participants
      .filter((one) => typeof scores[one.id] === 'number')
      .map((one) => ({ id: one.id, letter: letterOf(debate, one.id), score: scores[one.id] as number }));
  const rows = Object.entries(verdict.criteria).flatMap(([name, scores]) =>
    typeof scores === 'string' ? [] : [{ name, marks: marksOf(scores) }],
  );
  const shown = [...rows, { name: 'overall', marks: marksOf(verdict.scores) }].filter((row) => row.marks.length > 0);
  const label = shown
    .map(({ name, marks }) => `${name} ${marks.map((mark) => `${nameOf(debate, mark.id)} ${mark.score}`).join(', ')}`)
    .join('; ');
  const height = room.top + shown.length * room.row - 18;
  return (
    <svg
      className="score-chart"
      viewBox={`0 0 ${room.width} ${height}`}
      role="img"
      aria-label={`Scores of the judge: ${label}`}
    >
      {AXIS.map((score) => (
        <g key={score}>
          <path d={`M${place(score, room)} 18V${height}`} className="score-grid" />
          <text x={place(score, room)} y={11} textAnchor="middle">
            {score}
          </text>
        </g>
      ))}
      {shown.map(({ name, marks }, index) => (
        <ScoreRow key={name} name={name} marks={marks} y={room.top + 2 + index * room.row} room={room} />
      ))}
    </svg>
  );
}
