import { memo, type ReactNode } from 'react';
import { formatCount, formatSeconds, formatTime, formatUsd } from '../parts/format';
import { Lamp, type LampState } from '../parts/Lamp';
import { Markdown } from '../parts/Markdown';
import type { ActivityRow } from '../wire/types';
import { CallGroup, type Progress } from './CallCard';
import { agentName, type Call, type Item, type Turn } from './turns';

const CHOOSERS = { arbiter: 'Arbiter', rule: 'Rule', person: 'You' } as const;
const LAMPS: Record<Turn['result'], LampState> = {
  working: 'live',
  success: 'done',
  failure: 'stop',
  cancelled: 'held',
};
const RESULTS: Record<Turn['result'], string> = {
  working: 'working',
  success: 'done',
  failure: 'failed',
  cancelled: 'cut short',
};

/** A decision: who chose which agent, and why. */
function Junction({ turn }: { turn: Turn }) {
  return (
    <div className="run-row run-junction" data-chooser={turn.chooser}>
      <i className="run-points" aria-hidden="true" />
      <p>
        <strong>
          {CHOOSERS[turn.chooser]} <span aria-label="chose">→</span> {turn.agents.join(' + ')}
        </strong>
        <span className="run-reason">{turn.reason}</span>
      </p>
    </div>
  );
}

function TurnHead({ turn, isWaiting }: { turn: Turn; isWaiting: boolean }) {
  const state = isWaiting ? 'wait' : LAMPS[turn.result];
  return (
    <div className="run-row run-turn-head">
      <Lamp state={state} label={isWaiting ? 'waits for you' : RESULTS[turn.result]} />
      <h3>
        <span className="run-turn-number">{turn.iteration}</span> {turn.agents.join(' + ')}
      </h3>
      <span className="run-turn-facts">
        <time>{formatTime(turn.at)}</time>
        {turn.endedAt === null ? null : <span>{formatSeconds(turn.endedAt - turn.at)}</span>}
        {turn.tokens === 0 ? null : <span>{formatCount(turn.tokens)} tokens</span>}
        {turn.costUsd === 0 ? null : <span>{formatUsd(turn.costUsd)}</span>}
        {turn.result === 'cancelled' ? <span>cut short</span> : null}
      </span>
    </div>
  );
}

function ItemView({ item, turn, progress }: { item: Item; turn: Turn; progress: (call: Call) => Progress | null }) {
  if (item.kind === 'note')
    return (
      <p className="run-note" data-severity={item.severity}>
        {item.text}
      </p>
    );
  if (item.kind === 'calls') return <CallGroup item={item} progress={progress} />;
  return (
    <>
      {turn.agents.length > 1 ? <p className="run-speaker">{agentName(turn, item.speaker)}</p> : null}
      <Markdown text={item.text} />
    </>
  );
}

/** Calls that are asked about are shown by their request. */
const isShown = (item: Item): boolean => item.kind !== 'calls' || item.calls.some((call) => call.status !== 'asked');

interface Props {
  turn: Turn;
  isWaiting: boolean;
  /** Reports of running tools, by the number of the call. */
  progress: Readonly<Record<number, ActivityRow>>;
  /** What belongs to the end of the turn: words that are coming, requests. */
  children?: ReactNode;
}

/** A turn that has not changed and has nothing at its end is not drawn again. */
function isSame(before: Props, after: Props): boolean {
  const isPlain =
    !before.children && !after.children && before.progress === after.progress && before.isWaiting === after.isWaiting;
  return isPlain && before.turn.key === after.turn.key && before.turn.changes === after.turn.changes;
}

export const TurnRow = memo(function TurnRow({ turn, isWaiting, progress, children }: Props) {
  const running = turn.items
    .flatMap((item) => (item.kind === 'calls' ? item.calls : []))
    .filter((call) => call.endedAt === null);
  const progressOf = (call: Call): Progress | null => {
    const report = progress[running.indexOf(call)];
    return report === undefined ? null : { text: String(report.facts['text'] ?? '') };
  };
  return (
    <li className="run-turn" data-result={turn.result}>
      <Junction turn={turn} />
      <TurnHead turn={turn} isWaiting={isWaiting} />
      {turn.items.filter(isShown).map((item) => (
        <div key={item.key} className="run-row run-item" data-kind={item.kind}>
          <i className="run-mark" aria-hidden="true" />
          <div className="run-item-body">
            <ItemView item={item} turn={turn} progress={progressOf} />
          </div>
        </div>
      ))}
      {children}
    </li>
  );
}, isSame);
