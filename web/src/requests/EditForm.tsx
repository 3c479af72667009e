import { useState } from 'react';
import { argumentsOf, type Answer, type AskedCall } from './calls';
import { showHidden } from '../parts/visible';
import { canonical, draftOf, readDraft, type Draft } from './edits';

interface Props {
  calls: readonly AskedCall[];
  isOff: boolean;
  onAnswer: (answer: Answer) => void;
  onBack: () => void;
}

interface FieldsProps {
  call: AskedCall;
  draft: Draft;
  isFocused: boolean;
  onChange: (draft: Draft) => void;
}

function Fields({ call, draft, isFocused, onChange }: FieldsProps) {
  return (
    <fieldset className="ask-edit-call">
      <legend className="mono">{showHidden(call.name)}</legend>
      {Object.entries(draft).map(([name, text], index) => (
        <label key={name} className="label">
          {showHidden(name)}
          {/* The person has just asked for this form. */}
          <textarea
            autoFocus={isFocused && index === 0}
            className="field mono"
            rows={Math.min(16, text.split('\n').length)}
            spellCheck={false}
            value={text}
            onChange={(event) => onChange({ ...draft, [name]: event.target.value })}
          />
          {showHidden(text) === text ? null : (
            <small className="mono ask-marked">Sent as {showHidden(text)}</small>
          )}
        </label>
      ))}
    </fieldset>
  );
}

/** The arguments of the calls to change: the calls are made with them, once. */
export function EditForm({ calls, isOff, onAnswer, onBack }: Props) {
  const asked = calls.filter((call) => call.decision === 'ask');
  const [drafts, setDrafts] = useState<readonly Draft[]>(() => asked.map((call) => draftOf(argumentsOf(call))));
  const [fault, setFault] = useState('');
  const send = () => {
    const edits: Record<string, Record<string, unknown>> = {};
    for (const [index, call] of asked.entries()) {
      const read = readDraft(drafts[index] ?? {}, argumentsOf(call));
      if ('wrong' in read) return setFault(`${read.wrong} of ${call.name} must be JSON, such as true, 3 or "text".`);
      if (canonical(read.value) !== canonical(argumentsOf(call))) edits[call.id] = read.value;
    }
    if (Object.keys(edits).length === 0)
      return setFault('Nothing was changed. Change an argument, or go back and allow the call.');
    onAnswer({ decision: 'allow', scope: 'once', arguments: edits });
  };
  return (
    <form
      className="ask-edit"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !event.nativeEvent.isComposing) onBack();
      }}
    >
      {asked.map((call, index) => (
        <Fields
          key={call.id}
          call={call}
          draft={drafts[index] ?? {}}
          isFocused={index === 0}
          onChange={(draft) => setDrafts(drafts.with(index, draft))}
        />
      ))}
      <p className="ask-edit-note">
        The call is made once with these arguments, with no more access than the question offers. The agent is told.
      </p>
      {fault === '' ? null : (
        <p role="alert" className="ask-fault">
          {fault}
        </p>
      )}
      <div className="card-actions">
        <button type="submit" disabled={isOff}>
          Allow once with these arguments
        </button>
        <button type="button" className="quiet" onClick={onBack}>
          Back
        </button>
      </div>
    </form>
  );
}
