/** The keyboard: one listener finds the command of a key. */
import { flushSync } from 'react-dom';
import { allCommands } from './commands';
import { kept } from './storage';

const SWITCH = 'antiphon.keys';

export const areKeysOn = (): boolean => kept.getItem(SWITCH) !== 'off';
export const switchKeys = (isOn: boolean): void => void kept.setItem(SWITCH, isOn ? 'on' : 'off');

/** The name of a pressed key, in the form of a command's `keys`. */
export function nameOf(event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>): string {
  const mod = event.ctrlKey || event.metaKey ? 'Mod+' : '';
  const alt = event.altKey ? 'Alt+' : '';
  return `${mod}${alt}${event.key.length === 1 ? event.key.toLowerCase() : event.key}`;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches('input, textarea, select');
}

function onKeyDown(event: KeyboardEvent): void {
  // Keys that compose a character belong to the input method.
  if (event.defaultPrevented || event.isComposing || event.keyCode === 229) return;
  const name = nameOf(event);
  const isPlain = !name.startsWith('Mod+') && !name.startsWith('Alt+');
  if (isPlain && name.length === 1 && (isTyping(event.target) || !areKeysOn())) return;
  if (document.querySelector('dialog[open]') !== null && isPlain) return;
  const command = allCommands().findLast((item) => item.keys === name);
  if (command === undefined) return;
  event.preventDefault();
  // What the next key meets is there before it is pressed.
  flushSync(command.run);
}

export function listenToKeys(): () => void {
  document.addEventListener('keydown', onKeyDown);
  return () => document.removeEventListener('keydown', onKeyDown);
}

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.userAgent);
const SHOWN: Record<string, string> = { ArrowUp: '↑', ArrowDown: '↓', ArrowLeft: '←', ArrowRight: '→', Escape: 'Esc' };

/** The keys of a command as they are written on keyboards. */
export function keyLabel(keys: string): string {
  return keys
    .split('+')
    .map((part) =>
      part === 'Mod' ? (IS_MAC ? '⌘' : 'Ctrl') : (SHOWN[part] ?? (part.length === 1 ? part.toUpperCase() : part)),
    )
    .join(IS_MAC ? '' : '+');
}
