import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { errorText } from '../wire/http';
import { isObject, type Json } from './chart/model';
import { eventTemplate } from './template';
import type { Sending } from './Workbench';

interface Props {
  sending: Sending;
  draft: { type: string; count: number } | null;
  onChoose: (type: string) => void;
}

function parseEvent(text: string): Json {
  const event = JSON.parse(text) as Json;
  if (!isObject(event) || typeof event['type'] !== 'string')
    throw new Error('An event is a JSON object with a "type".');
  return event;
}

/** What can happen now, and a form for any event; the server checks it as it checks every event from outside. */
export function SendPanel({ sending, draft, onChoose }: Props) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState('');
  const [sent, setSent] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [filled, setFilled] = useState(0);
  const field = useRef<HTMLTextAreaElement>(null);
  const { schemas } = sending;
  useEffect(() => {
    if (!draft) return;
    setText(JSON.stringify(eventTemplate(draft.type, schemas[draft.type]), null, 2));
    setProblem('');
    setFilled(draft.count);
  }, [draft, schemas]);
  // The field gets the focus when it has the text of the event, so that this is what a key sends.
  useEffect(() => {
    if (filled) field.current?.focus();
  }, [filled]);
  const submit = async (event?: FormEvent): Promise<void> => {
    event?.preventDefault();
    setSent('');
    setBusy(true);
    try {
      const parsed = parseEvent(text);
      await sending.send(parsed);
      setProblem('');
      setSent(isObject(parsed) ? `${String(parsed['type'])} was taken.` : '');
    } catch (error) {
      setProblem(error instanceof SyntaxError ? `This is not JSON: ${error.message}` : errorText(error));
    } finally {
      setBusy(false);
    }
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void submit();
  };
  return (
    <section className="side-part" aria-labelledby="send-title">
      <h2 id="send-title">Can happen now</h2>
      {!sending.isLive && <p className="hint">Go back to live to send an event.</p>}
      {sending.isLive && sending.can.length === 0 && (
        <p className="hint">This actor takes no event from outside now.</p>
      )}
      <div className="events-now">
        {sending.isLive &&
          sending.can.map((type) => (
            <button key={type} type="button" onClick={() => onChoose(type)}>
              {type}
            </button>
          ))}
      </div>
      <form onSubmit={(event) => void submit(event)}>
        <textarea
          ref={field}
          aria-label="Event as JSON"
          rows={text.split('\n').length > 2 ? 6 : 2}
          spellCheck={false}
          placeholder={'{"type": "EVENT"}'}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={press}
        />
        <div className="send-row">
          <button type="submit" className="primary" disabled={!sending.isLive || isBusy || !text.trim()}>
            Send
          </button>
          <span role="status" className="hint">
            {sent}
          </span>
        </div>
        {problem && (
          <p role="alert" className="problem">
            {problem}
          </p>
        )}
      </form>
    </section>
  );
}
