/** Guards and actions of the thread machine. The twin of `thread.py`. */
import { isRecord } from '../json.ts';
import type {
  Rename, RequestJson, ResultInfo, ResumeReason, SetStatus, StartType, StatusEvent, ThreadContext, ThreadFields, ThreadStatus,
} from './types.ts';

type Changes = Partial<ThreadContext>;
type Guard = (context: ThreadContext, event: ThreadFields) => boolean;

/** Note to the model before a message that resumes a thread, by the reason; an answer needs none. */
const RESUME_PREFIXES: Partial<Record<ResumeReason, string>> = {
  interrupted: '[The session was interrupted before the last task was done. See how far it came, then go on.]\n\n',
  'post-merge': '[The work so far has been merged. Take the merged state as the starting point.]\n\n',
};
const START_EVENTS: Record<ThreadStatus, StartType> = {
  pending: 'START',
  running: 'FOLLOW_UP',
  waiting: 'RESPOND',
  completed: 'FOLLOW_UP',
  failed: 'RESTART',
  stopped: 'RESTART',
  interrupted: 'RESTART',
};

/** Return the type of the event that a person's message becomes for a thread of this status. */
export function startEvent(status: ThreadStatus): StartType {
  return START_EVENTS[status];
}

/** Return the note before a message; a command that begins with a slash gets none. */
export function resumeNote(text: string, reason: ResumeReason | null): string {
  return reason === null || text.startsWith('/') ? '' : RESUME_PREFIXES[reason] ?? '';
}

/** Return whether the event is about the current run, or names no run. */
export const isOfThisRun: Guard = (context, event) =>
  event.runId == null || context.runId === null || context.runId === event.runId;

/** Return whether the event names the run that has ended. */
export const isOfLastRun: Guard = (context, event) => event.runId != null && event.runId === context.runId;

/** Return whether the error says that a process was lost. */
export const isInterruption: Guard = (_context, event) => isRecord(event.error) && event.error.code === 'interrupted';

export const isInterruptionOfThisRun: Guard = (context, event) =>
  isInterruption(context, event) && isOfThisRun(context, event);

export const isInterruptionOfLastRun: Guard = (context, event) =>
  isInterruption(context, event) && isOfLastRun(context, event);

export const isConfirmation: Guard = (context, event) => event.message == null && isOfThisRun(context, event);

/** Return whether the content takes a message while it is busy; by default it does not. */
export const canQueue: Guard = (context, event) => {
  const { onBusy = 'reject' } = context.config;
  return onBusy !== 'reject' && context.content !== null && event.message != null;
};

/** Return whether an event continues a waiting thread: it answers a request to the thread itself, or has a message. */
export const isAnswer: Guard = (context, event) => {
  if (event.requestId != null) {
    return context.requests.some((request) => request.id === event.requestId && request.address === '');
  }
  return context.content === null || event.message != null || Boolean(event.retry);
};

export const isTitle = (_context: ThreadContext, event: Rename): boolean =>
  event.title == null || typeof event.title === 'string';

export const isStatus = (event: SetStatus, params: { status: ThreadStatus }): boolean => event.status === params.status;

export function setResumeReason(
  context: ThreadContext, event: ThreadFields, params: { reason: ResumeReason | null },
): Changes {
  return { resumeReason: context.merged || event.postMerge ? 'post-merge' : params.reason, merged: false };
}

export function rename(_context: ThreadContext, event: Rename): Changes {
  return { title: event.title || null };
}

export function beginRun(context: ThreadContext, event: ThreadFields): Changes {
  return { runId: event.runId || `run-${context.runs + 1}`, runs: context.runs + 1 };
}

export function continueRun(context: ThreadContext, event: ThreadFields): Changes {
  const runId = event.runId || context.runId;
  return runId ? { runId } : beginRun(context, event);
}

export function confirmRun(context: ThreadContext, event: ThreadFields): Changes {
  return { runId: context.runId || (event.runId ?? null) };
}

export function setResultInfo(
  context: ThreadContext, event: ThreadFields, params: { status: ResultInfo['status'] },
): Changes {
  const resultInfo: ResultInfo = {
    status: params.status,
    cost: event.cost ?? context.cost,
    duration: event.duration || 0,
  };
  if (event.error != null) resultInfo.error = errorToJson(event.error);
  return { resultInfo };
}

function errorToJson(error: unknown): unknown {
  return error instanceof Error ? { name: error.name, message: error.message } : error;
}

export function updateCost(context: ThreadContext, event: ThreadFields): Changes {
  return { cost: event.cost ?? context.cost };
}

export function setWaitingReason(context: ThreadContext, event: ThreadFields): Changes {
  return { waitingReason: event.reason || context.waitingReason };
}

/** Set the open requests; a report that names none is a request to the thread itself. */
export function setRequests(context: ThreadContext, event: ThreadFields): Changes {
  if (event.requests !== undefined) return keepRequests(context, event);
  const waits = context.waits + 1;
  return { requests: [{ id: `wait-${waits}`, address: '', reason: context.waitingReason || 'question' }], waits };
}

/** Set the open requests to those of the event, with addresses below the thread. */
export function keepRequests(context: ThreadContext, event: ThreadFields): Changes {
  return { requests: (event.requests ?? []).map((request) => below(context.content, request)) };
}

function below(content: string | null, request: RequestJson): RequestJson {
  return { ...request, address: [content, request.address].filter(Boolean).join('/') };
}

export function loseProcess(context: ThreadContext): Changes {
  return { processLost: true, permissionExpired: context.waitingReason === 'permission' };
}

/** Return the event that listeners get when a thread has another status. */
export function statusEvent(context: ThreadContext, params: { status: ThreadStatus }): StatusEvent {
  return {
    type: 'status',
    status: params.status,
    runId: context.runId,
    resumeReason: context.resumeReason,
    waitingReason: context.waitingReason,
    cost: context.cost,
    resultInfo: context.resultInfo,
  };
}

/** Return the event for the content: a message or a request to go on, with the run it belongs to; or null. */
export function contentEvent(context: ThreadContext, event: ThreadFields): { type: string } | null {
  const request = requestOf(event);
  if (request === null) return null;
  const text = 'text' in request && typeof request.text === 'string' ? request.text : '';
  const { resumeReason, runId } = context;
  return { ...request, resumeReason, runId, resumeNote: resumeNote(text, resumeReason) } as { type: string };
}

function requestOf(event: ThreadFields): { type: string; text?: unknown } | null {
  if (event.message != null) {
    // The content itself refuses a message that is no object.
    return { ...(isRecord(event.message) ? event.message : { text: event.message }), type: 'message' };
  }
  if (event.retry) return { type: 'retry' };
  return event.type === 'RESTART' ? { type: 'resume' } : null;
}
