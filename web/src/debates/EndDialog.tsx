import { Dialog } from '../parts/Dialog';
import type { Actions } from './useActions';

/** Ask before a debate ends without a verdict: it cannot be continued. */
export function EndDialog({ actions, onClose }: { actions: Actions; onClose: () => void }) {
  const end = async () => {
    if (await actions.send({ type: 'STOP' })) onClose();
  };
  const buttons = (
    <>
      <button type="button" onClick={onClose}>
        Keep it
      </button>
      <button type="button" className="dangerous" disabled={actions.isBusy} onClick={() => void end()}>
        End without a verdict
      </button>
    </>
  );
  return (
    <Dialog title="End this debate?" onClose={onClose} actions={buttons}>
      <p>No judge decides, and the debate cannot be continued. What was said is kept.</p>
    </Dialog>
  );
}

/** Ask before the rounds that are left are skipped: the judge is a call that costs, and cannot be taken back. */
export function JudgeDialog({ actions, onClose }: { actions: Actions; onClose: () => void }) {
  const judge = async () => {
    if (await actions.send({ type: 'JUDGE_NOW' })) onClose();
  };
  const buttons = (
    <>
      <button type="button" onClick={onClose}>
        Keep debating
      </button>
      <button type="button" className="primary" disabled={actions.isBusy} onClick={() => void judge()}>
        Judge now
      </button>
    </>
  );
  return (
    <Dialog title="Stop and judge?" onClose={onClose} actions={buttons}>
      <p>The rounds that are left are skipped, and the judge decides on what was said.</p>
    </Dialog>
  );
}
