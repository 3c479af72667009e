/** The calls of a request for permission. */
import type { RequestRow, Respond } from '../wire/types';

export type Answer = Omit<Respond, 'requestId'>;

export interface ScopeOffer {
  scope: 'command' | 'folder' | 'host' | 'tool';
  value: string;
  label: string;
}

export interface AskedCall {
  id: string;
  name: string;
  arguments: unknown;
  risk: string;
  kind: string;
  decision: string;
  by: string;
  reason: string;
  scopes: ScopeOffer[];
  sandbox: boolean;
  network: string[];
  protected: string[];
  path?: string;
  diff?: string;
  /** Set if the diff does not show the whole change. */
  cut?: boolean;
  /** Why its changes cannot be undone. */
  noUndo?: string;
}

export const callsOf = (request: RequestRow): AskedCall[] => (request.calls ?? []) as unknown as AskedCall[];

/** The arguments of a call; text that is no JSON stays text. */
export function argumentsOf(call: { arguments: unknown }): unknown {
  if (typeof call.arguments !== 'string') return call.arguments;
  try {
    return JSON.parse(call.arguments) as unknown;
  } catch {
    return call.arguments;
  }
}

export function commandOf(call: AskedCall): string | null {
  const value = argumentsOf(call);
  if (call.kind !== 'command' || typeof value !== 'object' || value === null) return null;
  const { command } = value as { command?: unknown };
  return typeof command === 'string' ? command : null;
}

/** What may be allowed for the rest of the run, each scope once, with the words of the server. */
export function offersOf(calls: readonly AskedCall[]): ScopeOffer[] {
  const offers = new Map<string, ScopeOffer>();
  for (const call of calls) {
    if (call.decision !== 'ask') continue;
    for (const offer of call.scopes) {
      const known = offers.get(offer.scope);
      offers.set(
        offer.scope,
        known === undefined || known.label === offer.label
          ? offer
          : { ...offer, label: `${known.label}, ${offer.label}` },
      );
    }
  }
  return [...offers.values()];
}

/** What a call gets if it is allowed. */
export function accessText(call: AskedCall): string {
  const parts: string[] = [];
  if (call.kind === 'command') parts.push(call.sandbox ? 'runs in a sandbox' : 'runs without a sandbox');
  if (call.network.length > 0)
    parts.push(call.network.includes('*') ? 'with the network' : `connects to ${call.network.join(', ')}`);
  if (call.protected.length > 0) parts.push(`protected: ${call.protected.join(', ')}`);
  return parts.join(' · ');
}
