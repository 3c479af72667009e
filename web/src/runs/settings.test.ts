import { expect, test } from 'vitest';
import type { ModelRow } from '../wire/types';
import { createBody, EMPTY, firstModel, formProblem, type AgentRow } from './settings';

const AGENTS: AgentRow[] = [
  { name: 'planner', transitions: { onSuccess: 'developer' } },
  { name: 'developer' },
  { name: 'tester' },
];
const FORM = { ...EMPTY, task: 'Write it', agents: ['planner', 'developer', 'tester'] };
const model = (reference: string, usable = true): ModelRow => ({ reference, usable, why: '', note: '', price: null, window: null });

test('limits that are empty are none, and all agents are not named', () => {
  expect(createBody({ ...FORM, minutes: '1.5', tools: ['shell'] }, AGENTS)).toEqual({
    kind: 'run',
    tools: ['shell'],
    consent: { mode: 'ask' },
    maxIterations: 50,
    maxFailures: 3,
    maxCostUsd: null,
    maxWallMs: 90_000,
  });
});

test('some agents are sent as they are', () => {
  expect(createBody({ ...FORM, agents: ['tester'] }, AGENTS).agents).toEqual([{ name: 'tester' }]);
});

test('a form says what is wrong with it', () => {
  expect(formProblem(FORM, AGENTS)).toBeNull();
  expect(formProblem({ ...FORM, task: ' ' }, AGENTS)).toBe('Say what is to be done.');
  expect(formProblem({ ...FORM, agents: [] }, AGENTS)).toBe('Choose at least one agent.');
  expect(formProblem({ ...FORM, agents: ['planner'] }, AGENTS)).toBe(
    'planner is followed by developer: choose both, or neither.',
  );
  expect(formProblem({ ...FORM, maxIterations: '1.5' }, AGENTS)).toBe('Turns must be a whole number.');
  expect(formProblem({ ...FORM, maxCostUsd: '-1' }, AGENTS)).toBe('Cost must be a number above 0, or empty.');
});

test('a real model is chosen before a script', () => {
  expect(firstModel([model('openai:*'), model('scripted:agents'), model('openai:a', false), model('local:b')])).toBe(
    'local:b',
  );
  expect(firstModel([model('scripted:chat'), model('scripted:agents')])).toBe('scripted:agents');
  expect(firstModel([])).toBe('');
});
