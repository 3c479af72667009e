/** A debate as the server gives it in `content` of its thread. */
export type Phase = 'opening' | 'rebuttal' | 'closing';
export type DebateState =
  'idle' | 'initializing' | 'awaitingArguments' | 'debating' | 'judgeEvaluating' | 'completed' | 'paused' | 'error';

export interface Model {
  provider: string;
  modelId: string;
}

export interface Participant {
  id: string;
  name: string;
  position: string;
  model: Model;
}

export interface Judge {
  id: string;
  name: string;
  model: Model;
  evaluationCriteria: string[];
}

export interface Response {
  participantId: string;
  content: string;
  tokensUsed: number;
  latencyMs: number;
  usage: { input?: number; output?: number; estimated?: boolean };
  cost: string;
  failed?: boolean;
  error?: { code?: string; message?: string };
}

export interface Quality {
  novelty: number;
  repetition: number;
  convergence: number;
  health: number;
  loops: string[];
  contradictions: { participantId: string; earlier: string; now: string }[];
}

export interface Round {
  phase: Phase;
  roundNumber: number;
  responses: Response[];
  tokensUsed: number;
  costThisRound: string;
  quality: Quality;
  partial?: boolean;
}

/** The round in progress; `target` is the state that a debate continues in which was paused or has failed. */
export interface CurrentRound {
  phase: Phase;
  roundNumber: number;
  responses: Response[];
  missing: string[];
  target: DebateState | null;
}

export interface Interjection {
  text: string;
  phase: Phase;
  roundNumber: number;
}

export interface CostTracker {
  totalCost: string;
  costByModel: Record<string, string>;
  warningThreshold: string | null;
  limitThreshold: string | null;
  warnings: { threshold: string; currentCost: string; acknowledged: boolean }[];
  overshoot: string;
  unseen: { calls: number; cost: string };
  unpriced: number;
}

export interface Reference {
  participantId: string;
  phase: Phase;
  round: number;
}

export interface Verdict {
  winner: string | null;
  tie: boolean;
  scores: Record<string, number>;
  criteria: Record<string, string | Record<string, number | string>>;
  reasoning: string;
  references: Reference[];
  tokensUsed: number;
}

export interface DebateError {
  type: string;
  message: string;
  retryable: boolean;
  participantId?: string;
  field?: string;
  code?: string;
  estimate?: string;
}

/** The turns of one debater in numbers. */
export interface Statistics {
  turns: number;
  words: number;
  tokens: number;
  cost: string;
  averageLatencyMs: number;
}

export interface Debate {
  topic: string;
  format: string;
  maxRounds: number;
  participants: Participant[];
  judge: Judge | null;
  rounds: Round[];
  interjections: Interjection[];
  verdict: Verdict | null;
  outcome: 'verdict' | 'stopped' | 'abandoned' | 'cost_limit' | null;
  costTracker: CostTracker;
  lastError: DebateError | null;
  stoppedEarly: string | null;
  state: DebateState;
  interrupted: boolean;
  current: CurrentRound | null;
  statistics: Record<string, Statistics>;
}
