/** An event to begin with, from the JSON Schema of its type: the keys that it needs. */
import { isObject, type Json, type JsonObject } from './chart/model';

export function eventTemplate(type: string, schema: Json | undefined): JsonObject {
  const root = isObject(schema) ? schema : {};
  const made = example(root, root, 0);
  const keys = isObject(made) ? made : {};
  return { type, ...Object.fromEntries(Object.entries(keys).filter(([key]) => key !== 'type')) };
}

function example(schema: Json | undefined, root: JsonObject, depth: number): Json {
  if (!isObject(schema) || depth > 4) return null;
  if (typeof schema['$ref'] === 'string') return example(resolve(schema['$ref'], root), root, depth + 1);
  if (schema['const'] !== undefined) return schema['const'];
  if (Array.isArray(schema['enum'])) return schema['enum'][0] ?? null;
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices)) return example(choices[0], root, depth + 1);
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type'];
  if (type === 'object' || isObject(schema['properties'])) return objectExample(schema, root, depth);
  return SIMPLE[String(type)] ?? null;
}

const SIMPLE: Record<string, Json> = { string: '', integer: 0, number: 0, boolean: false, array: [] };

function objectExample(schema: JsonObject, root: JsonObject, depth: number): Json {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'].map(String) : [];
  return Object.fromEntries(required.map((key) => [key, example(properties[key], root, depth + 1)]));
}

function resolve(reference: string, root: JsonObject): Json | undefined {
  let value: Json | undefined = root;
  for (const part of reference.replace(/^#\//, '').split('/')) value = isObject(value) ? value[part] : undefined;
  return value;
}
