/** Standing permissions: what a person has allowed or denied beyond single calls. */
import { showHidden } from '../parts/visible';
import type { Override } from '../wire/types';

/** A standing permission in words. */
export const overrideText = (override: Override): string => showHidden(describe(override));

function describe(override: Override): string {
  const verb = override.decision === 'allow' ? '' : 'never ';
  if (override.pattern !== undefined) return `${verb}${override.pattern}`;
  switch (override.scope) {
    case 'folder':
      return `${verb}files in ${override.value === '.' ? 'the workspace folder' : `${override.value}/`}`;
    case 'command':
      return `${verb}${commandOf(override.value ?? '')}`;
    case 'host':
      return `${verb}pages of ${override.value}`;
    default:
      return `${verb}${override.tool ?? override.value ?? 'everything'}`;
  }
}

function commandOf(value: string): string {
  try {
    const parsed: unknown = JSON.parse(value);
    if (typeof parsed === 'object' && parsed !== null && 'command' in parsed) return String(parsed.command);
  } catch {
    return value;
  }
  return value;
}
