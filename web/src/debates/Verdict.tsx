import { claimsOf, otherReferences } from './claims';
import { plural } from '../parts/format';
import { formatUsd } from './figures';
import { decision, letterOf, modelLabel, nameOf, roundTitle, turnId } from './reading';
import { ScoreChart } from './ScoreChart';
import { showElement } from './showElement';
import { Badge } from './Badge';
import type { Debate, Reference } from './types';

function TurnLink({ debate, turn }: { debate: Debate; turn: Reference }) {
  const letter = letterOf(debate, turn.participantId);
  const title = roundTitle(turn.phase, turn.round);
  const show = (event: React.MouseEvent) => {
    event.preventDefault();
    showElement(turnId(turn));
  };
  return (
    <a className={`turn-link side-${letter}`} href={`#${turnId(turn)}`} onClick={show}>
      {nameOf(debate, turn.participantId)} · {title}
    </a>
  );
}

function Reasons({ debate }: { debate: Debate }) {
  const claims = claimsOf(debate);
  const others = otherReferences(debate, claims);
  return (
    <>
      <p className="verdict-reasons">
        {claims.map((claim, index) => (
          <span key={index}>
            {claim.text}{' '}
            {claim.turns.map((turn) => (
              <TurnLink key={turnId(turn)} debate={debate} turn={turn} />
            ))}
          </span>
        ))}
      </p>
      {others.length > 0 && (
        <p className="verdict-turns">
          The judge also refers to{' '}
          {others.map((turn) => (
            <TurnLink key={turnId(turn)} debate={debate} turn={turn} />
          ))}
        </p>
      )}
    </>
  );
}

function judgeFacts(debate: Debate): string {
  const { judge, verdict, costTracker } = debate;
  const facts = [judge?.name ?? 'Judge'];
  if (judge !== null) facts.push(modelLabel(judge.model));
  if (verdict !== null && verdict.tokensUsed > 0) facts.push(plural(verdict.tokensUsed, 'token'));
  // The cost of a model is that of the judge alone if no debater uses it.
  const model = judge === null ? '' : `${judge.model.provider}:${judge.model.modelId}`;
  const isShared = debate.participants.some((one) => `${one.model.provider}:${one.model.modelId}` === model);
  const cost = costTracker.costByModel[model];
  if (!isShared && cost !== undefined) facts.push(formatUsd(cost));
  return facts.join(' · ');
}

/** The decision of the judge, its scores, and its reasons with links to the turns that they are about. */
export function Verdict({ debate }: { debate: Debate }) {
  const { verdict } = debate;
  if (verdict === null) return null;
  const words = Object.entries(verdict.criteria).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return (
    <section className="verdict debate-wide" id="verdict" data-last tabIndex={-1} aria-labelledby="verdict-title">
      <div className="verdict-words">
        <h2 id="verdict-title">Verdict: {decision(debate)}</h2>
        <Reasons debate={debate} />
        {words.length > 0 && (
          <dl className="verdict-criteria">
            {words.map(([name, text]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{text}</dd>
              </div>
            ))}
          </dl>
        )}
        {debate.stoppedEarly !== null && <p className="turn-foot">The judge was asked early: {debate.stoppedEarly}</p>}
        <p className="turn-foot">{judgeFacts(debate)}</p>
      </div>
      <div className="verdict-chart">
        <ScoreChart debate={debate} />
        <ul className="verdict-key" aria-label="Debaters">
          {debate.participants.map((one) => (
            <li key={one.id}>
              <Badge letter={letterOf(debate, one.id)} /> {one.name} <span>{one.position}</span>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}
