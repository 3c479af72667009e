/** Debates for unit tests. */
import type { Debate, Response, Round } from './types';

const QUALITY = { novelty: 10, repetition: 0, convergence: 0, health: 10, loops: [], contradictions: [] };

export function response(participantId: string, content = 'Words.'): Response {
  return { participantId, content, tokensUsed: 10, latencyMs: 100, usage: { input: 6, output: 4 }, cost: '0.01' };
}

export function round(phase: Round['phase'], roundNumber: number, more: Partial<Round> = {}): Round {
  const responses = [response('for'), response('against')];
  return { phase, roundNumber, responses, tokensUsed: 20, costThisRound: '0.02', quality: QUALITY, ...more };
}

export function debate(more: Partial<Debate> = {}): Debate {
  const model = { provider: 'scripted', modelId: 'debate' };
  return {
    topic: 'Should a city close its centre to private cars?',
    format: 'oxford',
    maxRounds: 2,
    participants: [
      { id: 'for', name: 'Ada', position: 'for', model },
      { id: 'against', name: 'Bruno', position: 'against', model },
    ],
    judge: { id: 'judge', name: 'Judge', model, evaluationCriteria: ['argument'] },
    rounds: [],
    interjections: [],
    verdict: null,
    outcome: null,
    costTracker: {
      totalCost: '0',
      costByModel: {},
      warningThreshold: null,
      limitThreshold: null,
      warnings: [],
      overshoot: '0',
      unseen: { calls: 0, cost: '0' },
      unpriced: 0,
    },
    lastError: null,
    stoppedEarly: null,
    state: 'debating',
    interrupted: false,
    current: { phase: 'rebuttal', roundNumber: 1, responses: [], missing: ['for', 'against'], target: 'debating' },
    statistics: {},
    ...more,
  };
}
