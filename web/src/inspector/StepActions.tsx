import { useState } from 'react';
import { CopyButton } from '../parts/CopyButton';
import { Dialog } from '../parts/Dialog';
import { notifyError } from '../parts/Toasts';
import { navigate } from '../route';
import { errorText, post } from '../wire/http';
import type { ForkReply } from '../wire/types';
import { actorPath } from './tree';

interface Props {
  id: string;
  step: number;
  writeTest: () => Promise<string>;
  save: () => Promise<void>;
}

/** What can be done with a step: branch from it, copy it as a test, save the journal. */
export function StepActions({ id, step, writeTest, save }: Props) {
  const [open, setOpen] = useState<'branch' | 'test' | null>(null);
  const [test, setTest] = useState('');
  const showTest = async (): Promise<void> => {
    setTest(await writeTest());
    setOpen('test');
  };
  const close = (): void => setOpen(null);
  return (
    <>
      <button type="button" onClick={() => setOpen('branch')}>
        Branch from here
      </button>
      <button type="button" onClick={() => void showTest().catch(notifyError)}>
        Copy as test
      </button>
      <button type="button" onClick={() => void save().catch(notifyError)} aria-label="Save the journal">
        Save
      </button>
      {open === 'branch' && <BranchDialog id={id} step={step} onClose={close} />}
      {open === 'test' && (
        <Dialog
          title="A test of these steps"
          width="wide"
          onClose={close}
          actions={<CopyButton text={test} label="Copy the test" />}
        >
          <textarea className="field test-text" readOnly rows={18} aria-label="Test" value={test} spellCheck={false} />
        </Dialog>
      )}
    </>
  );
}

function BranchDialog({ id, step, onClose }: { id: string; step: number; onClose: () => void }) {
  const [problem, setProblem] = useState('');
  const branch = async (): Promise<void> => {
    try {
      const { id: fork } = await post<ForkReply>(actorPath(id, '/fork'), { step });
      // The branch is shown at its end; the file that the machine is of stays the same.
      const of = new URLSearchParams(location.search).get('of');
      navigate(`/inspector/${encodeURIComponent(fork)}${of === null ? '' : `?of=${encodeURIComponent(of)}`}`);
    } catch (error) {
      setProblem(errorText(error));
    }
  };
  const actions = (
    <>
      <button type="button" onClick={onClose}>
        Cancel
      </button>
      <button type="button" className="primary" onClick={() => void branch()}>
        Branch from step {step}
      </button>
    </>
  );
  return (
    <Dialog title={`Branch from step ${step}`} onClose={onClose} actions={actions}>
      <p>A new tree begins with the states and contexts of step {step}. This one stays as it is.</p>
      <p>
        Side effects stay done: files that were written, messages that were sent and money that was spent since are not
        taken back. Tasks that ran at that step are interrupted in the new tree.
      </p>
      {problem && (
        <p role="alert" className="problem">
          {problem}
        </p>
      )}
    </Dialog>
  );
}
