import { useCallback } from 'react';
import { setQuery } from '../route';
import { switchBranch } from './actions';
import type { ChatView } from './useView';

/** How a branch is shown: the conversation moves there if it can, and else the page alone does. */
export function useShowBranch(id: string, canSwitch: boolean): (name: string) => void {
  return useCallback(
    (name) => {
      if (canSwitch) void switchBranch(id, name);
      else setQuery('branch', name);
    },
    [id, canSwitch],
  );
}

/** The end of a branch that the conversation is not on. */
export function OtherBranch({ view, canSwitch }: { view: ChatView; canSwitch: boolean }) {
  const { page, content, current } = view;
  return (
    <div className="card" role="group" aria-label="Another branch">
      <p className="card-text notice">
        This is the branch “{content.branch}”. The conversation is on “{current}”.
      </p>
      <div className="card-actions">
        <button type="button" disabled={!canSwitch} onClick={() => void switchBranch(page.id, content.branch)}>
          Continue here
        </button>
        <button type="button" onClick={() => setQuery('branch', current)}>
          Show “{current}”
        </button>
      </div>
    </div>
  );
}
