import { formatClock, formatTime } from '../parts/format';
import { Lamp } from '../parts/Lamp';
import { Markdown } from '../parts/Markdown';
import type { End, Start } from './turns';

const ENDS: Readonly<Record<string, string>> = {
  completed: 'Done',
  max_iterations: 'Stopped at the limit of turns',
  cost_limit: 'Stopped at the cost limit',
  wall_time: 'Stopped at the time limit',
  denied: 'Not done: a change was denied',
  open_steps: 'Not done: steps of the plan are open',
  failed: 'Failed',
  cancelled: 'Cancelled',
  dry_run: 'Planned only',
};

/** The task of a run. */
export function StartRow({ row }: { row: Start }) {
  return (
    <li className="run-row run-start">
      <Lamp state="idle" isSilent />
      <div className="run-item-body">
        <p className="run-speaker">
          Task <time>{formatTime(row.at)}</time>
        </p>
        <p className="run-task">{row.task}</p>
      </div>
    </li>
  );
}

/** How a run has ended. */
export function EndRow({ row }: { row: End }) {
  const { outcome } = row;
  const error = typeof outcome.error === 'string' ? outcome.error : outcome.error?.message;
  return (
    <li className="run-row run-end">
      <Lamp state={outcome.success ? 'done' : outcome.reason === 'cancelled' ? 'held' : 'stop'} />
      <div className="run-item-body">
        <h3>
          {ENDS[outcome.reason] ?? outcome.reason}{' '}
          {outcome.durationMs === undefined ? null : (
            <span className="run-turn-facts">after {formatClock(outcome.durationMs)}</span>
          )}
        </h3>
        {outcome.summary === '' ? null : <Markdown text={outcome.summary} />}
        {error === undefined ? null : <p className="run-fault">{error}</p>}
      </div>
    </li>
  );
}
