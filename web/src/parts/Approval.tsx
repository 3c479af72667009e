import { useState, type ReactNode } from 'react';
import type { RequestRow, Respond } from '../wire/types';
import { CodeBlock } from './CodeBlock';
import { DiffView } from './DiffView';
import { formatClock } from './format';
import { Lamp } from './Lamp';
import { inputText } from './ToolCard';
import { useNow } from './useNow';

type Answer = Omit<Respond, 'requestId'>;

interface Props {
  request: RequestRow;
  /** When it was asked, in milliseconds since the epoch. */
  since?: number | null;
  onAnswer: (answer: Answer) => Promise<unknown>;
  /** More buttons, such as one that edits the arguments. */
  children?: ReactNode;
}

/** A scope that an answer may have, in words. */
interface ScopeOffer {
  scope: NonNullable<Answer['scope']>;
  label: string;
}

interface Call {
  name?: string;
  text?: string;
  arguments?: unknown;
  input?: unknown;
  reason?: string;
  risk?: string;
  path?: string;
  diff?: string;
  decision?: string;
  scopes?: ScopeOffer[];
}

function CallView({ call }: { call: Call }) {
  const input = call.input ?? call.arguments;
  return (
    <div className="approval-call">
      <div className="card-head">
        <Lamp state="wait" isSilent />
        <strong className="card-name">{call.name ?? 'tool'}</strong>
        {call.risk === undefined ? null : (
          <span className="risk" data-risk={call.risk}>
            {call.risk}
          </span>
        )}
        {call.reason ? <span className="card-line">{call.reason}</span> : null}
      </div>
      {call.diff ? <DiffView diff={call.diff} path={call.path} /> : null}
      {call.diff ? null : (
        <CodeBlock
          code={input === undefined ? (call.text ?? '') : inputText(input)}
          language="json"
          label="exact arguments"
        />
      )}
    </div>
  );
}

/** What an answer may allow for longer than once, by the scope; several calls may offer it in different words. */
export function offeredScopes(request: RequestRow): ScopeOffer[] {
  const asked = ((request.calls ?? []) as Call[]).filter(
    (call) => call.decision === undefined || call.decision === 'ask',
  );
  const labels = new Map<ScopeOffer['scope'], Set<string>>();
  for (const { scope, label } of asked.flatMap((call) => call.scopes ?? []))
    labels.set(scope, (labels.get(scope) ?? new Set()).add(label));
  return [...labels].map(([scope, words]) => ({ scope, label: [...words].join(', ') }));
}

/** A request for permission, with the exact arguments of each call; nothing is focused by itself. */
export function Approval({ request, since = null, onAnswer, children }: Props) {
  const [isBusy, setBusy] = useState(false);
  const [reason, setReason] = useState<string | null>(null);
  const now = useNow(since !== null);
  const calls = (request.calls ?? []) as Call[];
  const answer = (value: Answer) => {
    setBusy(true);
    void onAnswer(value).finally(() => setBusy(false));
  };
  return (
    <div className="card ask" role="group" aria-label={`Permission: ${calls.map((call) => call.name).join(', ')}`}>
      <div className="ask-head">
        <span>
          {calls.length > 1 ? `${calls.length} calls need your permission` : 'This call needs your permission'}
        </span>
        {since === null ? null : <span className="card-time">waiting {formatClock(now - since)}</span>}
      </div>
      {calls.map((call, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- calls keep their order
        <CallView key={index} call={call} />
      ))}
      {reason === null ? (
        <div className="card-actions">
          <button type="button" disabled={isBusy} onClick={() => answer({ decision: 'allow', scope: 'once' })}>
            Allow once
          </button>
          {offeredScopes(request).map(({ scope, label }) => (
            <button key={scope} type="button" disabled={isBusy} onClick={() => answer({ decision: 'allow', scope })}>
              Allow {label} in this thread
            </button>
          ))}
          {children}
          <button type="button" disabled={isBusy} onClick={() => setReason('')}>
            Deny…
          </button>
        </div>
      ) : (
        <form
          className="card-actions"
          onSubmit={(event) => {
            event.preventDefault();
            answer({ decision: 'deny', ...(reason.trim() ? { reason: reason.trim() } : {}) });
          }}
        >
          <input
            className="field"
            aria-label="Why it is denied"
            placeholder="Why? The model is told; may be empty"
            value={reason}
            autoFocus
            onChange={(event) => setReason(event.target.value)}
          />
          <button type="submit" className="dangerous" disabled={isBusy}>
            Deny
          </button>
          <button type="button" className="quiet" onClick={() => setReason(null)}>
            Back
          </button>
        </form>
      )}
    </div>
  );
}
