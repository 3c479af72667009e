import { useState, type ReactNode } from 'react';
import { plural } from '../parts/format';
import { useNow } from '../parts/useNow';
import { countWords, formatUsd } from './figures';
import { RaiseLimit } from './RaiseLimit';
import { budgetOf, nameOf, roundTitle, type Cuts } from './reading';
import type { Actions } from './useActions';
import type { Debate } from './types';

function Notice({
  kind,
  title,
  children,
}: {
  kind: 'held' | 'error' | 'done' | 'live';
  title: string;
  children?: ReactNode;
}) {
  return (
    <div className="notice debate-wide" data-kind={kind} role={kind === 'error' ? 'alert' : undefined}>
      <h3>{title}</h3>
      {children}
    </div>
  );
}

/** What a pause has cut, and what happens when the debate continues. */
export function pauseText(debate: Debate, cuts: Cuts): string {
  const { current } = debate;
  if (current === null) return 'Nothing was cut.';
  if (current.target === 'judgeEvaluating') return 'The judge was stopped, and is asked again.';
  const inRound = current.missing
    .map((id) => ({ id, cut: cuts[id] }))
    .filter(({ cut }) => cut?.phase === current.phase && cut.roundNumber === current.roundNumber);
  if (inRound.length > 0) {
    const parts = inRound.map(
      ({ id, cut }) => `${nameOf(debate, id)} was cut after ${plural(countWords(cut?.text ?? ''), 'word')}`,
    );
    return `${parts.join('; ')}. ${inRound.length === 1 ? 'The turn is' : 'These turns are'} held again; all others are kept.`;
  }
  if (current.missing.length === 0) return 'Nothing was cut.';
  const names = current.missing.map((id) => nameOf(debate, id)).join(' and ');
  return `${names} had not finished; ${current.missing.length === 1 ? 'that turn is' : 'these turns are'} held again. All others are kept.`;
}

export function IdleNotice({ debate }: { debate: Debate }) {
  const isTogether = debate.format !== 'lincoln-douglas';
  return (
    <Notice kind="done" title="Not started yet">
      <p>
        {isTogether
          ? 'At the start all debaters make their openings at the same time'
          : 'At the start the debaters make their openings in turn'}
        ; then {debate.maxRounds === 1 ? 'one round follows' : `${debate.maxRounds} rounds follow`}, and the judge
        decides.
      </p>
    </Notice>
  );
}

export function PausedNotice({ debate, cuts }: { debate: Debate; cuts: Cuts }) {
  const { current } = debate;
  const place =
    current === null || current.target === 'judgeEvaluating'
      ? 'while the judge decided'
      : `in ${roundTitle(current.phase, current.roundNumber).toLowerCase()}`;
  const title = debate.interrupted ? `Interrupted ${place}: the server was stopped` : `Paused ${place}`;
  return (
    <Notice kind="held" title={title}>
      <p>{pauseText(debate, cuts)}</p>
    </Notice>
  );
}

export function JudgingNotice({ debate }: { debate: Debate }) {
  const [since] = useState(() => Date.now());
  const name = debate.judge?.name ?? 'Judge';
  const seconds = Math.floor((useNow(true) - since) / 1000);
  return (
    <Notice kind="live" title={name === 'Judge' ? 'The judge decides' : `${name} decides`}>
      <p>
        It reads {debate.rounds.length === 1 ? 'one round' : `${debate.rounds.length} rounds`} by{' '}
        {debate.judge?.evaluationCriteria.join(', ')}.{' '}
        <span className="turn-foot" aria-hidden="true">
          {seconds} s
        </span>
      </p>
    </Notice>
  );
}

export function ErrorNotice({ debate, actions }: { debate: Debate; actions: Actions }) {
  const canRetry = actions.can('RETRY');
  const [isRaising, setRaising] = useState(false);
  const error = debate.lastError;
  if (error === null) return null;
  const isLimit = error.type === 'cost_limit';
  const { cost, limit } = budgetOf(debate);
  const title = isLimit ? `Stopped at the limit of ${formatUsd(limit ?? cost)}` : 'The debate has failed';
  const estimate = error.estimate === undefined ? '' : ` The next call may cost ${formatUsd(error.estimate)}.`;
  const isOfJudge = debate.current?.target === 'judgeEvaluating' || error.participantId === debate.judge?.id;
  const speaker = isOfJudge
    ? (debate.judge?.name ?? 'Judge')
    : error.participantId === undefined
      ? ''
      : nameOf(debate, error.participantId);
  const who = speaker === '' ? '' : `${speaker}: `;
  return (
    <Notice kind="error" title={title}>
      <p>
        {isLimit
          ? `${formatUsd(cost)} are spent.${estimate} Raise the limit to continue; nothing that was said is lost.`
          : `${who}${error.message}`}
      </p>
      <p className="turn-foot">{[error.type, error.code, error.field].filter(Boolean).join(' · ')}</p>
      {isRaising ? (
        <RaiseLimit
          debate={debate}
          actions={actions}
          onDone={() => setRaising(false)}
          onBack={() => setRaising(false)}
        />
      ) : (
        <div className="modal-actions">
          {canRetry && (
            <button
              type="button"
              className="primary"
              disabled={actions.isBusy}
              onClick={() => void actions.send({ type: 'RETRY' })}
            >
              Retry
            </button>
          )}
          {isLimit && actions.can('RAISE_LIMIT') && (
            <button type="button" className="primary" onClick={() => setRaising(true)}>
              Raise limit
            </button>
          )}
        </div>
      )}
      {!canRetry && !isLimit && <p>It cannot be retried. What was said can be exported.</p>}
    </Notice>
  );
}

const ENDINGS = {
  stopped: 'Stopped without a verdict',
  abandoned: 'Ended after a failure, without a verdict',
  cost_limit: 'Ended at the cost limit',
  verdict: '',
};

export function EndNotice({ debate }: { debate: Debate }) {
  if (debate.outcome === null || debate.verdict !== null) return null;
  return (
    <Notice kind="done" title={ENDINGS[debate.outcome]}>
      <p>What was said is kept, and can be exported.</p>
    </Notice>
  );
}
