import type { CSSProperties } from 'react';
import { Badge } from './Badge';
import { plural } from '../parts/format';
import { formatUsd } from './figures';
import { letterOf, modelLabel, nameOf, roundId, roundTitle, type RoundRow } from './reading';
import { TurnCell } from './TurnCell';
import type { Debate, Quality } from './types';

/** The widths of the columns; the one that is widened takes twice the room. */
export function columnStyle(ids: readonly string[], wide: string | null): CSSProperties {
  const columns = ids.map((id) => (id === wide ? 'minmax(var(--wide), 2.2fr)' : 'minmax(var(--column), 1fr)'));
  const widths = ids.map((id) => (id === wide ? 'var(--wide)' : 'var(--column)'));
  return { '--columns': columns.join(' '), '--sheet': `calc(${widths.join(' + ')})` } as CSSProperties;
}

export function Names({
  debate,
  wide,
  onWiden,
}: {
  debate: Debate;
  wide: string | null;
  onWiden: (id: string) => void;
}) {
  return (
    <div className="debate-names debate-row">
      {debate.participants.map((one) => (
        <h2 key={one.id} className={`side-${letterOf(debate, one.id)}`}>
          <button
            type="button"
            aria-pressed={wide === one.id}
            onClick={() => onWiden(one.id)}
            title={wide === one.id ? 'Make all columns equal' : 'Widen this column'}
          >
            <Badge letter={letterOf(debate, one.id)} />
            <span className="name">
              {one.name} · {one.position}
            </span>
            <span className="model">{modelLabel(one.model)}</span>
            <svg className="widen" viewBox="0 0 16 10" aria-hidden="true">
              <path
                d={
                  wide === one.id
                    ? 'M1 5H7M4.5 2.5L7 5L4.5 7.5M15 5H9M11.500 2.5L9 5L11.500 7.5'
                    : 'M7 5H1M3.5 2.5L1 5L3.5 7.5M9 5H15M12.500 2.5L15 5L12.500 7.5'
                }
              />
            </svg>
          </button>
        </h2>
      ))}
    </div>
  );
}

function QualityNotes({ debate, quality }: { debate: Debate; quality: Quality }) {
  return (
    <>
      {quality.loops.map((id) => (
        <li key={id}>{nameOf(debate, id)} repeats earlier arguments</li>
      ))}
      {quality.contradictions.map((one, index) => (
        <li key={index}>
          {nameOf(debate, one.participantId)} contradicts an earlier turn: “{one.earlier}” and now “{one.now}”
        </li>
      ))}
    </>
  );
}

function RoundHead({ debate, row }: { debate: Debate; row: RoundRow }) {
  const { round } = row;
  const q = round?.quality;
  return (
    <header className="round-head debate-wide">
      <h3>
        {roundTitle(row.phase, row.roundNumber)}
        {round?.partial ? ', cut short' : ''}
      </h3>
      {round !== null && q !== undefined && (
        <p className="turn-foot">
          {plural(round.tokensUsed, 'token')} · {formatUsd(round.costThisRound)} ·{' '}
          <span
            title={`novelty ${q.novelty}, repetition ${q.repetition}, convergence ${q.convergence}; computed from the words alone`}
          >
            health {q.health.toFixed(1)} of 10
          </span>
        </p>
      )}
      {q !== undefined && (q.loops.length > 0 || q.contradictions.length > 0) && (
        <ul className="round-notes">
          <QualityNotes debate={debate} quality={q} />
        </ul>
      )}
    </header>
  );
}

/** One round: the turns side by side, and what people have said in it. */
export function RoundSection({ debate, row }: { debate: Debate; row: RoundRow }) {
  return (
    <section
      className="round"
      id={roundId(row.phase, row.roundNumber)}
      tabIndex={-1}
      aria-label={roundTitle(row.phase, row.roundNumber)}
      data-current={row.isCurrent ? true : undefined}
    >
      <RoundHead debate={debate} row={row} />
      <div className="debate-row">
        {debate.participants.map((speaker) => (
          <TurnCell key={speaker.id} debate={debate} row={row} speaker={speaker} />
        ))}
      </div>
      {row.interjections.map((one, index) => (
        <blockquote key={index} className="interjection debate-wide">
          <span>From the audience</span> {one.text}
        </blockquote>
      ))}
    </section>
  );
}
