import { useState } from 'react';
import { Lamp } from '../parts/Lamp';
import type { RequestRow } from '../wire/types';
import type { Answer } from './calls';
import { useKeptFocus } from './useKeptFocus';

interface Props {
  request: RequestRow;
  asker: string;
  onAnswer: (answer: Answer) => Promise<boolean>;
}

const optionText = (option: unknown): string =>
  typeof option === 'object' && option !== null && 'label' in option ? String(option.label) : String(option);

/** A question of an agent: its options, or words of the person's own. */
export function Question({ request, asker, onAnswer }: Props) {
  const [text, setText] = useState('');
  const [isSent, setSent] = useState(false);
  const { card, focusCard } = useKeptFocus();
  const answer = (words: string) => {
    if (words.trim() === '') return;
    setSent(true);
    focusCard();
    void onAnswer({ text: words.trim() }).then((isTaken) => setSent(isTaken));
  };
  const options = (request.options ?? []).map(optionText);
  return (
    <section ref={card} tabIndex={-1} className="card ask" aria-label={`Question of ${asker}`} data-request={request.id}>
      <div className="ask-head">
        <Lamp state="wait" isSilent />
        <span>{asker} asks</span>
      </div>
      <p className="ask-question">{request.text}</p>
      {options.length === 0 ? null : (
        <div className="card-actions">
          {options.map((option) => (
            <button key={option} type="button" disabled={isSent} onClick={() => answer(option)}>
              {option}
            </button>
          ))}
        </div>
      )}
      <form
        className="card-actions"
        onSubmit={(event) => {
          event.preventDefault();
          answer(text);
        }}
      >
        <label className="label ask-reason">
          Your answer
          <input className="field" value={text} onChange={(event) => setText(event.target.value)} />
        </label>
        <button type="submit" disabled={isSent || text.trim() === ''}>
          Answer
        </button>
      </form>
    </section>
  );
}
