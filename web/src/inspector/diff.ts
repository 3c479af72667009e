// What a step has changed in a context, by path.
import { isObject, type Json, type JsonObject } from './chart/model';

export interface Change {
  path: string;
  kind: 'added' | 'removed' | 'changed';
  before?: Json;
  after?: Json;
}

/** The changes from one value to another, in the order of the keys of the later one. */
export function findChanges(before: Json | undefined, after: Json | undefined, path = ''): Change[] {
  if (before === undefined && after === undefined) return [];
  if (before === undefined) return [{ path, kind: 'added', after: after ?? null }];
  if (after === undefined) return [{ path, kind: 'removed', before }];
  if (isObject(before) && isObject(after)) return objectChanges(before, after, path);
  if (Array.isArray(before) && Array.isArray(after)) return listChanges(before, after, path);
  return isEqual(before, after) ? [] : [{ path, kind: 'changed', before, after }];
}

function objectChanges(before: JsonObject, after: JsonObject, path: string): Change[] {
  const keys = [...Object.keys(after), ...Object.keys(before).filter((key) => !(key in after))];
  return keys.flatMap((key) => findChanges(before[key], after[key], path ? `${path}.${key}` : key));
}

function listChanges(before: Json[], after: Json[], path: string): Change[] {
  const length = Math.max(before.length, after.length);
  const changes: Change[] = [];
  for (let index = 0; index < length; index++)
    changes.push(...findChanges(before[index], after[index], `${path}[${index}]`));
  return changes;
}

export function isEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((each, index) => isEqual(each, b[index]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => key in b && isEqual(a[key], b[key]));
}

/** A text that became longer, as most texts of a stream do: what was added. */
export function addedText(change: Change): string | null {
  const { before, after } = change;
  if (typeof before !== 'string' || typeof after !== 'string' || !before || !after.startsWith(before)) return null;
  return after.slice(before.length);
}

/** A value as one short line. */
export function shortJson(value: Json | undefined, longest = 160): string {
  const text = value === undefined ? '' : JSON.stringify(value);
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}
