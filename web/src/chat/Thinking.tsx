import { useState } from 'react';

/** The thinking of a model, folded. */
export function Thinking({ text, isLive = false, ms = null }: { text: string; isLive?: boolean; ms?: number | null }) {
  const [isOpen, setOpen] = useState(false);
  const label = isLive ? 'Thinking…' : ms === null ? 'Thought' : `Thought for ${(ms / 1000).toFixed(1)} s`;
  return (
    <details className="thinking" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{label}</summary>
      {isOpen ? <p>{text}</p> : null}
    </details>
  );
}
