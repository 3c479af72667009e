/** The models that the server knows, and how much they read at once. */
import { useRead } from '../wire/store';
import type { ModelList, ModelRow } from '../wire/types';


/** The rows of the models; null until they are read. */
export function useModels(): readonly ModelRow[] | null {
  return useRead<ModelList>('/models').value?.items ?? null;
}

/** The tokens of a model's window; null if they are not known. */
export function windowOf(models: readonly ModelRow[] | null, reference: string | null): number | null {
  return models?.find((row) => row.reference === reference)?.window ?? null;
}

/** The limit of chats that name none. */
const USUAL_LIMIT = 128_000;
/** The share of a window that a conversation may fill; the rest is for the reply. */
const SHARE = 0.67;

/** The settings that a chat with a model needs: a conversation that is too long for a small one is compressed. */
export function settingsFor(window: number | null): { contextLimit?: number } {
  const limit = window === null ? USUAL_LIMIT : Math.round(window * SHARE);
  return limit < USUAL_LIMIT ? { contextLimit: limit } : {};
}

/** How much of a conversation fits: the smaller one of the chat's limit and the model's window, and which that is. */
export function roomOf(contextLimit: number, window: number | null): { most: number; by: 'chat' | 'model' } {
  return window !== null && window < contextLimit ? { most: window, by: 'model' } : { most: contextLimit, by: 'chat' };
}

const DEMO = 'scripted:demo';

/** The model that was used last, or the first that can be used; a script only if there is nothing else. */
export function firstModel(models: readonly ModelRow[] | null, last: string | null): string | null {
  const usable = (models ?? []).filter((row) => row.usable);
  if (last !== null) return last;
  return (
    (
      usable.find((row) => !row.reference.startsWith('scripted:')) ??
      usable.find((row) => row.reference === DEMO) ??
      usable[0]
    )?.reference ?? null
  );
}
