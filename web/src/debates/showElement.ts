const LIT_MS = 1_600;

/** Scroll to an element and focus it; a turn is lit for a moment. */
export function showElement(id: string): void {
  const element = document.getElementById(id);
  if (element === null) return;
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
  element.scrollIntoView({ behavior: isStill ? 'auto' : 'smooth', block: 'start', inline: 'nearest' });
  element.focus({ preventScroll: true });
  if (!element.matches('.turn')) return;
  element.dataset['lit'] = 'true';
  setTimeout(() => delete element.dataset['lit'], LIT_MS);
}
