/** The streaming machine: the chart of the Python package, and twins of its functions under the same names. */
import {
  type ActorRefFrom, type CallbackActorLogic, type SnapshotFrom, assign, enqueueActions, fromCallback, setup, spawnChild, stopChild,
} from 'xstate';
import chart from '../charts/streaming.json' with { type: 'json' };
import * as budget from './budget.ts';
import * as failures from './failures.ts';
import * as reply from './reply.ts';
import * as reports from './reports.ts';
import type {
  BudgetWarning, Chunk, Complete, ReplyInput, RequestStarted, SendPrompt, StreamError, StreamingContext, StreamingEvent,
  StreamingFields, StreamingInput, ToolCompleted, ToolStarted,
} from './types.ts';

/** The call of a model: it gets a `ReplyInput` and sends stream events to its parent. */
export type ReplyLogic = CallbackActorLogic<{ type: string }, ReplyInput>;

interface Args {
  context: StreamingContext;
  event: StreamingEvent;
}
interface Enqueue {
  assign(changes: Partial<StreamingContext>): void;
  emit(event: BudgetWarning): void;
  raise(event: StreamingEvent): void;
  sendParent(event: reports.ReplyReport): void;
}

// Events may also come from outside, so the default call does nothing.
const silence: ReplyLogic = fromCallback(() => undefined);

/** Return whether an event belongs to the current request; one that names no request does. */
function isCurrentRequest({ context, event }: Args): boolean {
  const { requestId } = event as StreamingFields;
  return requestId == null || requestId === context.requestId;
}

/** Return an action that sets keys of the context; the chart decides which events reach it. */
function update<E>(change: (context: StreamingContext, event: E) => Partial<StreamingContext>) {
  return assign<StreamingContext, StreamingEvent, undefined, StreamingEvent, never>(({ context, event }) =>
    change(context, event as E),
  );
}

/** Return an action that enqueues others. */
function doing(collect: (args: Args & { enqueue: Enqueue }) => void) {
  return enqueueActions<StreamingContext, StreamingEvent, undefined, StreamingEvent, never, never, never, never, BudgetWarning>(
    collect,
  );
}

/** Return an action that reports to the parent, if it waits for reports. */
function report(make: reports.Report) {
  return doing(({ context, event, enqueue }) => {
    const told = context.reportsToParent ? make(context, event as StreamingFields) : null;
    if (told !== null) enqueue.sendParent(told);
  });
}

const streaming = setup({
  types: {} as {
    context: StreamingContext;
    events: StreamingEvent;
    input: StreamingInput;
    emitted: BudgetWarning;
    tags: 'loading';
  },
  actors: { streamReply: silence },
  actions: {
    sendFirstPrompt: doing(({ event, enqueue }) => {
      const { prompt, requestId, at } = (event as StreamingFields).input ?? {};
      if (prompt === undefined) return;
      const send: SendPrompt = { type: 'SEND', prompt };
      if (requestId !== undefined) send.requestId = requestId;
      if (at !== undefined) send.at = at;
      enqueue.raise(send);
    }),
    resetForNewMessage: update<SendPrompt>(reply.resetForNewMessage),
    resetForRetry: update<StreamingFields>(reply.resetForRetry),
    fullReset: update(reply.fullReset),
    firstAttempt: update(reply.firstAttempt),
    nextAttempt: update(reply.nextAttempt),
    startReply: spawnChild('streamReply', { id: 'stream', input: ({ context }) => reply.replyInput(context) }),
    stopReply: stopChild('stream'),
    setRequest: update<RequestStarted>(reply.setRequest),
    noteFirstEvent: update<StreamingFields>(reply.noteFirstEvent),
    appendText: update<Chunk>(reply.appendText),
    appendThinking: update<Chunk>(reply.appendThinking),
    startTool: update<ToolStarted>(reply.startTool),
    completeTool: update<ToolCompleted>(reply.completeTool),
    interruptTools: update(reply.interruptTools),
    countEvent: update(reply.countEvent),
    lookAtEvents: update(reply.lookAtEvents),
    countStale: update(reply.countStale),
    setCompletion: update<Complete>(reply.setCompletion),
    keepReply: update<StreamingFields>(reply.keepReply),
    keepPartial: update(reply.keepPartial),
    setCancelled: update(reply.setCancelled),
    setError: update<StreamError>(failures.setError),
    setActorError: update<StreamingFields>(failures.setActorError),
    setTruncated: update(failures.setTruncated),
    setTimeoutError: assign(({ context, event }, params: failures.TimeoutParams) =>
      failures.setTimeoutError(context, event as StreamingFields, params),
    ),
    setBudgetError: update(failures.setBudgetError),
    planRetry: update<StreamingFields>(failures.planRetry),
    recordUsage: update<StreamingFields>(budget.recordUsage),
    warnOfBudget: doing(({ context, enqueue }) => {
      const warning = budget.budgetWarning(context);
      if (warning === null) return;
      enqueue.assign({ budgetWarned: true });
      enqueue.emit(warning);
    }),
    reportStarted: report(reports.started),
    reportCompleted: report(reports.completed),
    reportFailed: report(reports.failed),
    reportCancelled: report(reports.cancelled),
  },
  guards: {
    isCurrentRequest,
    isStale: (args) => !isCurrentRequest(args),
    isOwnRequest: ({ context, event }) =>
      context.requestId === null || (event as RequestStarted).requestId === context.requestId,
    hasBudget: ({ context }) => budget.hasBudget(context),
    breaksBudget: (args) =>
      isCurrentRequest(args) && budget.breaksBudget(args.context, args.event as StreamingFields),
    isSilent: ({ context }) => context.streamEvents === context.eventsAtLook,
    isCancelled: ({ context }) => context.cancelled,
    mustReport: ({ context }) => context.reportsToParent,
    canAutoRetry: ({ context }) => failures.canAutoRetry(context),
    canRetry: ({ context }) => failures.canRetry(context),
  },
  delays: {
    firstEvent: ({ context }) => context.settings.firstEventMs,
    inactivity: ({ context }) => context.settings.inactivityMs,
    retryDelay: ({ context }) => context.retryDelayMs ?? 0,
  },
});

/** The chart as JSON, as the Python package has it. */
export const streamingChart = chart;
// A chart from JSON has strings where the types of XState expect the names above; a test compares both.
type Config = Parameters<typeof streaming.createMachine>[0];
/** Machine of a conversation whose replies are streamed; provide the actor `streamReply` to call a model. */
export const streamingMachine = streaming.createMachine({
  ...(chart as unknown as Config),
  context: ({ input }) => reply.initialContext(input),
});
export type StreamingActor = ActorRefFrom<typeof streamingMachine>;
export type StreamingSnapshot = SnapshotFrom<typeof streamingMachine>;
