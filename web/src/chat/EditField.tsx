import { useState } from 'react';

interface Props {
  text: string;
  onSave: (text: string) => Promise<boolean>;
  onCancel: () => void;
}

/** A message that is edited: saved, it is sent on a branch of its own. */
export function EditField({ text, onSave, onCancel }: Props) {
  const [draft, setDraft] = useState(text);
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    if (await onSave(draft.trim())) onCancel();
    else setBusy(false);
  };
  return (
    <form
      className="edit"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <textarea
        className="field"
        aria-label="Edit the message"
        value={draft}
        autoFocus
        onFocus={(event) => event.target.setSelectionRange(text.length, text.length)}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === 'Escape') onCancel();
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void save();
        }}
      />
      <div className="edit-actions">
        <button type="submit" className="primary" disabled={isBusy || draft.trim() === ''}>
          Send on a new branch
        </button>
        <button type="button" className="quiet" onClick={onCancel}>
          Cancel
        </button>
        <span className="note">The first version is kept.</span>
      </div>
    </form>
  );
}
