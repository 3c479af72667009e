import '../style/runs.css';
import { useEffect, useMemo } from 'react';
import { useCommands } from '../parts/commands';
import { ErrorCard } from '../parts/ErrorCard';
import { plural } from '../parts/format';
import { announce } from '../parts/Status';
import { useNow } from '../parts/useNow';
import type { OpenThread } from '../wire/store';
import type { OpenedThread } from '../wire/types';
import { runActions, type RunActions } from './actions';
import { contentOf, possibleOf, type RunCan } from './content';
import { Guidance } from './Guidance';
import { useHistory } from './history';
import { RunHead } from './RunHead';
import { RunPanel } from './RunPanel';
import { buildTimeline, type Row, type Turn } from './turns';
import { Timeline } from './Timeline';
import { useFollow } from './useFollow';

/** The time of a run so far; the journal knows when it has ended, also if it was cancelled. */
function useElapsed(page: OpenedThread, rows: readonly Row[]): number {
  const run = contentOf(page);
  const isGoing = page.status === 'running' || page.requests.length > 0;
  const now = useNow(isGoing);
  if (run.startedAt === null) return 0;
  // A run that was interrupted stands still at its last change.
  const end = run.outcome === null ? null : (rows.findLast((row) => row.kind === 'end')?.at ?? run.endedAt);
  return Math.max(0, (end ?? (isGoing ? now : page.updated)) - run.startedAt);
}

/** Screen readers hear what begins and what needs the person, and not each step. */
function useAnnouncements(page: OpenedThread, turn: Turn | null): void {
  const requests = page.requests.length;
  const { status } = page;
  useEffect(() => {
    if (requests > 0) announce(`${plural(requests, 'request')} for you`);
    else if (status === 'completed' || status === 'failed' || status === 'stopped') announce(`Run ${status}`);
  }, [requests, status]);
  const agents = turn?.agents.join(' and ') ?? '';
  useEffect(() => {
    if (agents !== '' && status === 'running') announce(`${agents} at work`);
  }, [agents, status, turn?.key]);
}

const lastTurn = (rows: readonly Row[]): Turn | null =>
  rows.findLast((row): row is Turn => row.kind === 'turn') ?? null;

function NeedsYou({ page }: { page: OpenedThread }) {
  if (page.requests.length === 0) return null;
  const show = () => document.getElementById(`request-${page.requests[0]?.id}`)?.scrollIntoView({ block: 'center' });
  return (
    <div className="run-needs-you" role="alert">
      <i className="lamp wait" aria-hidden="true" />
      <span>
        {page.requests.length === 1 ? 'An agent waits for you' : `${page.requests.length} agents wait for you`}
      </span>
      <button type="button" className="quiet" onClick={show}>
        Show
      </button>
    </div>
  );
}

function useRunCommands(page: OpenedThread, actions: RunActions): void {
  const can = possibleOf(page);
  const all: [keyof RunCan, string, () => void][] = [
    ['resume', 'Resume the run', () => void actions.resume()],
    ['skipStep', 'Skip this step', () => void actions.skipStep()],
    ['retryTurn', 'Start this turn again', () => void actions.retryTurn()],
  ];
  useCommands(
    all.filter(([name]) => can[name]).map(([name, label, run]) => ({ id: `run.${name}`, label, group: 'Run', run })),
  );
}

export function RunScreen({ thread, page }: { thread: OpenThread; page: OpenedThread }) {
  const { id } = page;
  const history = useHistory(id, page.cursor);
  const rows = useMemo(() => buildTimeline(history.activities), [history.activities]);
  const askedAt = useMemo(
    () =>
      new Map(
        history.activities
          .filter((row) => row.kind === 'agent_waits')
          .map((row) => [String(row.facts['requestId']), row.at]),
      ),
    [history.activities],
  );
  const actions = useMemo(() => runActions(id), [id]);
  const elapsed = useElapsed(page, rows);
  const turn = lastTurn(rows);
  const { box, isFollowing, follow } = useFollow(thread);
  useAnnouncements(page, turn);
  useRunCommands(page, actions);
  const fault = thread.problem ?? history.problem;
  const can = possibleOf(page);
  return (
    <section className="screen run" data-ready={history.isLoaded}>
      <RunHead page={page} elapsed={elapsed} actions={actions} />
      <div className="run-columns">
        <div className="run-middle">
          <NeedsYou page={page} />
          <div className="run-log" ref={box} tabIndex={0} role="region" aria-label="Run">
            {fault === null ? null : (
              <ErrorCard title="The run could not be read again" message={fault.message} code={fault.code} />
            )}
            <Timeline rows={rows} thread={thread} askedAt={askedAt} actions={actions} />
            {can.resume ? (
              <p className="run-interrupted">
                The process that worked on this run is gone. Nothing that was done is lost: resume it, and it goes on
                from its last step.
              </p>
            ) : null}
          </div>
          {isFollowing ? null : (
            <button type="button" className="run-to-end" onClick={follow}>
              Jump to latest
            </button>
          )}
          {can.guide ? (
            <Guidance
              isTask={page.status === 'pending'}
              waiting={contentOf(page).guidance}
              onSay={actions.say}
            />
          ) : null}
        </div>
        <RunPanel page={page} elapsed={elapsed} current={turn?.agents[0] ?? ''} actions={actions} />
      </div>
    </section>
  );
}
