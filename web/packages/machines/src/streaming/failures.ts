/** Errors of a reply, and automatic retries. The twin of `streaming_failures.py`. */
import { isRecord } from '../json.ts';
import { hasBudget } from './budget.ts';
import type { Failure, StreamError, StreamingContext, StreamingFields } from './types.ts';

type Changes = Partial<StreamingContext>;

const JITTER_SHARE = 0.25;
// A call whose end was not observed may have been paid for: a person decides whether to repeat it.
const UNSEEN = ['interrupted', 'unknown'];

/** The setting whose limit has passed. */
export interface TimeoutParams {
  limit: 'firstEventMs' | 'inactivityMs';
}

/** Record the error that an event reports. */
export function setError(_context: StreamingContext, event: StreamError): Changes {
  const { code, message, recoverable, retryAfterMs } = event;
  return { error: { code, message, recoverable, ...(retryAfterMs == null ? {} : { retryAfterMs }) } };
}

/** Record the error that the running call ended with: an `Error`, or JSON of a durable host. */
export function setActorError(_context: StreamingContext, event: StreamingFields): Changes {
  const details: Partial<Failure> = isRecord(event.error) ? event.error : { message: String(event.error) };
  return {
    error: {
      code: details.code || '1001',
      message: details.message || 'Failed to send message',
      recoverable: details.recoverable === undefined ? true : details.recoverable,
    },
  };
}

/** Record that the call ended without completing the reply. */
export function setTruncated(): Changes {
  return { error: { code: '1004', message: 'The reply ended before it was complete', recoverable: true } };
}

/** Record that no event arrived within a limit. */
export function setTimeoutError(context: StreamingContext, _event: StreamingFields, params: TimeoutParams): Changes {
  const message = `Nothing came for ${context.settings[params.limit]} ms`;
  return { error: { code: '1003', message, recoverable: true } };
}

/** Record that the budget is spent. */
export function setBudgetError(context: StreamingContext): Changes {
  const message = `The budget of ${context.settings.budgetUsd} USD is spent`;
  return { error: { code: '3002', message, recoverable: false } };
}

/** Set the delay before the next automatic attempt, or null if there is none. */
export function planRetry(context: StreamingContext, event: StreamingFields): Changes {
  return { retryDelayMs: retryDelayMs(context, event.jitter ?? 0) };
}

function retryDelayMs(context: StreamingContext, jitter: number): number | null {
  const { error, settings, attempt } = context;
  if (error === null || !error.recoverable || UNSEEN.includes(error.code) || attempt >= settings.maxAttempts) return null;
  const hasArrived = context.text !== '' || context.thinking !== '' || Object.keys(context.tools).length > 0;
  if (hasArrived && !settings.retryAfterDelta) return null;
  const delayMs = error.retryAfterMs ?? settings.backoffMs * 2 ** attempt * (1 + jitter * JITTER_SHARE);
  return delayMs <= settings.longestRetryMs && hasBudget(context) ? delayMs : null;
}

/** Return whether the machine will try again by itself. */
export function canAutoRetry(context: StreamingContext): boolean {
  return context.retryDelayMs !== null;
}

/** Return whether there is a request to repeat, and budget left for it. */
export function canRetry(context: StreamingContext): boolean {
  return context.messages.length > 0 && hasBudget(context);
}
