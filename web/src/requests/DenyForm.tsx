import { useState } from 'react';

interface Props {
  isOff: boolean;
  onDeny: (reason: string) => void;
  onBack: () => void;
}

export function DenyForm({ isOff, onDeny, onBack }: Props) {
  const [reason, setReason] = useState('');
  return (
    <form
      className="card-actions"
      onSubmit={(event) => {
        event.preventDefault();
        onDeny(reason.trim());
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onBack();
      }}
    >
      <label className="label ask-reason">
        Why? The agent is told; it may be empty.
        {/* The person has just asked for this field. */}
        <input
          className="field"
          autoFocus
          value={reason}
          maxLength={2000}
          onChange={(event) => setReason(event.target.value)}
        />
      </label>
      <button type="submit" className="dangerous" disabled={isOff}>
        Deny
      </button>
      <button type="button" className="quiet" onClick={onBack}>
        Back
      </button>
    </form>
  );
}
