import type { OpenThread } from '../wire/store';
import type { RunActions } from './actions';
import { EndRow, StartRow } from './Ends';
import { TurnEnd } from './TurnEnd';
import { TurnRow } from './TurnRow';
import type { Row } from './turns';

const NONE = {};

interface Props {
  rows: readonly Row[];
  thread: OpenThread;
  askedAt: ReadonlyMap<string, number>;
  actions: RunActions;
}

/** A vertical track: one row a step, and a junction wherever an agent was chosen. */
export function Timeline({ rows, thread, askedAt, actions }: Props) {
  const { page, progress } = thread;
  const isOver = page?.status !== 'running' && page?.status !== 'waiting';
  return (
    <ol className="run-track" aria-label="Timeline">
      {rows.map((row, index) => {
        if (row.kind === 'start') return <StartRow key={row.key} row={row} />;
        if (row.kind === 'end') return <EndRow key={row.key} row={row} />;
        if (row.kind === 'note')
          return (
            <li key={row.key} className="run-row run-item" data-kind="note">
              <i className="run-mark" aria-hidden="true" />
              <p className="run-note" data-severity={row.severity}>
                {row.text}
              </p>
            </li>
          );
        const isLast = index === rows.length - 1 && !isOver;
        return (
          <TurnRow
            key={row.key}
            turn={row}
            isWaiting={isLast && (page?.requests.length ?? 0) > 0}
            progress={isLast ? progress : NONE}
          >
            {isLast ? <TurnEnd thread={thread} turn={row} askedAt={askedAt} actions={actions} /> : null}
          </TurnRow>
        );
      })}
    </ol>
  );
}
