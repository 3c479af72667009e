/** Context and events of the thread machine, as `thread.py` and `thread_events.py` have them. */
import type { Json } from '../json.ts';

export type ThreadStatus = 'pending' | 'running' | 'waiting' | 'completed' | 'failed' | 'stopped' | 'interrupted';
/** Reason why a thread runs again. */
export type ResumeReason = 'interrupted' | 'waiting-response' | 'post-merge' | 'follow-up';
export type WaitingReason =
  | 'question' | 'plan' | 'permission' | 'provider_error' | 'cost_warning' | 'limit' | 'tools';
export type Kind = 'chat' | 'run' | 'debate';
export type StartType = 'START' | 'RESTART' | 'RESPOND' | 'FOLLOW_UP';

/** A request to a person that waits for its answer; `address` is the path of the actor that takes it. */
export interface RequestJson {
  id: string;
  address: string;
  reason: string;
  [fact: string]: Json;
}

/** The end of a run. */
export interface ResultInfo {
  status: 'completed' | 'failed';
  cost: number;
  duration: number;
  error?: unknown;
}

/** The run, the content and the bookkeeping of a thread. */
export interface ThreadContext {
  threadId: string | null;
  kind: Kind | null;
  config: Record<string, Json>;
  content: Kind | null;
  runId: string | null;
  runs: number;
  resumeReason: ResumeReason | null;
  merged: boolean;
  waitingReason: WaitingReason | null;
  requests: RequestJson[];
  waits: number;
  processLost: boolean;
  permissionExpired: boolean;
  cost: number;
  resultInfo: ResultInfo | null;
  completedAt: number | null;
  archived: boolean;
  title: string | null;
  owner: string;
}

/** The input of a thread: any key of its context. */
export type ThreadInput = Partial<ThreadContext>;

/** The input of the actor of a thread's content. */
export interface ContentInput {
  threadId: string | null;
  reportsToParent: true;
  [setting: string]: Json;
}

interface Timed {
  at?: number;
}
/** Run the thread. */
export interface Begin extends Timed {
  type: StartType;
  runId?: string;
  message?: { text?: string | null; [field: string]: Json | undefined } | string;
  requestId?: string | null;
  retry?: boolean;
  postMerge?: boolean;
}
/** A run has ended, waits for a person, was stopped or was lost. */
export interface Report extends Timed {
  type: 'COMPLETE' | 'FAIL' | 'WAIT' | 'STOP' | 'INTERRUPT';
  runId?: string | null;
  cost?: number;
  duration?: number;
  error?: unknown;
  reason?: WaitingReason;
  requests?: RequestJson[];
}
/** No request of the content waits for a person any more. */
export interface GoOn extends Timed {
  type: 'GO_ON';
  runId?: string | null;
}
/** Set the status that another program reports. */
export interface SetStatus extends Timed {
  type: 'SET_STATUS';
  status: ThreadStatus;
  reason?: WaitingReason;
}
/** The work of the thread was merged; or the thread is put into the archive, or taken out of it. */
export interface Note extends Timed {
  type: 'MERGED' | 'ARCHIVE' | 'UNARCHIVE';
}
/** Set the title of the thread; without one, the title comes from its first words again. */
export interface Rename extends Timed {
  type: 'RENAME';
  title: string | null;
}

/** An event of the thread machine. */
export type ThreadEvent = Begin | Report | GoOn | SetStatus | Note | Rename;
/** The event that listeners get when a thread has another status. */
export interface StatusEvent {
  type: 'status';
  status: ThreadStatus;
  runId: string | null;
  resumeReason: ResumeReason | null;
  waitingReason: WaitingReason | null;
  cost: number;
  resultInfo: ResultInfo | null;
}

/** The fields of events, for functions that more than one event reaches, those of children included. */
export interface ThreadFields extends Timed {
  type: string;
  runId?: string | null;
  cost?: number | null;
  duration?: number | null;
  error?: unknown;
  reason?: WaitingReason | null;
  message?: unknown;
  requestId?: string | null;
  requests?: RequestJson[] | null;
  retry?: boolean;
  postMerge?: boolean;
}
