import { useId, useState, type FormEvent } from 'react';
import { formatUsd } from './figures';
import { budgetOf } from './reading';
import type { Actions } from './useActions';
import type { Debate } from './types';

/** A limit that the debate would probably end within. */
function proposedLimit(debate: Debate): number {
  const { cost, limit, forecast } = budgetOf(debate);
  const wanted = Math.max((limit ?? cost) * 2, (forecast ?? cost) * 1.5, cost + 0.1);
  return Math.ceil(wanted * 100) / 100;
}

/** The form of a new cost limit, which must be above the cost so far. */
export function RaiseLimit({
  debate,
  actions,
  onDone,
  onBack,
}: {
  debate: Debate;
  actions: Actions;
  onDone: () => void;
  onBack: () => void;
}) {
  const { cost, limit } = budgetOf(debate);
  const [text, setText] = useState(() => proposedLimit(debate).toFixed(2));
  const [problem, setProblem] = useState<string | null>(null);
  const id = useId();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const amount = Number(text);
    if (text.trim() === '' || !Number.isFinite(amount)) return setProblem('Enter an amount in USD.');
    if (amount <= Math.max(cost, limit ?? 0))
      return setProblem(`It must be above ${formatUsd(Math.max(cost, limit ?? 0))}.`);
    if (await actions.send({ type: 'RAISE_LIMIT', costLimit: amount })) onDone();
  };
  return (
    <form className="raise" onSubmit={(event) => void submit(event)} noValidate>
      <label htmlFor={id}>New limit in USD</label>
      <div className="raise-line">
        <input
          id={id}
          className="field"
          inputMode="decimal"
          value={text}
          onChange={(event) => setText(event.target.value)}
          aria-invalid={problem !== null}
          aria-describedby={problem === null ? undefined : `${id}-problem`}
          autoFocus
        />
        <button type="submit" className="primary" disabled={actions.isBusy}>
          Raise limit
        </button>
        <button type="button" onClick={onBack}>
          Back
        </button>
      </div>
      {(problem ?? actions.problem) !== null && (
        <p className="field-problem" id={`${id}-problem`} role="alert">
          {problem ?? actions.problem?.message}
        </p>
      )}
    </form>
  );
}
