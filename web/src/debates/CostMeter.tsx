import type { CSSProperties } from 'react';
import { formatUsd } from './figures';
import { budgetOf, type Budget } from './reading';
import type { Debate } from './types';

const part = (value: number, end: number): string => `${Math.min(100, (value / end) * 100)}%`;

function MeterBar({ budget, end }: { budget: Budget; end: number }) {
  const { cost, warn, limit, forecast, hasWarned } = budget;
  return (
    <div className="cost-bar">
      {forecast !== null && forecast > cost && (
        <span
          className="cost-forecast"
          style={{ left: part(cost, end), width: `calc(${part(forecast, end)} - ${part(cost, end)})` }}
        />
      )}
      <span className="cost-fill" style={{ width: part(cost, end) }} />
      {warn !== null && <span className="cost-tick" data-kind="warn" style={{ left: part(warn, end) }} />}
      {limit !== null && <span className="cost-tick" data-kind="stop" style={{ left: '100%' }} />}
      {warn !== null && (
        <span className="cost-label" data-kind="warn" style={{ '--at': part(warn, end) } as CSSProperties}>
          {hasWarned ? 'warned' : 'warns'} {formatUsd(warn)}
        </span>
      )}
      {limit !== null && (
        <span className="cost-label" data-kind="stop">
          stops {formatUsd(limit)}
        </span>
      )}
    </div>
  );
}

function noteOf({ limit, perRound }: Budget): string {
  const notes = [];
  if (limit !== null) notes.push(`of ${formatUsd(limit)}`);
  if (perRound !== null && perRound > 0) notes.push(`+${formatUsd(perRound)} a round`);
  return notes.join(' · ');
}

/** The cost so far, with ticks at the warning and the limit, and what the rounds that are left may cost. */
export function CostMeter({ debate }: { debate: Debate }) {
  const budget = budgetOf(debate);
  const { cost, end } = budget;
  const note = noteOf(budget);
  const { unseen, unpriced } = debate.costTracker;
  const forecast =
    budget.forecast === null
      ? ''
      : `; about ${formatUsd(budget.forecast)} after the rounds that are left, before the judge`;
  const label = `Cost ${formatUsd(cost)}${note === '' ? '' : `, ${note}`}${forecast}`;
  return (
    <div
      className="cost"
      title={label}
      data-over={budget.forecast !== null && budget.limit !== null && budget.forecast > budget.limit ? true : undefined}
    >
      <div className="cost-line">
        <strong>{formatUsd(cost)}</strong> <span>{note}</span>
      </div>
      {end !== null && (
        <div
          role="meter"
          aria-label={label}
          aria-valuenow={Math.min(cost, end)}
          aria-valuemin={0}
          aria-valuemax={end}
          aria-valuetext={label}
        >
          <MeterBar budget={budget} end={end} />
        </div>
      )}
      {unseen.calls > 0 && (
        <div className="cost-note">
          up to {formatUsd(unseen.cost)} more: {unseen.calls === 1 ? 'a call' : `${unseen.calls} calls`} ended without a
          report
        </div>
      )}
      {unpriced > 0 && (
        <div className="cost-note">
          {unpriced === 1 ? 'the price of a call is unknown' : `the prices of ${unpriced} calls are unknown`}
        </div>
      )}
    </div>
  );
}
