import { useState } from 'react';
import { errorText, post } from '../wire/http';
import type { ForkReply } from '../wire/types';
import { navigate } from '../route';
import { Dialog } from './Dialog';
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
  return (
    <>
      <button type="button" onClick={() => setOpen('branch')}>Branch from here</button>
      <button type="button" onClick={() => void showTest()}>Copy as test</button>
      <button type="button" onClick={() => void save()}>Save</button>
      {open === 'branch' && <BranchDialog id={id} step={step} onClose={() => setOpen(null)} />}
      {open === 'test' && <TestDialog text={test} onClose={() => setOpen(null)} />}
    </>
  );
}

function BranchDialog({ id, step, onClose }: { id: string; step: number; onClose: () => void }) {
  const [problem, setProblem] = useState('');
  const branch = async (): Promise<void> => {
    try {
      const { id: fork } = await post<ForkReply>(actorPath(id, '/fork'), { step });
      navigate(`/inspector/${encodeURIComponent(fork)}${location.search}`);
    } catch (error) {
      setProblem(errorText(error));
    }
  };
  return (
    <Dialog title={`Branch from step ${step}`} onClose={onClose}>
      <p>A new tree begins with the states and contexts of step {step}. This one stays as it is.</p>
      <p>Side effects stay done: files that were written, messages that were sent and money that was spent since are not taken back. Tasks that ran at that step are interrupted in the new tree.</p>
      {problem && <p role="alert" className="problem">{problem}</p>}
      <div className="dialog-row">
        <button type="button" onClick={onClose}>Cancel</button>
        <button type="button" className="primary" onClick={() => void branch()}>Branch from here</button>
      </div>
    </Dialog>
  );
}

function TestDialog({ text, onClose }: { text: string; onClose: () => void }) {
  const [state, setState] = useState('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setState('Copied.');
    } catch {
      setState('The browser does not allow copying here; select the text and copy it.');
    }
  };
  return (
    <Dialog title="A test of these steps" onClose={onClose}>
      <textarea className="test-text" readOnly rows={18} aria-label="Test" value={text} spellCheck={false} />
      <div className="dialog-row">
        <span role="status" className="hint">{state}</span>
        <button type="button" onClick={onClose}>Close</button>
        <button type="button" className="primary" onClick={() => void copy()}>Copy</button>
      </div>
    </Dialog>
  );
}
