import { Fragment } from 'react';
import { letterOf, nameOf } from './reading';
import type { Debate } from './types';

const LEFT = 128;
const RIGHT = 600;
const ROW = 44;
const TOP = 40;
const AXIS = [0, 25, 50, 75, 100];
/** Labels of marks that are nearer than this are above and below the line. */
const NEAR = 9;

const x = (score: number): number => LEFT + (score / 100) * (RIGHT - LEFT);

interface Mark {
  id: string;
  letter: string;
  score: number;
}

function MarkShape({ letter, cx }: { letter: string; cx: number }) {
  const common = { className: `score-mark side-${letter}` };
  if (letter === 'A') return <circle cx={cx} cy={0} r={9} {...common} />;
  if (letter === 'B') return <rect x={cx - 8} y={-8} width={16} height={16} rx={2} {...common} />;
  if (letter === 'C') return <path d={`M${cx} -10L${cx + 10} 8H${cx - 10}Z`} {...common} />;
  return <path d={`M${cx} -10L${cx + 10} 0L${cx} 10L${cx - 10} 0Z`} {...common} />;
}

/** Places for labels: in the order of scores, one above and one below where they would meet. */
function labelPlaces(marks: readonly Mark[]): Map<string, boolean> {
  const isBelow = new Map<string, boolean>();
  let last: Mark | null = null;
  for (const mark of [...marks].sort((a, b) => a.score - b.score)) {
    isBelow.set(mark.id, last !== null && mark.score - last.score < NEAR && isBelow.get(last.id) === false);
    last = mark;
  }
  return isBelow;
}

function ScoreRow({ name, marks, y }: { name: string; marks: readonly Mark[]; y: number }) {
  const scores = marks.map((mark) => mark.score);
  const places = labelPlaces(marks);
  const isLevel = new Set(scores).size === 1;
  return (
    <g transform={`translate(0 ${y})`}>
      <text x={0} y={5} className="score-name">{name}</text>
      <path d={`M${LEFT} 0H${RIGHT}`} className="score-line" />
      <path d={`M${x(Math.min(...scores))} 0H${x(Math.max(...scores))}`} className="score-span" />
      {marks.map((mark, index) => {
        // Marks of the same score stand side by side.
        const cx = x(mark.score) + (isLevel ? (index - (marks.length - 1) / 2) * 19 : 0);
        return (
          <Fragment key={mark.id}>
            <MarkShape letter={mark.letter} cx={cx} />
            <text x={cx} y={4} className="score-letter" textAnchor="middle">{mark.letter}</text>
            <text x={cx} y={places.get(mark.id) === true ? 23 : -13} textAnchor="middle">{mark.score}</text>
          </Fragment>
        );
      })}
    </g>
  );
}

/** The scores of the debaters by criterion, and in total, each with a shape and a letter of its own. */
export function ScoreChart({ debate }: { debate: Debate }) {
  const { verdict } = debate;
  if (verdict === null) return null;
  const marksOf = (scores: Record<string, number | string>): Mark[] =>
    debate.participants
      .filter((one) => typeof scores[one.id] === 'number')
      .map((one) => ({ id: one.id, letter: letterOf(debate, one.id), score: scores[one.id] as number }));
  const rows = Object.entries(verdict.criteria).flatMap(([name, scores]) => (typeof scores === 'string' ? [] : [{ name, marks: marksOf(scores) }]));
  const shown = [...rows, { name: 'overall', marks: marksOf(verdict.scores) }].filter((row) => row.marks.length > 0);
  const label = shown.map(({ name, marks }) => `${name} ${marks.map((mark) => `${nameOf(debate, mark.id)} ${mark.score}`).join(', ')}`).join('; ');
  return (
    <svg className="score-chart" viewBox={`0 0 620 ${TOP + shown.length * ROW}`} role="img" aria-label={`Scores of the judge: ${label}`}>
      {AXIS.map((score) => (
        <g key={score}>
          <path d={`M${x(score)} 20V${TOP + shown.length * ROW - 14}`} className="score-grid" />
          <text x={x(score)} y={12} textAnchor="middle">{score}</text>
        </g>
      ))}
      {shown.map(({ name, marks }, index) => <ScoreRow key={name} name={name} marks={marks} y={TOP + 8 + index * ROW} />)}
    </svg>
  );
}
