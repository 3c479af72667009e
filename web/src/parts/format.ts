/** Numbers and times as people read them. */

const DAY_MS = 86_400_000;

export function formatUsd(usd: number): string {
  if (usd === 0) return '$0';
  if (usd < 0.0001) return '<$0.0001';
  return `$${usd.toFixed(usd < 0.1 ? 4 : 2)}`;
}

export function formatSeconds(ms: number): string {
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return formatClock(ms);
}

/** Minutes and seconds, with hours where there are any. */
export function formatClock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const parts = [Math.floor(seconds / 60) % 60, seconds % 60].map((part) => String(part).padStart(2, '0'));
  const hours = Math.floor(seconds / 3600);
  return hours > 0 ? `${hours}:${parts.join(':')}` : `${Number(parts[0])}:${parts[1]}`;
}

/** How long something still lasts: hours and seconds, or days where seconds say nothing. */
export const formatLeft = (ms: number): string =>
  ms < 2 * DAY_MS ? formatClock(ms) : plural(Math.floor(ms / DAY_MS), 'day');

export function formatCount(count: number): string {
  if (count < 10_000) return count.toLocaleString('en');
  if (count < 1_000_000) return `${(count / 1000).toFixed(count < 100_000 ? 1 : 0)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

export function formatBytes(count: number): string {
  if (count < 1024) return `${count} B`;
  const kilobytes = count / 1024;
  return kilobytes < 1024 ? `${kilobytes.toFixed(kilobytes < 10 ? 1 : 0)} KB` : `${(kilobytes / 1024).toFixed(1)} MB`;
}

export function formatTime(at: number): string {
  return new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', hour12: false });
}

/** When something was changed: the time of today, the day of this week, or the date. */
export function formatWhen(at: number, now: number): string {
  if (now - at < 60_000) return 'now';
  const date = new Date(at);
  if (date.toDateString() === new Date(now).toDateString()) return formatTime(at);
  if (now - at < 6 * DAY_MS) return date.toLocaleDateString('en', { weekday: 'short' });
  return date.toLocaleDateString('en', { day: 'numeric', month: 'short' });
}

export const plural = (count: number, word: string): string => `${formatCount(count)} ${word}${count === 1 ? '' : 's'}`;

/** A text on one line, cut after some characters. */
export function shorten(text: string, most: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= most ? line : `${line.slice(0, most - 1).trimEnd()}…`;
}

/** A model by its provider and its last name; the whole reference may be a path. */
export function modelName(reference: string): string {
  const [provider = '', ...rest] = reference.split(':');
  const name = rest.join(':').split('/').at(-1) ?? '';
  return name === '' ? reference : `${provider}:${name}`;
}
