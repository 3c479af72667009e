import { useState } from 'react';
import { ActionButton } from '../parts/ActionButton';
import { Dialog } from '../parts/Dialog';
import { formatClock, formatUsd } from '../parts/format';
import { lampOf } from '../parts/Lamp';
import { Link } from '../parts/Link';
import { Meter } from '../parts/Meter';
import { Plate } from '../parts/Plate';
import type { OpenedThread } from '../wire/types';
import type { RunActions } from './actions';
import { contentOf, possibleOf } from './content';

function stateText(page: OpenedThread, isLost: boolean): string {
  if (isLost) return 'interrupted';
  return page.status === 'waiting' ? `waiting ▸ ${page.waiting ?? 'you'}` : page.status;
}

function CancelDialog({ onClose, onCancel }: { onClose: () => void; onCancel: () => void }) {
  const actions = (
    <>
      <button type="button" onClick={onClose}>
        Keep it
      </button>
      <button type="button" className="dangerous" onClick={onCancel}>
        Cancel the run
      </button>
    </>
  );
  return (
    <Dialog title="Cancel this run?" onClose={onClose} actions={actions}>
      <p>The agent at work is stopped. What was done stays done, and a cancelled run cannot be resumed.</p>
    </Dialog>
  );
}

/** The title, the state and the clock of a run, and what a person can do with it as a whole. */
export function RunHead({ page, elapsed, actions }: { page: OpenedThread; elapsed: number; actions: RunActions }) {
  const [isAsking, setAsking] = useState(false);
  const run = contentOf(page);
  const can = possibleOf(page);
  const most = run.limits.maxCostUsd;
  return (
    <header className="screen-head run-head">
      <h1 title={page.title}>{page.title}</h1>
      <Plate state={can.resume ? 'held' : lampOf(page.status)}>{stateText(page, can.resume)}</Plate>
      {run.startedAt === null ? null : (
        <span className="run-clock" title="Elapsed time">
          {formatClock(elapsed)}
        </span>
      )}
      {most === null ? (
        <span className="run-clock" title="Cost">
          {formatUsd(run.costUsd)}
        </span>
      ) : (
        <Meter
          label="Cost"
          value={run.costUsd}
          most={most}
          ticks={[most * 0.8]}
          text={`${formatUsd(run.costUsd)} of ${formatUsd(most)}`}
          isCompact
        />
      )}
      <span className="spring" />
      {can.resume ? (
        <ActionButton className="primary" onAct={actions.resume}>
          Resume
        </ActionButton>
      ) : null}
      {can.runAgain ? (
        <ActionButton onAct={() => actions.say(run.task)}>Run again</ActionButton>
      ) : null}
      {can.cancel ? (
        <button type="button" onClick={() => setAsking(true)}>
          Cancel
        </button>
      ) : null}
      <Link className="button quiet" to={`/inspector/${encodeURIComponent(page.id)}`}>
        Inspect
      </Link>
      {isAsking ? (
        <CancelDialog
          onClose={() => setAsking(false)}
          onCancel={() => {
            setAsking(false);
            void actions.cancel();
          }}
        />
      ) : null}
    </header>
  );
}
