// Short texts for events, guards and actions, as the drawings of `antiphon chart` have them.
export type TransitionKind = 'event' | 'after' | 'always' | 'done' | 'error';

const INTERNAL = 'xstate.';
const ENDINGS: [string, string][] = [
  ['xstate.done.actor.', 'done'],
  ['xstate.error.actor.', 'error'],
  ['xstate.snapshot.', 'snapshot'],
  ['xstate.timeout.actor.', 'timeout'],
];

export function kindOf(event: string): TransitionKind {
  if (event === '') return 'always';
  if (event.startsWith('xstate.after.')) return 'after';
  if (event.startsWith('xstate.error.') || event.startsWith('xstate.timeout.')) return 'error';
  return event.startsWith(INTERNAL) ? 'done' : 'event';
}

/** A readable name of an event type, at the state that reacts to it. */
export function eventLabel(event: string, state: string): string {
  if (event === '') return 'always';
  if (!event.startsWith(INTERNAL)) return event;
  if (event === 'xstate.init') return 'start';
  if (event.startsWith('xstate.done.state.')) return 'done';
  const after = 'xstate.after.';
  if (event.startsWith(after)) {
    const delay = event.slice(after.length);
    return `after ${duration(delay.endsWith(`.${state}`) ? delay.slice(0, -state.length - 1) : (delay.split('.')[0] ?? ''))}`;
  }
  for (const [prefix, word] of ENDINGS) {
    if (event.startsWith(prefix))
      return `${word} ${event.slice(prefix.length).replace(new RegExp(`^\\d+\\.${escape(state)}$`), '')}`.trim();
  }
  return event.slice(INTERNAL.length);
}

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

function duration(delay: string): string {
  if (!/^\d+(\.\d+)?$/.test(delay)) return delay;
  const ms = Number(delay);
  if (ms >= 60_000 && ms % 60_000 === 0) return `${ms / 60_000} min`;
  return ms >= 1000 && ms % 1000 === 0 ? `${ms / 1000} s` : `${ms} ms`;
}

/** The name of an action, however a chart writes it. */
export function actionLabel(action: unknown): string {
  if (typeof action === 'string') return action;
  if (typeof action === 'function') return (action as { type?: string }).type ?? (action.name || 'function');
  if (typeof action === 'object' && action !== null && 'type' in action) return String(action.type);
  return 'function';
}

/** A guard in words; nothing if there is none. */
export function guardLabel(guard: unknown): string {
  if (guard === undefined || guard === null) return '';
  if (typeof guard === 'object' && 'type' in guard) {
    const { type, params, guards } = guard as { type: unknown; params?: unknown; guards?: unknown };
    const name = String(type).replace(INTERNAL, '');
    if (Array.isArray(guards)) {
      const inner = guards.map((each) => (isCombined(each) ? `(${guardLabel(each)})` : guardLabel(each)));
      return name === 'not' ? `not ${inner[0] ?? ''}` : inner.join(` ${name} `);
    }
    return name === 'stateIn' ? `in ${stateInLabel(params)}` : `${name}${parameters(params)}`;
  }
  return actionLabel(guard);
}

function isCombined(guard: unknown): boolean {
  return (
    typeof guard === 'object' &&
    guard !== null &&
    'guards' in guard &&
    Array.isArray(guard.guards) &&
    guard.guards.length > 1
  );
}

function stateInLabel(params: unknown): string {
  const value = typeof params === 'object' && params !== null && 'stateValue' in params ? params.stateValue : params;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function parameters(params: unknown): string {
  if (params === undefined || params === null || typeof params === 'function') return '';
  if (typeof params !== 'object') return `(${String(params)})`;
  const parts = Object.entries(params).map(
    ([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return parts.length ? `(${parts.join(', ')})` : '';
}

/** A state value in one line: `a`, `a.b`, or `(a.b, c)` where several regions are active. */
export function valueLabel(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'object') return String(value);
  const parts = Object.entries(value).map(([key, inner]) => {
    const below = valueLabel(inner);
    return below ? `${key}.${below}` : key;
  });
  return parts.length > 1 ? `(${parts.join(', ')})` : parts.join('');
}
