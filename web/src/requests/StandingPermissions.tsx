import { useRef } from 'react';
import { ActionButton } from '../parts/ActionButton';
import { notify, notifyError } from '../parts/Toasts';
import { showHidden } from '../parts/visible';
import { post, threadPath } from '../wire/http';
import { sourceOf } from '../wire/store';
import type { OpenedThread, Override, ReceiptReply } from '../wire/types';
import { overrideText } from './grants';

/** What is allowed or denied beyond single calls; what is allowed can be taken back while the thread is there to hear it. */
export function StandingPermissions({
  page,
  overrides,
}: {
  page: Pick<OpenedThread, 'id' | 'kind' | 'permissions' | 'can'>;
  overrides: readonly Override[];
}) {
  const { id, kind, permissions, can } = page;
  const list = useRef<HTMLUListElement>(null);
  const canRevoke = (can[kind] ?? []).some((event) => event.toLowerCase() === 'revoke');
  const revoke = async (permission: string, text: string) => {
    try {
      await post<ReceiptReply>(threadPath(id, '/revoke'), { permission });
      notify(`No longer allowed: ${text}. You are asked again.`);
      // The button goes with its permission.
      list.current?.focus();
    } catch (error) {
      notifyError(error);
    } finally {
      sourceOf(id).reload();
    }
  };
  return (
    <ul className="chips" aria-label="Standing permissions" ref={list} tabIndex={-1}>
      {permissions.map((permission) => {
        const text = showHidden(permission.text);
        return (
          <li key={permission.id} className="chip">
            {text}
            {canRevoke ? (
              <ActionButton
                className="quiet chip-action"
                aria-label={`Take back: ${text}`}
                onAct={() => revoke(permission.id, text)}
              >
                Take back
              </ActionButton>
            ) : null}
          </li>
        );
      })}
      {overrides
        .filter((override) => override.decision !== 'allow')
        .map((override) => (
          <li key={overrideText(override)} className="chip">
            {overrideText(override)}
          </li>
        ))}
    </ul>
  );
}
