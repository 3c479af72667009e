import { useState } from 'react';
import { useCommands } from '../parts/commands';
import { CostMeter } from './CostMeter';
import { EndDialog, JudgeDialog } from './EndDialog';
import { ExportMenu } from './ExportMenu';
import { decision, modelLabel } from './reading';
import { RoundTrack } from './RoundTrack';
import type { Actions } from './useActions';
import type { Debate } from './types';

interface Button {
  id: string;
  label: string;
  keys?: string;
  run: () => void;
  isPrimary?: boolean;
}

/** The buttons that the debate takes now. */
function buttonsOf(debate: Debate, { can, send }: Actions, end: () => void, judge: () => void): Button[] {
  const buttons: (Button | false)[] = [
    can('START_DEBATE') && {
      id: 'start',
      label: 'Start',
      keys: 's',
      run: () => void send({ type: 'START_DEBATE' }),
      isPrimary: true,
    },
    can('RESUME') && {
      id: 'resume',
      label: 'Resume',
      keys: 'r',
      run: () => void send({ type: 'RESUME' }),
      isPrimary: true,
    },
    can('RETRY') && { id: 'retry', label: 'Retry', keys: 'r', run: () => void send({ type: 'RETRY' }) },
    can('PAUSE') && { id: 'pause', label: 'Pause', keys: 'p', run: () => void send({ type: 'PAUSE' }) },
    can('JUDGE_NOW') && {
      id: 'judge',
      label: debate.state === 'debating' ? 'Stop and judge' : 'Judge now',
      keys: 'j',
      run: debate.state === 'debating' ? judge : () => void send({ type: 'JUDGE_NOW' }),
    },
    can('STOP') && !(debate.state === 'debating' && can('JUDGE_NOW')) && { id: 'end', label: 'End', run: end },
  ];
  return buttons.filter((button) => button !== false);
}

function factsOf(debate: Debate): string {
  const judge = debate.judge === null ? 'no judge' : `judge ${modelLabel(debate.judge.model)}`;
  const facts = [debate.format, `${debate.participants.length} debaters`, judge];
  if (debate.verdict !== null) facts.push(decision(debate));
  return facts.join(' · ');
}

/** The topic, the buttons, the track of rounds and the meter of costs. */
export function DebateHead({ thread, debate, actions }: { thread: string; debate: Debate; actions: Actions }) {
  const [isEnding, setEnding] = useState(false);
  const [isJudging, setJudging] = useState(false);
  const buttons = buttonsOf(
    debate,
    actions,
    () => setEnding(true),
    () => setJudging(true),
  );
  useCommands(
    buttons.map(({ id, label, keys, run }) => ({
      id: `debate-${id}`,
      label,
      group: 'Debate',
      run,
      ...(keys === undefined ? {} : { keys }),
    })),
  );
  return (
    <header className="debate-head">
      <div className="debate-title">
        <h1>{debate.topic}</h1>
        <p className="turn-foot">{factsOf(debate)}</p>
      </div>
      <div className="debate-actions">
        {buttons.map(({ id, label, keys, run, isPrimary }) => (
          <button
            key={id}
            type="button"
            className={isPrimary ? 'primary' : undefined}
            disabled={actions.isBusy}
            onClick={run}
          >
            {label}
            {keys !== undefined && <kbd aria-hidden="true">{keys.toUpperCase()}</kbd>}
          </button>
        ))}
        <ExportMenu id={thread} />
      </div>
      <RoundTrack debate={debate} />
      <CostMeter debate={debate} />
      {isEnding && <EndDialog actions={actions} onClose={() => setEnding(false)} />}
      {isJudging && actions.can('JUDGE_NOW') && <JudgeDialog actions={actions} onClose={() => setJudging(false)} />}
    </header>
  );
}
