/** Arrow keys step through time, and Escape goes back to the last step. */
import { useLayoutEffect } from 'react';
import type { Entry } from './entries';

/** The step that a key leads to: undefined for a key that means nothing here, null for the last step. */
export function stepFor(
  key: string,
  shown: readonly Entry[],
  last: number,
  current: number,
): number | null | undefined {
  const seqs = shown.map((entry) => entry.seq);
  const asStep = (seq: number | undefined): number | null | undefined =>
    seq === undefined ? undefined : seq >= last ? null : seq;
  switch (key) {
    case 'ArrowLeft':
      return asStep(seqs.findLast((seq) => seq < current));
    case 'ArrowRight':
      return asStep(seqs.find((seq) => seq > current));
    case 'Home':
      return asStep(seqs[0]);
    case 'End':
    case 'Escape':
      return null;
    default:
      return undefined;
  }
}

const isWriting = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('input, textarea, select, dialog, [contenteditable]') !== null;

export function useStepKeys(
  shown: readonly Entry[],
  last: number,
  current: number,
  onStep: (step: number | null) => void,
): void {
  // Before the next key: it may be pressed as soon as a step is seen.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || isWriting(event.target)) return;
      const step = stepFor(event.key, shown, last, current);
      if (step === undefined) return;
      event.preventDefault();
      onStep(step);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [shown, last, current, onStep]);
}
