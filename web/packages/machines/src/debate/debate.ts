/** A debate of the server, projected for a page: its machine runs at the server, which also says what can happen. */
import { type OpenedThread, Refused, type Transport } from '../transport.ts';

export type DebateState =
  | 'idle' | 'initializing' | 'awaitingArguments' | 'debating' | 'judgeEvaluating' | 'completed' | 'paused' | 'error';
export interface DebateParticipant {
  id: string;
  name: string;
  position: 'for' | 'against' | 'neutral';
  color: string;
}
export interface DebateResponse {
  participantId: string;
  content: string;
  tokensUsed: number;
  latencyMs: number;
  cost: string;
  failed?: boolean;
}
export interface DebateRound {
  phase: 'opening' | 'rebuttal' | 'closing';
  roundNumber: number;
  responses: DebateResponse[];
  tokensUsed: number;
  costThisRound: string;
  partial?: boolean;
}
export interface CostWarning {
  threshold: string;
  currentCost: string;
  timestamp: number | null;
  acknowledged: boolean;
}
/** Amounts are USD as decimal texts. */
export interface CostTracker {
  totalCost: string;
  costByModel: Record<string, string>;
  warningThreshold: string | null;
  limitThreshold: string | null;
  warnings: CostWarning[];
}
export interface Verdict {
  winner: string | null;
  tie: boolean;
  scores: Record<string, number>;
  criteria: Record<string, Record<string, number | string>>;
  reasoning: string;
}
export interface DebateError {
  type: 'model_error' | 'timeout' | 'cost_limit' | 'validation' | 'network';
  message: string;
  retryable: boolean;
  participantId?: string;
}
/** The content of a debate, as the page of its thread has it; what is not there yet is empty. */
export interface DebateContent {
  topic: string;
  participants: DebateParticipant[];
  maxRounds: number;
  rounds: DebateRound[];
  costTracker: CostTracker;
  verdict: Verdict | null;
  outcome: string | null;
  lastError: DebateError | null;
  interrupted: boolean;
}

/** An event that people send to a debate. */
export type DebateEvent =
  | { type: 'START_DEBATE' | 'PAUSE' | 'RESUME' | 'STOP' | 'RETRY' | 'JUDGE_NOW' | 'ACKNOWLEDGE_WARNING' }
  | { type: 'RAISE_LIMIT'; costLimit: number }
  | { type: 'INTERJECT'; text: string };
export type DebateTransport = Transport<OpenedThread, DebateEvent>;

/** The request that sends an event to the server. */
export interface ServerRequest {
  path: string;
  body: Record<string, unknown>;
}

/** Return the request for an event of a debate: each has an endpoint of its own. */
export function debateRequest(id: string, event: DebateEvent): ServerRequest {
  const { type, ...payload } = event;
  const path = `/threads/${encodeURIComponent(id)}/`;
  switch (type) {
    case 'START_DEBATE': return { path: `${path}start`, body: {} };
    case 'JUDGE_NOW': return { path: `${path}judge`, body: {} };
    case 'RAISE_LIMIT': return { path: `${path}limits`, body: payload };
    case 'ACKNOWLEDGE_WARNING': return { path: `${path}perform`, body: { action: type } };
    default: return { path: `${path}${type.toLowerCase()}`, body: payload };
  }
}

const ADDRESS = 'debate';
const NOTHING_SPENT: CostTracker = {
  totalCost: '0', costByModel: {}, warningThreshold: null, limitThreshold: null, warnings: [],
};
/** A debate that the server has not begun: its thread takes the start. */
const BEFORE = ['START', 'RESTART'];

/** The state of a debate in the form of a snapshot of XState, with what can happen now from the server. */
export class DebateSnapshot {
  readonly value: DebateState;
  readonly context: DebateContent;
  private readonly types: readonly string[];

  constructor(page: OpenedThread | null) {
    const { state = 'idle', ...content } = (page?.content ?? {}) as Partial<DebateContent> & { state?: DebateState };
    this.value = state;
    this.context = {
      topic: content.topic ?? '',
      participants: content.participants ?? [],
      maxRounds: content.maxRounds ?? 0,
      rounds: content.rounds ?? [],
      costTracker: content.costTracker ?? NOTHING_SPENT,
      verdict: content.verdict ?? null,
      outcome: content.outcome ?? null,
      lastError: content.lastError ?? null,
      interrupted: content.interrupted ?? false,
    };
    this.types = possible(page);
  }

  /** Return whether the debate is in a state. */
  matches(state: DebateState): boolean {
    return this.value === state;
  }

  /** Return whether the server takes an event of this type now. */
  can(event: { type: string }): boolean {
    return this.types.includes(event.type);
  }

  /** Return an event, or throw `Refused` if it cannot be taken now. */
  check(event: DebateEvent): DebateEvent {
    if (!this.can(event)) throw new Refused(event, this.types);
    return event;
  }
}

/** Return the types of events that a debate takes now; before its start they are those of its thread. */
function possible(page: OpenedThread | null): readonly string[] {
  const types = page?.can[ADDRESS] ?? [];
  const isBegun = page?.status !== 'pending';
  const canStart = !isBegun && BEFORE.some((type) => page?.can['']?.includes(type));
  return canStart && !types.includes('START_DEBATE') ? ['START_DEBATE', ...types] : types;
}

/** The figures of a debate that a page shows. */
export interface DebateFigures {
  state: DebateState;
  participants: DebateParticipant[];
  currentRound: number;
  maxRounds: number;
  totalCost: number;
  limit: number | null;
  /** The part of the limit that is spent, from 0 to 1; null without a limit. */
  spentShare: number | null;
  /** The first warning that nobody has acknowledged. */
  warning: CostWarning | null;
  verdict: Verdict | null;
  error: DebateError | null;
  isActive: boolean;
  isPaused: boolean;
  isOver: boolean;
  can: (event: { type: string }) => boolean;
}

const ACTIVE: readonly DebateState[] = ['initializing', 'awaitingArguments', 'debating', 'judgeEvaluating'];

/** Return the figures of a debate. */
export function debateFigures(snapshot: DebateSnapshot): DebateFigures {
  const { rounds, participants, maxRounds, costTracker, verdict, lastError } = snapshot.context;
  const totalCost = Number(costTracker.totalCost);
  const limit = costTracker.limitThreshold === null ? null : Number(costTracker.limitThreshold);
  return {
    state: snapshot.value,
    participants,
    currentRound: rounds.reduce((last, round) => Math.max(last, round.roundNumber), 0),
    maxRounds,
    totalCost,
    limit,
    spentShare: limit === null || limit === 0 ? null : Math.min(totalCost / limit, 1),
    warning: costTracker.warnings.find((warning) => !warning.acknowledged) ?? null,
    verdict,
    error: snapshot.matches('error') ? lastError : null,
    isActive: ACTIVE.includes(snapshot.value),
    isPaused: snapshot.value === 'paused',
    isOver: snapshot.value === 'completed',
    can: (event) => snapshot.can(event),
  };
}
