/** The thread machine: the chart of the Python package, and twins of its functions under the same names. */
import {
  type ActorRefFrom, type AnyActorRef, type SnapshotFrom, type UnknownActorLogic, assign, emit, enqueueActions, setup,
} from 'xstate';
import chart from '../charts/thread.json' with { type: 'json' };
import { orElse } from '../json.ts';
import { remoteContent } from './content.ts';
import * as thread from './functions.ts';
import type {
  ContentInput, Kind, Rename, ResultInfo, ResumeReason, SetStatus, StatusEvent, ThreadContext, ThreadEvent, ThreadFields, ThreadInput,
  ThreadStatus,
} from './types.ts';

type Changes = Partial<ThreadContext>;
type Provided = { [K in Kind]: { src: K; logic: UnknownActorLogic; id: string | undefined } }[Kind];
interface Args {
  context: ThreadContext;
  event: ThreadEvent;
}
interface Enqueue {
  assign(changes: Changes): void;
  sendTo(target: string, event: { type: string }): void;
  spawnChild(src: Kind, options: { id: string; input: ContentInput }): void;
  stopChild(id: string): void;
}

/** Return an action that sets keys of the context; the chart decides which events reach it. */
function update<E = ThreadFields>(change: (context: ThreadContext, event: E) => Changes) {
  return assign<ThreadContext, ThreadEvent, undefined, ThreadEvent, Provided>(({ context, event }) =>
    change(context, event as E),
  );
}

/** Return such an action with parameters. */
function updateWith<P extends object>(change: (context: ThreadContext, event: ThreadFields, params: P) => Changes) {
  return assign<ThreadContext, ThreadEvent, P, ThreadEvent, Provided>(({ context, event }, params) =>
    change(context, event as ThreadFields, params),
  );
}

/** Return an action that enqueues others. */
function doing(collect: (args: Args & { enqueue: Enqueue }) => void) {
  return enqueueActions<ThreadContext, ThreadEvent, undefined, ThreadEvent, Provided, never, never, never, never>(
    ({ context, event, enqueue }) => collect({ context, event, enqueue: enqueue as Enqueue }),
  );
}

/** Return a guard; the chart decides which events reach it. */
function guard<E = ThreadFields>(test: (context: ThreadContext, event: E) => boolean) {
  return ({ context, event }: Args) => test(context, event as E);
}

/** Return the time of an event, or else of its step. */
function timeOf(event: ThreadFields, self: AnyActorRef): number {
  if (event.at != null) return event.at;
  const { clock } = self as unknown as { clock: { now?: () => number } };
  return Math.round(clock.now === undefined ? Date.now() : clock.now());
}

/** Return the context of a thread; the input may hold any of its keys. */
export function firstContext(input: ThreadInput = {}): ThreadContext {
  const defaults = Object.entries(chart.context) as [keyof ThreadContext, unknown][];
  return Object.fromEntries(defaults.map(([key, first]) => [key, orElse(input[key], first)])) as unknown as ThreadContext;
}

const threads = setup({
  types: {} as {
    context: ThreadContext;
    events: ThreadEvent;
    input: ThreadInput;
    emitted: StatusEvent;
    tags: 'startable' | 'busy' | 'ended';
  },
  actors: { chat: remoteContent, run: remoteContent, debate: remoteContent } as Record<Kind, UnknownActorLogic>,
  actions: {
    setResumeReason: updateWith<{ reason: ResumeReason | null }>(thread.setResumeReason),
    noteMerge: update(() => ({ merged: true })),
    setArchived: updateWith<{ archived: boolean }>((_context, _event, { archived }) => ({ archived })),
    rename: update<Rename>(thread.rename),
    beginRun: update(thread.beginRun),
    continueRun: update(thread.continueRun),
    confirmRun: update(thread.confirmRun),
    updateCost: update(thread.updateCost),
    setResultInfo: updateWith<{ status: ResultInfo['status'] }>(thread.setResultInfo),
    clearResultInfo: update(() => ({ resultInfo: null, completedAt: null })),
    noteEnd: assign(({ event, self }) => ({ completedAt: timeOf(event as ThreadFields, self) })),
    setWaitingReason: update(thread.setWaitingReason),
    setRequests: update(thread.setRequests),
    keepRequests: update(thread.keepRequests),
    clearRequests: update(() => ({ requests: [] })),
    loseProcess: update(thread.loseProcess),
    clearWaiting: update(() => ({ waitingReason: null, processLost: false, permissionExpired: false })),
    tellStatus: emit(({ context }, params: { status: ThreadStatus }) => thread.statusEvent(context, params)),
    startContent: doing(({ context, enqueue }) => {
      const { kind, content, config, threadId } = context;
      if (kind === null || content !== null) return;
      enqueue.spawnChild(kind, { id: kind, input: { ...config, threadId, reportsToParent: true } });
      enqueue.assign({ content: kind });
    }),
    tellContent: doing(({ context, event, enqueue }) => {
      const request = thread.contentEvent(context, event as ThreadFields);
      if (context.content !== null && request !== null) enqueue.sendTo(context.content, request);
    }),
    cancelContent: doing(({ context, enqueue }) => {
      const cancel = { type: 'cancel', runId: context.runId };
      if (context.content !== null) enqueue.sendTo(context.content, cancel);
    }),
    forgetContent: doing(({ context, enqueue }) => {
      // A child that has ended keeps its name until it is stopped; the next run needs the name.
      if (context.content === null) return;
      enqueue.stopChild(context.content);
      enqueue.assign({ content: null });
    }),
  },
  guards: {
    isOfThisRun: guard(thread.isOfThisRun),
    isOfLastRun: guard(thread.isOfLastRun),
    isInterruption: guard(thread.isInterruption),
    isInterruptionOfThisRun: guard(thread.isInterruptionOfThisRun),
    isInterruptionOfLastRun: guard(thread.isInterruptionOfLastRun),
    isConfirmation: guard(thread.isConfirmation),
    canQueue: guard(thread.canQueue),
    isAnswer: guard(thread.isAnswer),
    isStatus: ({ event }, params: { status: ThreadStatus }) => thread.isStatus(event as SetStatus, params),
    isTitle: guard<Rename>(thread.isTitle),
    hasLostProcess: guard((context) => context.processLost),
  },
});

/** The chart as JSON, as the Python package has it. */
export const threadChart = chart;
// A chart from JSON has strings where the types of XState expect the names above; a test compares both.
type Config = Parameters<typeof threads.createMachine>[0];
/** Machine of the status of a thread; provide the actors `chat`, `run` and `debate` to run a content here. */
export const threadMachine = threads.createMachine({
  ...(chart as unknown as Config),
  context: ({ input }) => firstContext(input),
});
export type ThreadActor = ActorRefFrom<typeof threadMachine>;
export type ThreadSnapshot = SnapshotFrom<typeof threadMachine>;
