import { type KeyboardEvent, useId, useState } from 'react';
import type { ChartState } from './chart/model';

/** Search for a state by a part of its name; the arrow keys choose among those found. */
export function StateSearch({
  find,
  onPick,
}: {
  find: (text: string) => ChartState[];
  onPick: (state: string) => void;
}) {
  const [text, setText] = useState('');
  const [isOpen, setOpen] = useState(false);
  const [index, setIndex] = useState(0);
  const list = useId();
  const states = isOpen ? find(text).slice(0, 12) : [];
  const go = (state: ChartState | undefined): void => {
    if (!state) return;
    onPick(state.id);
    setText(state.key);
    setOpen(false);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      setOpen(true);
      setIndex((before) => (before + (event.key === 'ArrowDown' ? 1 : states.length - 1)) % Math.max(1, states.length));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      go(isOpen ? states[index] : find(text)[0]);
    } else if (event.key === 'Escape') {
      setOpen(false);
    }
  };
  return (
    <div className="state-search">
      <input
        type="search"
        role="combobox"
        aria-label="Find a state"
        placeholder="Find a state"
        aria-expanded={states.length > 0}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={states[index] ? `${list}-${index}` : undefined}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setOpen(true);
          setIndex(0);
        }}
        onKeyDown={press}
        onBlur={() => setOpen(false)}
      />
      <ul id={list} role="listbox" aria-label="States" hidden={states.length === 0}>
        {states.map((state, number) => (
          <li
            key={state.id}
            id={`${list}-${number}`}
            role="option"
            aria-selected={number === index}
            onMouseDown={(event) => {
              event.preventDefault();
              go(state);
            }}
          >
            <b>{state.key}</b> <span>{state.id}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
