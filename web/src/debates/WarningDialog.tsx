import { useState } from 'react';
import { Dialog } from '../parts/Dialog';
import { formatUsd } from './figures';
import { RaiseLimit } from './RaiseLimit';
import { budgetOf } from './reading';
import type { Actions } from './useActions';
import type { Debate } from './types';

interface Props {
  debate: Debate;
  warning: { threshold: string };
  actions: Actions;
  onClose: () => void;
}

function forecastText(debate: Debate): string {
  const { perRound, forecast, limit } = budgetOf(debate);
  if (perRound === null || forecast === null) return '';
  const end = `A round costs about ${formatUsd(perRound)}; the rounds that are left bring it to about ${formatUsd(forecast)}, before the judge.`;
  return limit !== null && forecast > limit ? `${end} That is above the limit.` : end;
}

/** The answers to a warning about costs: continue, let the judge decide now, or raise the limit. */
export function WarningDialog({ debate, warning, actions, onClose }: Props) {
  const [isRaising, setRaising] = useState(false);
  const { cost, limit } = budgetOf(debate);
  const acknowledge = () => actions.send({ type: 'ACKNOWLEDGE_WARNING' });
  const judge = async () => {
    if (await acknowledge()) await actions.send({ type: 'JUDGE_NOW' });
  };
  const buttons = (
    <>
      <button type="button" disabled={actions.isBusy} onClick={() => setRaising(true)}>
        {limit === null ? 'Set a limit' : 'Raise limit'}
      </button>
      {actions.can('JUDGE_NOW') && (
        <button type="button" disabled={actions.isBusy} onClick={() => void judge()}>
          Stop and judge
        </button>
      )}
      <button type="button" className="primary" disabled={actions.isBusy} onClick={() => void acknowledge()}>
        Continue
      </button>
    </>
  );
  return (
    <Dialog title={`${formatUsd(cost)} spent`} onClose={onClose} actions={isRaising ? undefined : buttons}>
      <p>
        The debate has passed the warning at {formatUsd(warning.threshold)}
        {limit === null ? '. ' : `; it stops at ${formatUsd(limit)}. `}
        It continues while you decide.
      </p>
      <p>{forecastText(debate)}</p>
      {isRaising && (
        <RaiseLimit
          debate={debate}
          actions={actions}
          onDone={() => void acknowledge()}
          onBack={() => setRaising(false)}
        />
      )}
      {!isRaising && actions.problem !== null && (
        <p className="field-problem" role="alert">
          {actions.problem.message}
        </p>
      )}
    </Dialog>
  );
}
