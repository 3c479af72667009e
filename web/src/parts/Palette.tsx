import { useId, useMemo, useState, type KeyboardEvent } from 'react';
import { useAllCommands, type Command } from './commands';
import { Dialog } from './Dialog';
import { keyLabel } from './keys';

const MOST = 50;

function matches(command: Command, words: string[]): boolean {
  const text = `${command.group} ${command.label}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

/** All commands, found by typing. */
export function Palette({
  more,
  onWords,
  onClose,
}: {
  more: readonly Command[];
  /** What is typed, for those who know more commands. */
  onWords: (words: string) => void;
  onClose: () => void;
}) {
  const commands = useAllCommands();
  const [query, setQuery] = useState('');
  const [index, setIndex] = useState(0);
  const id = useId();
  const shown = useMemo(() => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    return [...commands, ...more].filter((command) => matches(command, words)).slice(0, MOST);
  }, [commands, more, query]);
  const chosen = shown[Math.min(index, shown.length - 1)];
  const run = (command: Command | undefined) => {
    onClose();
    command?.run();
  };
  const move = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setIndex((old) => (Math.min(old, shown.length - 1) + step + shown.length) % Math.max(shown.length, 1));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      run(chosen);
    }
  };
  return (
    <Dialog title="Commands" onClose={onClose}>
      <input
        className="field"
        data-focus
        role="combobox"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={chosen === undefined ? undefined : `${id}-${chosen.id}`}
        aria-label="Find a command or a thread"
        placeholder="Find a command or a thread"
        value={query}
        onChange={(event) => (setQuery(event.target.value), setIndex(0), onWords(event.target.value))}
        onKeyDown={move}
      />
      <ul className="palette" id={id} role="listbox" aria-label="Commands">
        {shown.map((command) => (
          <li
            key={command.id}
            id={`${id}-${command.id}`}
            role="option"
            aria-selected={command === chosen}
            onClick={() => run(command)}
          >
            <span className="palette-group">{command.group}</span>
            <span className="palette-label">{command.label}</span>
            {command.keys === undefined ? null : <kbd>{keyLabel(command.keys)}</kbd>}
          </li>
        ))}
      </ul>
      {shown.length === 0 ? <p className="empty">Nothing has this name.</p> : null}
    </Dialog>
  );
}
