import { CodeBlock } from '../parts/CodeBlock';
import { formatSeconds } from '../parts/format';
import { Lamp, type LampState } from '../parts/Lamp';
import { inputLine, inputText } from '../parts/ToolCard';
import { diffOfInput, parseDiff, type FileDiff } from '../parts/diffs';
import { Diff } from '../parts/Diff';
import type { Call, Calls } from './turns';

const LAMPS: Record<Call['status'], LampState> = {
  asked: 'wait',
  running: 'live',
  done: 'done',
  failed: 'stop',
  denied: 'held',
  cancelled: 'held',
};
const WORDS: Record<Call['status'], string> = {
  asked: 'waits for you',
  running: 'running',
  done: 'done',
  failed: 'failed',
  denied: 'denied',
  cancelled: 'cut short',
};

const wordsOf = (call: Call): string => (call.isExpired ? 'not answered' : WORDS[call.status]);

export interface Progress {
  text: string;
  fraction?: number;
}

function diffOf(call: Call): FileDiff | null {
  const made = diffOfInput(call.name, call.input);
  return call.diff === null ? made : parseDiff(call.diff, made?.path);
}

function CardLine({ call, diff }: { call: Call; diff: FileDiff | null }) {
  const mark = call.isEdited ? 'edited · ' : '';
  if (diff === null)
    return (
      <span className="card-line">
        {mark}
        {inputLine(call.input)}
      </span>
    );
  return (
    <span className="card-line">
      {mark}
      {diff.path} <span className="added">+{diff.added}</span> <span className="removed">−{diff.removed}</span>
    </span>
  );
}

/** A call of a tool, folded; a change of a file is shown as a diff. */
export function CallCard({ call, progress = null }: { call: Call; progress?: Progress | null }) {
  const diff = diffOf(call);
  return (
    <details className="card tool" data-status={call.status}>
      <summary className="card-head">
        <Lamp state={LAMPS[call.status]} label={wordsOf(call)} />
        <span className="card-name">{call.name}</span>
        <CardLine call={call} diff={diff} />
        <span className="card-time">
          {call.status === 'denied' || call.status === 'cancelled' || call.endedAt === null
            ? wordsOf(call)
            : formatSeconds(call.endedAt - call.startedAt)}
        </span>
      </summary>
      {call.status === 'running' && progress !== null ? <div className="card-progress">{progress.text}</div> : null}
      <div className="card-body">
        {call.isEdited ? <p className="card-note">The arguments are those that a person has given.</p> : null}
        {diff === null ? (
          <CodeBlock code={inputText(call.input)} language="json" label="arguments" isMarked />
        ) : (
          <Diff diff={diff} />
        )}
        {diff === null ? null : (
          <details className="ask-exact">
            <summary>Exact arguments</summary>
            <CodeBlock code={inputText(call.input)} language="json" label={call.name} isMarked />
          </details>
        )}
        {call.result === '' ? null : (
          <CodeBlock code={call.result} label={call.status === 'failed' ? 'error' : 'result'} />
        )}
        {call.status === 'denied' ? (
          <p className="card-note">
            {call.isExpired ? 'Nobody answered in time; nothing was called.' : 'Denied; nothing was called.'}
          </p>
        ) : null}
      </div>
    </details>
  );
}

/** Calls of one tool in a row; from three on they are one line, which opens. */
export function CallGroup({ item, progress }: { item: Calls; progress: (call: Call) => Progress | null }) {
  const calls = item.calls.filter((call) => call.status !== 'asked');
  const cards = calls.map((call) => <CallCard key={call.key} call={call} progress={progress(call)} />);
  if (calls.length < 3) return <>{cards}</>;
  const failed = calls.filter((call) => call.status === 'failed' || call.status === 'denied').length;
  const ms = calls.reduce((sum, call) => sum + (call.endedAt === null ? 0 : call.endedAt - call.startedAt), 0);
  const isRunning = calls.some((call) => call.status === 'running');
  return (
    <details className="card tool repeats">
      <summary className="card-head">
        <Lamp state={isRunning ? 'live' : failed > 0 ? 'stop' : 'done'} />
        <span className="card-name">
          {item.name} ×{calls.length}
        </span>
        <span className="card-line">{failed > 0 ? `${failed} not done` : inputLine(calls.at(-1)?.input)}</span>
        <span className="card-time">{formatSeconds(ms)}</span>
      </summary>
      <div className="card-body">{cards}</div>
    </details>
  );
}
