import { formatClock, formatCount, formatUsd } from '../parts/format';
import { Meter } from '../parts/Meter';
import type { RunContent } from './content';

function Figure({
  label,
  value,
  most,
  text,
  ticks = [],
}: {
  label: string;
  value: number;
  most: number | null;
  text: string;
  ticks?: readonly number[];
}) {
  return (
    <div className="run-figure-row">
      <span>{label}</span>
      {most === null ? (
        <span className="run-figure">{text}</span>
      ) : (
        <Meter label={label} value={value} most={most} ticks={ticks} text={text} />
      )}
    </div>
  );
}

/** What a run has spent of its limits. */
export function Meters({ run, elapsed }: { run: RunContent; elapsed: number }) {
  const { limits, usage } = run;
  const of = (value: string, most: string | null) => (most === null ? value : `${value} of ${most}`);
  return (
    <section className="run-panel-part" aria-label="Limits">
      <h2>Limits</h2>
      <Figure
        label="Cost"
        value={run.costUsd}
        most={limits.maxCostUsd}
        text={of(formatUsd(run.costUsd), limits.maxCostUsd === null ? null : formatUsd(limits.maxCostUsd))}
        ticks={limits.maxCostUsd === null ? [] : [limits.maxCostUsd * 0.8]}
      />
      <Figure
        label="Turns"
        value={run.iterations}
        most={limits.maxIterations}
        text={of(String(run.iterations), limits.maxIterations === null ? null : String(limits.maxIterations))}
      />
      <Figure
        label="Failures"
        value={run.failures}
        most={limits.maxFailures}
        text={of(String(run.failures), limits.maxFailures === null ? null : String(limits.maxFailures))}
      />
      <Figure
        label="Time"
        value={elapsed}
        most={limits.maxWallMs}
        text={of(formatClock(elapsed), limits.maxWallMs === null ? null : formatClock(limits.maxWallMs))}
      />
      <Figure
        label="Tokens"
        value={0}
        most={null}
        text={`${formatCount(usage.input ?? 0)} in · ${formatCount(usage.output ?? 0)} out`}
      />
    </section>
  );
}
