import { useState } from 'react';
import { Approval } from '../parts/Approval';
import { Lamp } from '../parts/Lamp';
import type { RequestRow, Respond } from '../wire/types';

type Answer = Omit<Respond, 'requestId'>;
interface Props {
  request: RequestRow;
  since: number;
  onAnswer: (answer: Answer) => Promise<unknown>;
}

function Question({ request, onAnswer }: Props) {
  const [text, setText] = useState('');
  return (
    <form
      className="card ask"
      aria-label="Question"
      onSubmit={(event) => (event.preventDefault(), void onAnswer({ text }))}
    >
      <div className="card-head">
        <Lamp state="wait" isSilent />
        <strong>{request.text ?? 'An answer is needed'}</strong>
      </div>
      <div className="card-actions">
        {(request.options ?? []).map((option) => (
          <button key={String(option)} type="button" onClick={() => void onAnswer({ text: String(option) })}>
            {String(option)}
          </button>
        ))}
        <input
          className="field"
          aria-label="Your answer"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <button type="submit" className="primary" disabled={text.trim() === ''}>
          Answer
        </button>
      </div>
    </form>
  );
}

function LimitCard({ request, onAnswer }: Props) {
  const next = Number(request.limit?.['next'] ?? 0);
  return (
    <div className="card ask" role="group" aria-label="Limit">
      <div className="card-head">
        <Lamp state="wait" isSilent />
        <strong>A limit is reached</strong>
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
    </div>
  );
}

/** A request of a chat to a person. */
export function Request(props: Props) {
  const { request } = props;
  if (request.limit !== undefined) return <LimitCard {...props} />;
  if (request.reason === 'tools')
    return <p className="note">Another client makes these calls and sends their results.</p>;
  if (request.calls !== undefined) return <Approval request={request} since={props.since} onAnswer={props.onAnswer} />;
  return <Question {...props} />;
}
