export type { Json, MessageJson, UsageJson } from './json.ts';
export * from './streaming/types.ts';
export * from './streaming/machine.ts';
export * from './thread/types.ts';
export * from './thread/machine.ts';
export { remoteContent } from './thread/content.ts';
export { resumeNote, startEvent } from './thread/functions.ts';
