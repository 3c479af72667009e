import { expect, test } from 'vitest';
import { type OpenedThread, Refused } from '../transport.ts';
import { DebateSnapshot, debateFigures, debateRequest } from './debate.ts';

const WARNING = { threshold: '0.5', currentCost: '0.6', timestamp: 1, acknowledged: false };

function page(state: string, can: string[], content: Record<string, unknown> = {}): OpenedThread {
  return { id: 'd', kind: 'debate', status: 'running', can: { '': ['STOP'], debate: can }, content: { state, ...content } };
}

test('S4-118 · a snapshot of the server is read as one of a machine', () => {
  const snapshot = new DebateSnapshot(page('debating', ['PAUSE', 'STOP'], { topic: 'Cars?', maxRounds: 3 }));

  expect(snapshot.value).toBe('debating');
  expect(snapshot.context).toMatchObject({ topic: 'Cars?', maxRounds: 3, verdict: null });
  expect([snapshot.matches('debating'), snapshot.matches('paused')]).toEqual([true, false]);
});

test('S4-118 · the server says what can happen', () => {
  const snapshot = new DebateSnapshot(page('paused', ['RESUME', 'STOP']));

  expect(['RESUME', 'STOP', 'PAUSE'].filter((type) => snapshot.can({ type }))).toEqual(['RESUME', 'STOP']);
  expect(() => snapshot.check({ type: 'PAUSE' })).toThrow(Refused);
  expect(snapshot.check({ type: 'RESUME' })).toEqual({ type: 'RESUME' });
});

test('S4-118 · a debate that has not begun can be started', () => {
  const waiting = new DebateSnapshot({ id: 'd', kind: 'debate', status: 'pending', can: { '': ['START'] } });

  expect(waiting.matches('idle') && waiting.can({ type: 'START_DEBATE' })).toBe(true);
  expect(new DebateSnapshot(null).can({ type: 'START_DEBATE' })).toBe(false);
});

test('S4-118 · the figures of a debate have its round, its cost and the first open warning', () => {
  const rounds = [{ phase: 'opening', roundNumber: 1 }, { phase: 'rebuttal', roundNumber: 2 }];
  const costTracker = {
    totalCost: '0.6', limitThreshold: '2', warningThreshold: '0.5', costByModel: {},
    warnings: [{ ...WARNING, acknowledged: true }, WARNING],
  };
  const figures = debateFigures(new DebateSnapshot(page('debating', [], { rounds, costTracker, maxRounds: 3 })));

  expect(figures).toMatchObject({ currentRound: 2, maxRounds: 3, totalCost: 0.6, limit: 2, warning: WARNING });
  expect(figures.spentShare).toBeCloseTo(0.3);
  expect([figures.isActive, figures.isPaused, figures.isOver]).toEqual([true, false, false]);
});

test('S4-118 · an error is shown while the debate is in it', () => {
  const lastError = { type: 'cost_limit', message: 'Cost limit exceeded', retryable: false };

  expect(debateFigures(new DebateSnapshot(page('error', [], { lastError }))).error).toEqual(lastError);
  expect(debateFigures(new DebateSnapshot(page('debating', [], { lastError }))).error).toBeNull();
});

test('S4-118 · each event of people has a request', () => {
  expect(debateRequest('a/b', { type: 'PAUSE' })).toEqual({ path: '/threads/a%2Fb/pause', body: {} });
  expect(debateRequest('d', { type: 'START_DEBATE' })).toEqual({ path: '/threads/d/start', body: {} });
  expect(debateRequest('d', { type: 'RAISE_LIMIT', costLimit: 5 })).toEqual({ path: '/threads/d/limits', body: { costLimit: 5 } });
  expect(debateRequest('d', { type: 'INTERJECT', text: 'No!' })).toEqual({ path: '/threads/d/interject', body: { text: 'No!' } });
  expect(debateRequest('d', { type: 'ACKNOWLEDGE_WARNING' }).body).toEqual({ action: 'ACKNOWLEDGE_WARNING' });
});
