import { useEffect, useState } from 'react';
import { get, Problem } from '../wire/http';
import type { AgentList, ModelList, ModelRow, ToolList, ToolRow } from '../wire/types';
import type { AgentRow } from './settings';

export interface Catalog {
  models: readonly ModelRow[];
  agents: readonly AgentRow[];
  tools: readonly ToolRow[];
}

/** What the server offers for a run; null until it is read. */
export function useCatalog(): { catalog: Catalog | null; problem: Problem | null } {
  const [catalog, setCatalog] = useState<Catalog | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    const reading = new AbortController();
    const init = { signal: reading.signal };
    Promise.all([get<ModelList>('/models', init), get<AgentList>('/agents', init), get<ToolList>('/tools', init)]).then(
      ([models, agents, tools]) =>
        setCatalog({ models: models.items, agents: agents.items as AgentRow[], tools: tools.items }),
      (error: unknown) => {
        if (!reading.signal.aborted)
          setProblem(error instanceof Problem ? error : new Problem({ code: 'internal', detail: String(error) }));
      },
    );
    return () => reading.abort();
  }, []);
  return { catalog, problem };
}
