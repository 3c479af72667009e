import { formatClock, formatTime } from '../parts/format';
import { Lamp } from '../parts/Lamp';
import { Markdown } from '../parts/Markdown';
import type { LiveReply } from '../wire/replies';
import type { OpenThread } from '../wire/store';
import type { RunActions } from './actions';
import { Approval } from './Approval';
import { contentOf } from './content';
import { Question } from './Question';
import { agentName, type End, type Row, type Start, type Turn } from './turns';
import { TurnRow } from './TurnRow';

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

function StartRow({ row }: { row: Start }) {
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

function EndRow({ row }: { row: End }) {
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

/** Words that are coming. */
function LiveRow({ reply, name }: { reply: LiveReply; name: string | null }) {
  return (
    <div className="run-row run-item" data-kind="message">
      <i className="run-mark live" aria-hidden="true" />
      <div className="run-item-body">
        {name === null ? null : <p className="run-speaker">{name}</p>}
        {reply.text === '' ? (
          <p className="run-note">{reply.thinking === '' ? 'waiting for the model …' : 'thinking …'}</p>
        ) : (
          <Markdown text={reply.text} isLive />
        )}
      </div>
    </div>
  );
}

function Requests({
  thread,
  turn,
  askedAt,
  actions,
}: {
  thread: OpenThread;
  turn: Turn;
  askedAt: ReadonlyMap<string, number>;
  actions: RunActions;
}) {
  const { page } = thread;
  if (page === null) return null;
  const grants = contentOf(page).consent.overrides;
  return page.requests.map((request) => {
    const answer = (value: Parameters<RunActions['respond']>[1]) => actions.respond(request.id, value);
    const asker = agentName(turn, request.speaker);
    return (
      <div key={request.id} id={`request-${request.id}`} className="run-row run-item" data-kind="request">
        <i className="run-mark wait" aria-hidden="true" />
        <div className="run-item-body">
          {request.reason === 'permission' ? (
            <Approval
              request={request}
              asker={asker}
              since={askedAt.get(request.id) ?? null}
              grants={grants}
              onAnswer={answer}
            />
          ) : (
            <Question request={request} asker={asker} onAnswer={answer} />
          )}
        </div>
      </div>
    );
  });
}

/** What is going on at the end of the last turn. */
function TurnEnd(props: { thread: OpenThread; turn: Turn; askedAt: ReadonlyMap<string, number>; actions: RunActions }) {
  const { turn, thread } = props;
  const replies = turn.endedAt === null ? Object.values(thread.replies) : [];
  return (
    <>
      {replies.map((reply) => (
        <LiveRow
          key={reply.speaker}
          reply={reply}
          name={turn.agents.length > 1 ? agentName(turn, reply.speaker) : null}
        />
      ))}
      <Requests {...props} />
    </>
  );
}

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
