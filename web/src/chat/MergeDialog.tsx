import { useState } from 'react';
import { ActionButton } from '../parts/ActionButton';
import { Dialog } from '../parts/Dialog';
import { Markdown } from '../parts/Markdown';
import { beginMerge, cancelMerge, confirmMerge, propose, resolveConflict } from './actions';
import { pathTo, textOf, type ChatContent, type ChatMessage, type Conflict, type Merge } from './content';

const STRATEGIES = [
  ['sequential', 'One after the other', 'The turns of the other branch follow those of this one.'],
  ['interleave', 'By time', 'The turns of both branches are put in the order in which they were said.'],
  ['manual', 'Turn by turn', 'You pick what is kept of each turn.'],
  ['consensus', 'One message that joins both', 'The model writes it, or you do.'],
] as const;

interface Props {
  id: string;
  content: ChatContent;
  /** The branch to merge; one that is planned already may be another. */
  source: string;
  canConfirm: boolean;
  onClose: () => void;
}

function MessageText({ message }: { message: ChatMessage }) {
  return (
    <div className="merge-message">
      <span className="who">{message.role === 'user' ? 'You' : 'Assistant'}</span>
      <Markdown text={textOf(message.parts)} />
    </div>
  );
}

/** The messages of a branch from one on, up to the next turn. */
function turnOf(content: ChatContent, first: string | null, head: string | null): ChatMessage[] {
  const path = pathTo(content.messages, head);
  const from = path.findIndex((message) => message.id === first);
  if (first === null || from < 0) return [];
  const next = path.findIndex((message, index) => index > from && message.role === 'user');
  return path.slice(from, next < 0 ? undefined : next).filter((message) => message.role !== 'tool');
}

function Side({ name, messages }: { name: string; messages: readonly ChatMessage[] }) {
  return (
    <section className="merge-side" aria-label={name}>
      <h3>{name}</h3>
      {messages.length === 0 ? (
        <p className="note">Nothing here.</p>
      ) : (
        messages.map((message) => <MessageText key={message.id} message={message} />)
      )}
    </section>
  );
}

const PICKS = [
  ['ours', 'Left'],
  ['theirs', 'Right'],
  ['both', 'Both'],
  ['neither', 'Neither'],
] as const;

function ConflictRow({
  id,
  content,
  merge,
  conflict,
}: {
  id: string;
  content: ChatContent;
  merge: Merge;
  conflict: Conflict;
}) {
  const [ours, theirs] = [merge.target, merge.source].map((name) => content.branches[name]?.head ?? null);
  return (
    <fieldset className="conflict" data-picked={conflict.pick ?? ''}>
      <legend>{conflict.item}</legend>
      <div className="merge-columns">
        <Side name={merge.target} messages={turnOf(content, conflict.ours, ours ?? null)} />
        <Side name={merge.source} messages={turnOf(content, conflict.theirs, theirs ?? null)} />
      </div>
      <div className="picks">
        {PICKS.map(([pick, label]) => (
          <label key={pick} className="check">
            <input
              type="radio"
              name={conflict.id}
              checked={conflict.pick === pick}
              onChange={() => void resolveConflict(id, conflict.id, pick)}
            />
            {label}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function ProposalView({ id, merge }: { id: string; merge: Merge }) {
  const { proposal } = merge;
  const [text, setText] = useState<string | null>(null);
  if (proposal === undefined) return null;
  if (proposal.phase === 'wanted' || proposal.phase === 'asked')
    return <p role="status">The model writes a message that joins both branches…</p>;
  return (
    <div className="form">
      {proposal.error?.message ? (
        <p className="note" role="alert">
          {proposal.error.message}
        </p>
      ) : null}
      <label className="label">
        The message that joins both
        <textarea
          className="field"
          rows={8}
          value={text ?? proposal.text ?? ''}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <div className="picks">
        <button
          type="button"
          disabled={text === null || text.trim() === ''}
          onClick={() => void propose(id, text ?? '').then(() => setText(null))}
        >
          Use this text
        </button>
        <button type="button" className="quiet" onClick={() => void propose(id)}>
          Ask the model again
        </button>
      </div>
    </div>
  );
}

/** A merge that is planned: both sides, what must be decided, and the message that joins them. */
function PlannedMerge({ id, content, merge }: { id: string; content: ChatContent; merge: Merge }) {
  const open = merge.conflicts.filter((conflict) => conflict.pick === null).length;
  if (merge.conflicts.length > 0) {
    return (
      <>
        <p className="note" role="status">
          {open === 0 ? 'Everything is decided.' : `${open} of ${merge.conflicts.length} still to decide.`}
        </p>
        {merge.conflicts.map((conflict) => (
          <ConflictRow key={conflict.id} id={id} content={content} merge={merge} conflict={conflict} />
        ))}
      </>
    );
  }
  const after = (name: string) => {
    const path = pathTo(content.messages, content.branches[name]?.head ?? null);
    const base = path.findIndex((message) => message.id === merge.base);
    return path.slice(base + 1).filter((message) => message.role !== 'tool');
  };
  return (
    <>
      <div className="merge-columns">
        <Side name={merge.target} messages={after(merge.target)} />
        <Side name={merge.source} messages={after(merge.source)} />
      </div>
      <ProposalView id={id} merge={merge} />
    </>
  );
}

export function MergeDialog({ id, content, source, canConfirm, onClose }: Props) {
  const [strategy, setStrategy] = useState<string>('sequential');
  const { merge } = content;
  if (merge !== null) {
    return (
      <Dialog
        title={`Merge “${merge.source}” into “${merge.target}”`}
        width="wide"
        onClose={onClose}
        actions={
          <>
            <ActionButton key="cancel" onAct={() => cancelMerge(id)}>
              Cancel the merge
            </ActionButton>
            <ActionButton key="confirm" className="primary" disabled={!canConfirm} onAct={() => confirmMerge(id)}>
              Merge
            </ActionButton>
          </>
        }
      >
        <PlannedMerge id={id} content={content} merge={merge} />
      </Dialog>
    );
  }
  return (
    <Dialog
      title={`Merge “${source}” into “${content.branch}”`}
      onClose={onClose}
      actions={
        <ActionButton key="begin" className="primary" onAct={() => beginMerge(id, source, strategy)}>
          Show both sides
        </ActionButton>
      }
    >
      {STRATEGIES.map(([name, label, about]) => (
        <label key={name} className="check choice">
          <input type="radio" name="strategy" checked={strategy === name} onChange={() => setStrategy(name)} />
          <span>
            <strong>{label}</strong>
            <br />
            {about}
          </span>
        </label>
      ))}
    </Dialog>
  );
}
