import type { ReactNode } from 'react';
import { CodeBlock } from './CodeBlock';
import { formatSeconds } from './format';
import { Lamp, type LampState } from './Lamp';
import { Meter } from './Meter';
import { showHidden } from './visible';

export type ToolStatus = 'running' | 'waiting' | 'done' | 'failed' | 'cancelled';

interface Props {
  name: string;
  status: ToolStatus;
  /** The arguments, as an object or as the text that the model wrote. */
  input?: unknown;
  /** The result as text. */
  result?: string | undefined;
  ms?: number | null;
  /** The last report of a running call. */
  progress?: { text: string; fraction?: number } | null;
  /** Shown between the arguments and the result, such as a diff. */
  children?: ReactNode;
}

const LAMPS: Record<ToolStatus, LampState> = {
  running: 'live',
  waiting: 'wait',
  done: 'done',
  failed: 'stop',
  cancelled: 'held',
};

export function inputText(input: unknown): string {
  if (typeof input !== 'string') return JSON.stringify(input ?? {}, null, 2);
  try {
    return JSON.stringify(JSON.parse(input), null, 2);
  } catch {
    return input;
  }
}

/** The arguments on one line, for the head of the card. */
export function inputLine(input: unknown): string {
  let value = input;
  if (typeof input === 'string') {
    try {
      value = JSON.parse(input);
    } catch {
      return input;
    }
  }
  if (value === null || typeof value !== 'object') return '';
  return Object.entries(value as Record<string, unknown>)
    .map(([name, item]) => `${name}: ${typeof item === 'string' ? item : JSON.stringify(item)}`)
    .join(' · ')
    .replace(/\s+/g, ' ');
}

/** A call of a tool: its name, status and time; arguments and result are folded. */
export function ToolCard({ name, status, input, result, ms = null, progress = null, children }: Props) {
  return (
    <details className="card tool" data-status={status}>
      <summary className="card-head">
        <Lamp state={LAMPS[status]} label={status} />
        <span className="card-name">{showHidden(name)}</span>
        <span className="card-line">{showHidden(inputLine(input))}</span>
        {ms === null ? null : <span className="card-time">{formatSeconds(ms)}</span>}
      </summary>
      {progress === null ? null : (
        <div className="card-progress">
          {progress.fraction === undefined ? (
            progress.text
          ) : (
            <Meter label={name} value={progress.fraction} most={1} text={progress.text} />
          )}
        </div>
      )}
      <div className="card-body">
        <CodeBlock code={inputText(input)} language="json" label="arguments" isMarked />
        {children}
        {result === undefined ? null : <CodeBlock code={result} label={status === 'failed' ? 'error' : 'result'} />}
      </div>
    </details>
  );
}
