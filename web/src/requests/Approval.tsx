import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { formatClock, formatLeft } from '../parts/format';
import { Lamp } from '../parts/Lamp';
import { showHidden } from '../parts/visible';
import { useNow } from '../parts/useNow';
import type { Override, RequestRow } from '../wire/types';
import { AskedCallView } from './AskedCallView';
import { callsOf, offersOf, type Answer } from './calls';
import { DenyForm } from './DenyForm';
import { EditForm } from './EditForm';
import { overrideText } from './grants';
import { useKeptFocus } from './useKeptFocus';

interface Props {
  request: RequestRow;
  /** The agent or model that asks. */
  asker: string;
  /** When it was asked, in milliseconds since the epoch. */
  since: number | null;
  /** What was allowed before, beyond single calls. */
  grants: readonly Override[];
  /** The thread, in words of its kind: `run` or `chat`. */
  noun: string;
  onAnswer: (answer: Answer) => Promise<boolean>;
}

/** Buttons that have just appeared do not take a click that was meant for something else. */
const ARM_MS = 350;

function useArmed(id: string): boolean {
  const [armed, setArmed] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setArmed(id), ARM_MS);
    return () => clearTimeout(timer);
  }, [id]);
  return armed === id;
}

function AskHead({ request, asker, since }: Pick<Props, 'request' | 'asker' | 'since'>) {
  const now = useNow(since !== null);
  const calls = callsOf(request);
  const waited = since === null ? 0 : now - since;
  const left = request.timeoutMs === undefined ? null : request.timeoutMs - waited;
  return (
    <div className="ask-head">
      <Lamp state="wait" isSilent />
      <span>
        {asker} wants to call{' '}
        {calls.length === 1 ? <span className="mono">{showHidden(calls[0]?.name ?? '')}</span> : `${calls.length} tools`}
      </span>
      {since === null ? null : (
        <span className="card-time">
          waiting {formatClock(waited)}
          {left === null ? null : ` · expires in ${formatLeft(left)}`}
        </span>
      )}
    </div>
  );
}

/** A request for permission, with each call in full; nothing in it is focused by itself. */
export function Approval({ request, asker, since, grants, noun, onAnswer }: Props) {
  const [form, setForm] = useState<'none' | 'deny' | 'edit'>('none');
  const opened = useRef<'none' | 'deny' | 'edit'>('none');
  const { card, focusCard } = useKeptFocus();
  useLayoutEffect(() => {
    // A form that is left gives the focus back to the button that has opened it.
    if (form === 'none' && opened.current !== 'none')
      card.current?.querySelector<HTMLElement>(`[data-opens="${opened.current}"]`)?.focus();
    opened.current = form;
  }, [form, card]);
  const [isSent, setSent] = useState(false);
  const isArmed = useArmed(request.id);
  const calls = callsOf(request);
  const isOff = isSent || !isArmed;
  const answer = (value: Answer) => {
    setSent(true);
    // The button that was pressed is disabled now, and would lose the focus to the page.
    focusCard();
    void onAnswer(value).then((isTaken) => setSent(isTaken));
  };
  const name = `Permission for ${asker}: ${calls.map((call) => call.name).join(', ')}`;
  return (
    <section ref={card} tabIndex={-1} className="card ask" aria-label={name} data-request={request.id}>
      <AskHead request={request} asker={asker} since={since} />
      {calls.map((call) => (
        <AskedCallView key={call.id} call={call} isOnly={calls.length === 1} />
      ))}
      <p className="ask-grants">
        {grants.length === 0 ? `Nothing is allowed beyond single calls in this ${noun}.` : `Allowed in this ${noun}:`}
        {grants.map((grant) => (
          <span key={overrideText(grant)} className="chip">
            {overrideText(grant)}
          </span>
        ))}
      </p>
      {form === 'deny' ? (
        <DenyForm
          isOff={isOff}
          onBack={() => setForm('none')}
          onDeny={(reason) => answer({ decision: 'deny', ...(reason ? { reason } : {}) })}
        />
      ) : null}
      {form === 'edit' ? (
        <EditForm calls={calls} isOff={isOff} onBack={() => setForm('none')} onAnswer={answer} />
      ) : null}
      {form === 'none' ? (
        <div className="card-actions">
          <button
            type="button"
            className="primary"
            disabled={isOff}
            onClick={() => answer({ decision: 'allow', scope: 'once' })}
          >
            Allow once
          </button>
          <button type="button" disabled={isOff} data-opens="deny" onClick={() => setForm('deny')}>
            Deny…
          </button>
          <button type="button" disabled={isOff} data-opens="edit" onClick={() => setForm('edit')}>
            Edit…
          </button>
          {offersOf(calls).map((offer) => (
            <button
              key={offer.scope}
              type="button"
              disabled={isOff}
              onClick={() => answer({ decision: 'allow', scope: offer.scope })}
            >
              Allow in this {noun}: {showHidden(offer.label)}
            </button>
          ))}
        </div>
      ) : null}
    </section>
  );
}
