import { useState } from 'react';
import { formatUsd } from './figures';
import { Modal } from './Modal';
import { RaiseLimit } from './RaiseLimit';
import { budgetOf } from './reading';
import type { Actions } from './useActions';
import type { Debate } from './types';

interface Props {
  debate: Debate;
  warning: { threshold: string; currentCost: string };
  canJudge: boolean;
  actions: Actions;
  onClose: () => void;
}

function forecastText(debate: Debate): string {
  const { perRound, forecast, limit } = budgetOf(debate);
  if (perRound === null || forecast === null) return '';
  const end = `A round costs about ${formatUsd(perRound)}; the rounds that are left bring it to about ${formatUsd(forecast)}, before the judge.`;
  return limit !== null && forecast > limit ? `${end} That is above the limit of ${formatUsd(limit)}.` : end;
}

/** The answers to a warning about costs: continue, let the judge decide now, or raise the limit. */
export function WarningDialog({ debate, warning, canJudge, actions, onClose }: Props) {
  const [isRaising, setRaising] = useState(false);
  const { cost, limit } = budgetOf(debate);
  const answer = async (act?: () => Promise<boolean>) => {
    if ((await actions.acknowledge()) && act !== undefined) await act();
  };
  return (
    <Modal label="Cost warning" onClose={onClose}>
      <h2>{formatUsd(cost)} spent</h2>
      <p>
        The debate has passed the warning at {formatUsd(warning.threshold)}
        {limit === null ? '.' : `; it stops at ${formatUsd(limit)}.`} It continues until you decide. {forecastText(debate)}
      </p>
      {isRaising ? (
        <RaiseLimit debate={debate} actions={actions} onDone={() => void answer()} onBack={() => setRaising(false)} />
      ) : (
        <div className="modal-actions">
          <button type="button" className="primary" disabled={actions.isBusy} onClick={() => void answer()}>Continue</button>
          {canJudge && <button type="button" disabled={actions.isBusy} onClick={() => void answer(actions.judge)}>Stop and judge</button>}
          <button type="button" disabled={actions.isBusy} onClick={() => setRaising(true)}>{limit === null ? 'Set a limit' : 'Raise limit'}</button>
        </div>
      )}
      {!isRaising && actions.problem !== null && <p className="field-problem" role="alert">{actions.problem.message}</p>}
    </Modal>
  );
}
