/** What a run is, as `content` of an opened thread has it. */
import type { OpenedThread, Override } from '../wire/types';

export type StepStatus = 'pending' | 'in_progress' | 'complete' | 'failed' | 'skipped';

export interface PlanStep {
  index: number;
  description: string;
  status: StepStatus;
  dependsOn?: number[];
  agentUsed?: string;
  agent?: string;
}

export interface Plan {
  version: number;
  status: string;
  steps: PlanStep[];
  currentStepIndex: number;
}

export interface RunLimits {
  maxIterations: number | null;
  maxFailures: number | null;
  maxCostUsd: number | null;
  maxWallMs: number | null;
}

export interface RunOutcome {
  success: boolean;
  reason: string;
  summary: string;
  durationMs?: number;
  error?: string | { message?: string } | null;
}

export interface RunContent {
  task: string;
  model: string | null;
  agents: string[];
  plan: Plan | null;
  iterations: number;
  failures: number;
  costUsd: number;
  usage: { input?: number; output?: number; cachedRead?: number };
  limits: RunLimits;
  consent: { mode: string; overrides: Override[] };
  /** Words of the person that the next turn hears. */
  guidance: string[];
  startedAt: number | null;
  endedAt: number | null;
  outcome: RunOutcome | null;
}

export function contentOf(page: OpenedThread): RunContent {
  return page.content as unknown as RunContent;
}

/** The steps of a plan that are done with, and all of them. */
export function planProgress(plan: Plan): { done: number; all: number } {
  return {
    done: plan.steps.filter((step) => step.status === 'complete' || step.status === 'skipped').length,
    all: plan.steps.length,
  };
}

export interface RunCan {
  cancel: boolean;
  resume: boolean;
  retryTurn: boolean;
  forceAgent: boolean;
  skipStep: boolean;
  guide: boolean;
  runAgain: boolean;
}

/**
 * What a person can do with a run now. The run takes `resume` at any time and refuses it aloud, so a lost process is
 * told by a thread that waits and has no open request.
 */
export function possibleOf(page: OpenedThread): RunCan {
  const run = page.can['run'] ?? [];
  const thread = page.can[''] ?? [];
  const isLost = page.status === 'waiting' && page.requests.length === 0;
  const isEnded = page.status !== 'running' && page.status !== 'waiting';
  return {
    cancel: run.includes('CANCEL') && thread.includes('STOP'),
    resume: run.includes('resume') && isLost,
    retryTurn: run.includes('RETRY') && !isLost,
    forceAgent: run.includes('FORCE_AGENT') && !isLost,
    skipStep: run.includes('SKIP_STEP') && !isLost && contentOf(page).plan !== null,
    guide: page.status === 'pending' ? thread.includes('START') : run.includes('message') && !isLost,
    runAgain: isEnded && page.status !== 'pending' && thread.includes('START'),
  };
}
