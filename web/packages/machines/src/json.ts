/** JSON that machines hold and exchange. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A message of a conversation. */
export interface MessageJson {
  role: string;
  parts: Json[];
  source?: string | null;
  at?: number | null;
  requestId?: string;
  partial?: boolean;
}

/** The tokens of a call. */
export interface UsageJson {
  input?: number;
  output?: number;
  cachedRead?: number;
  cachedWrite?: number;
  reasoning?: number;
  estimated?: boolean;
}

/** Return a value that may be null; one that is not there is replaced. */
export function orElse<T, D>(value: T | undefined, absent: D): T | D {
  return value === undefined ? absent : value;
}

/** Return whether a value is an object with keys. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
