import { formatUsd } from './figures';
import { budgetOf, type Budget } from './reading';
import type { Debate } from './types';

const part = (value: number, end: number): string => `${Math.min(100, (value / end) * 100)}%`;

function MeterBar({ budget, end }: { budget: Budget; end: number }) {
  const { cost, warn, limit, forecast, hasWarned } = budget;
  return (
    <div className="cost-bar">
      {forecast !== null && forecast > cost && <span className="cost-forecast" style={{ left: part(cost, end), width: `calc(${part(forecast, end)} - ${part(cost, end)})` }} />}
      <span className="cost-fill" style={{ width: part(cost, end) }} />
      {warn !== null && <span className="cost-tick" data-kind="warn" data-side={warn / end > 0.62 ? 'left' : undefined} style={{ left: part(warn, end) }}><i>{hasWarned ? 'warned' : 'warns'} {formatUsd(warn)}</i></span>}
      {limit !== null && <span className="cost-tick" data-kind="stop" data-side="left" style={{ left: '100%' }}><i>stops {formatUsd(limit)}</i></span>}
    </div>
  );
}

function noteOf({ limit, perRound, forecast }: Budget): string {
  const notes = [];
  if (limit !== null) notes.push(`of ${formatUsd(limit)}`);
  if (perRound !== null && perRound > 0) notes.push(`+${formatUsd(perRound)} a round`);
  if (forecast !== null && perRound !== null && perRound > 0) notes.push(`≈ ${formatUsd(forecast)} before the judge`);
  return notes.join(' · ');
}

/** The cost so far, with ticks at the warning and the limit, and what the rounds that are left may cost. */
export function CostMeter({ debate }: { debate: Debate }) {
  const budget = budgetOf(debate);
  const { cost, end } = budget;
  const note = noteOf(budget);
  const { unseen, unpriced } = debate.costTracker;
  const label = `Cost ${formatUsd(cost)}${note === '' ? '' : `, ${note}`}`;
  return (
    <div className="cost" data-over={budget.forecast !== null && budget.limit !== null && budget.forecast > budget.limit ? true : undefined}>
      <div className="cost-line"><strong>{formatUsd(cost)}</strong> <span>{note}</span></div>
      {end !== null && (
        <div role="meter" aria-label={label} aria-valuenow={Math.min(cost, end)} aria-valuemin={0} aria-valuemax={end} aria-valuetext={label}>
          <MeterBar budget={budget} end={end} />
        </div>
      )}
      {unseen.calls > 0 && <div className="cost-note">up to {formatUsd(unseen.cost)} more: {unseen.calls === 1 ? 'a call' : `${unseen.calls} calls`} ended without a report</div>}
      {unpriced > 0 && <div className="cost-note">{unpriced === 1 ? 'the price of a call is unknown' : `the prices of ${unpriced} calls are unknown`}</div>}
    </div>
  );
}
