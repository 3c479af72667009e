/** The place that a page follows while it grows. */

/** A request that is higher than its box: it is read from its head, so that nothing is allowed unseen. */
function highRequest(box: HTMLElement): HTMLElement | null {
  return [...box.querySelectorAll<HTMLElement>('[data-request]')].find((card) => card.offsetHeight > box.clientHeight) ?? null;
}

/** Scroll to the end, or to the head of a request that does not fit. */
export function scrollToEnd(box: HTMLElement): void {
  const card = highRequest(box);
  if (card === null) box.scrollTop = box.scrollHeight;
  else box.scrollTop += card.getBoundingClientRect().top - box.getBoundingClientRect().top;
}

/** Whether a turn of the wheel leaves the place that is followed. */
export const isLeaving = (event: WheelEvent, box: HTMLElement): boolean => event.deltaY < 0 || highRequest(box) !== null;
