import { useState } from 'react';
import type { ModelRow } from '../wire/types';
import { Dialog } from './Dialog';
import { useModels } from './models';

function price(row: ModelRow): string {
  return row.price === null ? row.note : `$${row['price']['input']} / $${row['price']['output']} a million tokens`;
}

/** A choice of the models that can be used here, or of any by its name. */
export function ModelPicker({
  current,
  onPick,
  onClose,
}: {
  current: string | null;
  onPick: (model: string) => void;
  onClose: () => void;
}) {
  const rows = useModels();
  const [query, setQuery] = useState('');
  const words = query.toLowerCase().trim();
  const shown = (rows ?? [])
    .filter((row) => row.reference.toLowerCase().includes(words))
    .sort((a, b) => Number(b.usable) - Number(a.usable));
  const isNew = words.includes(':') && !shown.some((row) => row.reference === query.trim());
  const pick = (model: string) => (onPick(model), onClose());
  return (
    <Dialog title="Model" onClose={onClose}>
      <form
        onSubmit={(event) => (
          event.preventDefault(),
          query.trim() !== '' && pick(shown.find((row) => row.usable)?.reference ?? query.trim())
        )}
      >
        <input
          className="field"
          data-focus
          aria-label="Find a model"
          placeholder="Find a model, or write provider:name"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
        />
      </form>
      <ul className="models">
        {isNew ? (
          <li>
            <button type="button" className="menu-item" onClick={() => pick(query.trim())}>
              Use “{query.trim()}”
            </button>
          </li>
        ) : null}
        {shown.map((row) => (
          <li key={row.reference}>
            <button
              type="button"
              className="menu-item"
              disabled={!row.usable}
              aria-pressed={row.reference === current}
              onClick={() => pick(row.reference)}
            >
              <span className="mono">{row.reference}</span>
              <small>{row.usable ? price(row) : row.why}</small>
            </button>
          </li>
        ))}
      </ul>
      {rows === null ? <p className="empty">Loading…</p> : null}
    </Dialog>
  );
}
