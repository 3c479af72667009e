/** Keeps an item of a list in view by scrolling the list alone, also when the list changes its size. */
import { type RefObject, useEffect } from 'react';

function show(list: HTMLElement, selector: string): void {
  const item = list.querySelector(selector);
  if (!item) return;
  const outer = list.getBoundingClientRect();
  const inner = item.getBoundingClientRect();
  if (inner.top < outer.top) list.scrollTop -= outer.top - inner.top;
  else if (inner.bottom > outer.bottom) list.scrollTop += inner.bottom - outer.bottom;
}

/** `version` changes when another item is to be shown. */
export function useShown(list: RefObject<HTMLElement | null>, selector: string, version: unknown): void {
  useEffect(() => {
    const element = list.current;
    if (!element) return undefined;
    show(element, selector);
    const observer = new ResizeObserver(() => show(element, selector));
    observer.observe(element);
    return () => observer.disconnect();
  }, [list, selector, version]);
}
