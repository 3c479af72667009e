import { useLayoutEffect, useRef, type RefObject } from 'react';

/** Where the keyboard goes on once a request is closed: the next request, or the log that it stood in. */
function focusNext(log: HTMLElement | null, closed: string | undefined): void {
  if (document.activeElement !== null && document.activeElement !== document.body) return;
  const others = [...document.querySelectorAll<HTMLElement>('[data-request]')];
  (others.find((card) => card.dataset['request'] !== closed) ?? log)?.focus({ preventScroll: true });
}

/** The card of a request, which keeps the focus while it is answered, and hands it on when it goes. */
export function useKeptFocus(): { card: RefObject<HTMLElement | null>; focusCard: () => void } {
  const card = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const place = card.current;
    const log = place?.parentElement?.closest<HTMLElement>('[tabindex]') ?? null;
    return () => {
      if (place?.contains(document.activeElement)) requestAnimationFrame(() => focusNext(log, place.dataset['request']));
    };
  }, []);
  return { card, focusCard: () => card.current?.focus({ preventScroll: true }) };
}
