import { Lamp } from '../parts/Lamp';
import type { Override, RequestRow } from '../wire/types';
import { Approval } from './Approval';
import type { Answer } from './calls';
import { Question } from './Question';

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
  /** Send an answer; return whether the server has taken it. */
  onAnswer: (answer: Answer) => Promise<boolean>;
}

function LimitCard({ request, onAnswer }: Pick<Props, 'request' | 'onAnswer'>) {
  const next = Number(request.limit?.['next'] ?? 0);
  return (
    <section className="card ask" aria-label="Limit" data-request={request.id}>
      <div className="ask-head">
        <Lamp state="wait" isSilent />
        <span>A limit is reached</span>
      </div>
      <p className="card-text">{request.text ?? ''}</p>
      <div className="card-actions">
        <button type="button" onClick={() => void onAnswer({ decision: 'allow', limit: next })}>
          Raise it to {next}
        </button>
        <button type="button" onClick={() => void onAnswer({ decision: 'deny' })}>
          End the turn here
        </button>
      </div>
    </section>
  );
}

/** A request of a thread to a person. */
export function Request(props: Props) {
  const { request, asker, onAnswer } = props;
  if (request.limit !== undefined) return <LimitCard request={request} onAnswer={onAnswer} />;
  if (request.reason === 'tools')
    return <p className="note">Another client makes these calls and sends their results.</p>;
  if (request.calls !== undefined) return <Approval {...props} />;
  return <Question request={request} asker={asker} onAnswer={onAnswer} />;
}
