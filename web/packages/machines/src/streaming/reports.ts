/** What the streaming machine tells its parent. The twin of the reports in `streaming.py`. */
import type { Json, MessageJson, UsageJson } from '../json.ts';
import { canAutoRetry } from './failures.ts';
import { replyMessage } from './reply.ts';
import type { Failure, StreamingContext, StreamingFields } from './types.ts';

interface PartialReply {
  requestId: string | null;
  text: string;
  usage: UsageJson | null;
  costUsd: number;
}
export type ReplyReport =
  | { type: 'REPLY.STARTED'; requestId: string | null }
  | ({ type: 'REPLY.FAILED'; error: Failure | null } & PartialReply)
  | ({ type: 'REPLY.CANCELLED' } & PartialReply)
  | { type: 'REPLY.COMPLETED'; message: MessageJson; requestId: string | null; [fact: string]: Json | MessageJson | UsageJson };

export type Report = (context: StreamingContext, event: StreamingFields) => ReplyReport | null;

/** Report that the reply has begun. */
export const started: Report = (context) => ({ type: 'REPLY.STARTED', requestId: context.requestId });

/** Report the complete reply. */
export const completed: Report = (context, event) => ({
  type: 'REPLY.COMPLETED',
  ...(event.problems === undefined ? {} : { problems: event.problems }),
  message: replyMessage(context, event),
  requestId: context.requestId,
  costUsd: context.costUsd,
  durationMs: context.durationMs,
  totalTokens: context.totalTokens,
  stop: context.stop,
  usage: context.usage as Json,
});

/** Report that the reply failed and is not retried. */
export const failed: Report = (context) =>
  canAutoRetry(context) ? null : { type: 'REPLY.FAILED', error: context.error, ...partialReply(context) };

/** Report that the reply was cancelled. */
export const cancelled: Report = (context) => ({ type: 'REPLY.CANCELLED', ...partialReply(context) });

function partialReply(context: StreamingContext): PartialReply {
  return { requestId: context.requestId, text: context.text, usage: context.usage, costUsd: context.spentUsd };
}
