import { useState } from 'react';

/** Words to the agents: the task of a run that has none, else guidance for the next turn. */
export function Guidance({ isTask, onSay }: { isTask: boolean; onSay: (text: string) => Promise<boolean> }) {
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
        placeholder={isTask ? 'What is to be done?' : 'Tell the agents something; the next turn hears it'}
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
  );
}
