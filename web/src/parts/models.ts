/** The models that the server knows. */
import { useRead } from '../wire/store';
import type { ModelList, ModelRow } from '../wire/types';

/** The rows of the models; null until they are read. */
export function useModels(): readonly ModelRow[] | null {
  return useRead<ModelList>('/models').value?.items ?? null;
}
