import { useModels } from '../parts/models';
import type { Problem } from '../wire/http';
import { useRead } from '../wire/store';
import type { AgentList, ModelRow, ToolList, ToolRow } from '../wire/types';
import type { AgentRow } from './settings';

export interface Catalog {
  models: readonly ModelRow[];
  agents: readonly AgentRow[];
  tools: readonly ToolRow[];
}

/** What the server offers for a run; null until it is read. */
export function useCatalog(): { catalog: Catalog | null; problem: Problem | null } {
  const models = useModels();
  const agents = useRead<AgentList>('/agents');
  const tools = useRead<ToolList>('/tools');
  const problem = agents.problem ?? tools.problem;
  if (models === null || agents.value === null || tools.value === null) return { catalog: null, problem };
  return { catalog: { models, agents: agents.value.items as AgentRow[], tools: tools.value.items }, problem: null };
}
