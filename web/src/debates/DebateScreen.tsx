import '../style/debates.css';
import { useRef } from 'react';
import { useCommands } from '../parts/commands';
import { ErrorCard } from '../parts/ErrorCard';
import type { LiveReplies } from '../wire/replies';
import type { OpenThread } from '../wire/store';
import type { OpenedThread } from '../wire/types';
import { columnStyle, Names, RoundSection } from './Columns';
import { DebateHead } from './DebateHead';
import { useClosedWarning, useWideColumn } from './interface';
import { Interject } from './Interject';
import { EndNotice, ErrorNotice, IdleNotice, JudgingNotice, PausedNotice } from './Notices';
import { debateOf, openWarning, roundRows, type Cuts } from './reading';
import { Totals } from './Totals';
import { useActions, type Actions } from './useActions';
import { useAnnouncements } from './useAnnouncements';
import { useCuts } from './useCuts';
import { useFollow } from './useFollow';
import { useSpeakerInView } from './useSpeakerInView';
import { Verdict } from './Verdict';
import { WarningDialog } from './WarningDialog';
import type { Debate } from './types';

interface BodyProps {
  page: OpenedThread;
  debate: Debate;
  replies: LiveReplies;
  cuts: Cuts;
  actions: Actions;
}

function DebateBody({ page, debate, replies, cuts, actions }: BodyProps) {
  const [wide, widen] = useWideColumn(page.id);
  const ids = debate.participants.map((one) => one.id);
  const box = useRef<HTMLDivElement>(null);
  const sheet = useRef<HTMLDivElement>(null);
  const { isFollowing, toEnd } = useFollow(box, sheet, debate.state !== 'completed');
  useSpeakerInView(box, Object.keys(replies), isFollowing);
  useCommands(
    debate.participants.map((one, index) => ({
      id: `widen-${one.id}`,
      label: `Widen ${one.name}`,
      group: 'Debate',
      keys: String(index + 1),
      run: () => widen(one.id),
    })),
  );
  return (
    <div className="debate-frame">
      <div className="debate-body" ref={box} tabIndex={0} role="region" aria-label="Turns">
        <div className="debate-sheet" ref={sheet} style={columnStyle(ids, wide)}>
          <Names debate={debate} wide={wide} onWiden={widen} />
          {roundRows(debate, replies, cuts).map((row) => (
            <RoundSection key={`${row.phase}-${row.roundNumber}`} debate={debate} row={row} />
          ))}
          {page.status === 'pending' && <IdleNotice debate={debate} />}
          {debate.state === 'judgeEvaluating' && <JudgingNotice debate={debate} />}
          {debate.state === 'paused' && <PausedNotice debate={debate} cuts={cuts} />}
          {debate.state === 'error' && <ErrorNotice debate={debate} actions={actions} />}
          <Verdict debate={debate} />
          <EndNotice debate={debate} />
          <Totals debate={debate} />
        </div>
      </div>
      {!isFollowing && page.status === 'running' && (
        <button type="button" className="debate-latest" onClick={toEnd}>
          Jump to latest
        </button>
      )}
    </div>
  );
}

function OpenDebate({ page, debate, replies, cuts }: Omit<BodyProps, 'actions'>) {
  const actions = useActions(page.id);
  const input = useRef<HTMLInputElement>(null);
  const warning = openWarning(debate);
  const [isClosed, setClosed] = useClosedWarning(page.id, warning?.threshold ?? '');
  const canAnswer = actions.can('ACKNOWLEDGE_WARNING') && warning !== null;
  // The judge hears nobody.
  const canInterject = actions.can('INTERJECT') && debate.state !== 'judgeEvaluating';
  useCommands(
    canInterject
      ? [{ id: 'interject', label: 'Interject', group: 'Debate', keys: 'm', run: () => input.current?.focus() }]
      : [],
  );
  return (
    <section className="screen debate">
      <DebateHead thread={page.id} debate={debate} actions={actions} />
      <DebateBody page={page} debate={debate} replies={replies} cuts={cuts} actions={actions} />
      <footer className="debate-foot">
        {canAnswer && isClosed && (
          <button type="button" className="debate-warning" onClick={() => setClosed(false)}>
            Cost warning
          </button>
        )}
        {actions.problem !== null && (
          <ErrorCard
            title="That was not possible"
            message={actions.problem.message}
            code={actions.problem.code}
            actions={
              <button type="button" onClick={actions.clear}>
                Dismiss
              </button>
            }
          />
        )}
        {canInterject && <Interject thread={page.id} actions={actions} input={input} />}
      </footer>
      {canAnswer && !isClosed && debate.state !== 'error' && (
        <WarningDialog debate={debate} warning={warning} actions={actions} onClose={() => setClosed(true)} />
      )}
    </section>
  );
}

export function DebateScreen({ thread, page }: { thread: OpenThread; page: OpenedThread }) {
  const debate = debateOf(page);
  const cuts = useCuts(thread, debate);
  useAnnouncements(debate, thread.activities);
  return debate === null ? null : <OpenDebate page={page} debate={debate} replies={thread.replies} cuts={cuts} />;
}
