/** The settings of a new run, from the fields of the form. */
import type { CreateRun, ModelRow } from '../wire/types';

export type Mode = 'plan' | 'ask' | 'auto-edit' | 'auto';

export interface RunForm {
  task: string;
  model: string;
  mode: Mode;
  agents: readonly string[];
  tools: readonly string[];
  maxIterations: string;
  maxFailures: string;
  maxCostUsd: string;
  minutes: string;
  byRules: boolean;
  dryRun: boolean;
}

export interface AgentRow {
  name: string;
  whenToUse?: string;
  transitions?: { onSuccess?: string; onFailure?: string };
  [key: string]: unknown;
}

export const MODES: readonly { mode: Mode; label: string; note: string }[] = [
  { mode: 'plan', label: 'plan', note: 'Agents read, and change nothing.' },
  { mode: 'ask', label: 'ask', note: 'You are asked before each change and each command that changes something.' },
  { mode: 'auto-edit', label: 'auto-edit', note: 'Files are changed without a question; commands are asked about.' },
  { mode: 'auto', label: 'auto', note: 'Files are changed and commands run, in the sandbox, without a question.' },
];

export const EMPTY: RunForm = {
  task: '',
  model: '',
  mode: 'ask',
  agents: [],
  tools: [],
  maxIterations: '50',
  maxFailures: '3',
  maxCostUsd: '',
  minutes: '',
  byRules: false,
  dryRun: false,
};

/** The model that the form begins with: the first that can be used, a script for agents last. */
export function firstModel(models: readonly ModelRow[]): string {
  const usable = models.filter((model) => model.usable && !model.reference.endsWith('*'));
  const real = usable.find((model) => !model.reference.startsWith('scripted:'));
  return real?.reference ?? usable.find((model) => model.reference === 'scripted:agents')?.reference ?? '';
}

function numberProblem(text: string, name: string, isWhole: boolean): string | null {
  if (text.trim() === '') return null;
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) return `${name} must be a number above 0, or empty.`;
  return isWhole && !Number.isInteger(value) ? `${name} must be a whole number.` : null;
}

/** What is wrong with the form, or null. */
export function formProblem(form: RunForm, agents: readonly AgentRow[]): string | null {
  if (form.task.trim() === '') return 'Say what is to be done.';
  if (form.agents.length === 0) return 'Choose at least one agent.';
  for (const agent of agents) {
    const next = agent.transitions?.onSuccess;
    const isMissing = next !== undefined && agents.some((other) => other.name === next) && !form.agents.includes(next);
    if (form.agents.includes(agent.name) && isMissing)
      return `${agent.name} is followed by ${next}: choose both, or neither.`;
  }
  return (
    numberProblem(form.maxIterations, 'Turns', true) ??
    numberProblem(form.maxFailures, 'Failures', true) ??
    numberProblem(form.maxCostUsd, 'Cost', false) ??
    numberProblem(form.minutes, 'Minutes', false)
  );
}

/** The body of the request that creates the run; empty limits are those of the server. */
export function createBody(form: RunForm, agents: readonly AgentRow[]): CreateRun {
  const limit = (text: string) => (text.trim() === '' ? null : Number(text));
  const isAll = agents.every((agent) => form.agents.includes(agent.name));
  const [iterations, failures] = [limit(form.maxIterations), limit(form.maxFailures)];
  const minutes = limit(form.minutes);
  return {
    kind: 'run',
    ...(form.model.trim() === '' ? {} : { model: form.model.trim() }),
    ...(isAll ? {} : { agents: agents.filter((agent) => form.agents.includes(agent.name)) }),
    tools: [...form.tools],
    consent: { mode: form.mode },
    ...(iterations === null ? {} : { maxIterations: iterations }),
    ...(failures === null ? {} : { maxFailures: failures }),
    maxCostUsd: limit(form.maxCostUsd),
    maxWallMs: minutes === null ? null : Math.round(minutes * 60_000),
    ...(form.byRules ? { arbiter: { kind: 'rules' } } : {}),
    ...(form.dryRun ? { dryRun: true } : {}),
  };
}
