import { useState } from 'react';
import { useAllCommands } from './commands';
import { Dialog } from './Dialog';
import { areKeysOn, keyLabel, switchKeys } from './keys';

/** Keys of text fields, which are no commands. */
const FIELDS = [
  ['Enter', 'Send the message'],
  ['Shift+Enter', 'New line'],
  ['ArrowUp', 'Edit your last message, in an empty field'],
  ['Escape', 'Stop the reply, or leave the field'],
] as const;

/** All keys; the list is made from the commands that there are. */
export function KeyMap({ onClose }: { onClose: () => void }) {
  const commands = useAllCommands().filter((command) => command.keys !== undefined);
  const [isOn, setOn] = useState(areKeysOn);
  const groups = [...new Set(commands.map((command) => command.group))];
  const row = (keys: string, label: string) => (
    <div key={`${keys} ${label}`} className="key-row">
      <dt>
        <kbd>{keyLabel(keys)}</kbd>
      </dt>
      <dd>{label}</dd>
    </div>
  );
  return (
    <Dialog title="Keys" onClose={onClose}>
      {groups.map((group) => (
        <section key={group}>
          <h3>{group}</h3>
          <dl className="keys">
            {commands.filter((item) => item.group === group).map((item) => row(item.keys ?? '', item.label))}
          </dl>
        </section>
      ))}
      <section>
        <h3>In the message field</h3>
        <dl className="keys">{FIELDS.map(([keys, label]) => row(keys, label))}</dl>
      </section>
      <label className="check">
        <input
          type="checkbox"
          checked={isOn}
          onChange={(event) => (setOn(event.target.checked), switchKeys(event.target.checked))}
        />
        Single letters are commands
      </label>
    </Dialog>
  );
}
