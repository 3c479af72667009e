import { useState } from 'react';

interface Props {
  isTask: boolean;
  /** Words that no turn has heard yet. */
  waiting: readonly string[];
  onSay: (text: string) => Promise<boolean>;
}

/** Words to the agents: the task of a run that has none, else guidance for the next turn. */
export function Guidance({ isTask, waiting, onSay }: Props) {
  const [text, setText] = useState('');
  const [isSent, setSent] = useState(false);
  const send = () => {
    if (text.trim() === '' || isSent) return;
    setSent(true);
    void onSay(text.trim()).then((isTaken) => {
      setSent(false);
      if (isTaken) setText('');
    });
  };
  return (
    <div className="run-words">
      {waiting.length === 0 ? null : (
        <ul className="run-waiting-words" aria-label="Words that no agent has read">
          {waiting.map((words, index) => (
            <li key={index}>
              <span>Not read by an agent yet:</span> {words}
            </li>
          ))}
        </ul>
      )}
      <form
        className="run-guidance"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <textarea
          className="field"
          aria-label={isTask ? 'Task' : 'Guidance for the agents'}
          placeholder={isTask ? 'What is to be done?' : 'Tell the agents something'}
          rows={1}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            send();
          }}
        />
        <button type="submit" disabled={isSent || text.trim() === ''}>
          {isTask ? 'Start' : 'Send'}
        </button>
      </form>
    </div>
  );
}
