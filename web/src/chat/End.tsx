import { ActionButton } from '../parts/ActionButton';
import { ErrorCard } from '../parts/ErrorCard';
import { answerRequest, cancelMerge, endFork, resumeThread, retryThread } from './actions';
import { modelName } from '../parts/format';
import { Request } from '../requests/Request';
import { grantsOf, textOf, type Merge } from './content';
import type { ChatView } from './useView';

function FailureCard({ view }: { view: ChatView }) {
  const { page, content } = view;
  const error = content.lastError;
  const retryAt = error?.retryAfterMs === undefined ? null : page.updated + error.retryAfterMs;
  return (
    <ErrorCard
      title="The reply failed"
      message={error?.message ?? page.error ?? 'The reason is not known.'}
      code={error?.code}
      retryAt={retryAt}
      actions={<ActionButton onAct={() => retryThread(page.id)}>Retry</ActionButton>}
    />
  );
}

/** A chat that waits for nobody: its question was lost with the process that asked it. */
const isLost = ({ page }: ChatView): boolean =>
  page.status === 'waiting' && page.requests.length === 0 && (page.can['chat'] ?? []).includes('resume');

function PlannedMerge({ id, merge, onMerge }: { id: string; merge: Merge; onMerge: (source: string) => void }) {
  return (
    <div className="card ask" role="group" aria-label="Planned merge">
      <p className="card-text notice">
        “{merge.source}” is being merged into “{merge.target}”. No message is taken until that is done or cancelled.
      </p>
      <div className="card-actions">
        <button type="button" onClick={() => onMerge(merge.source)}>
          Show the merge
        </button>
        <ActionButton onAct={() => cancelMerge(id)}>Cancel the merge</ActionButton>
      </div>
    </div>
  );
}

/** What comes after the last message: requests to the person, what failed, what was stopped, what waits. */
export function End({ view, onMerge }: { view: ChatView; onMerge: (source: string) => void }) {
  const { page, content } = view;
  const last = view.rows.at(-1)?.message;
  return (
    <>
      {page.can['chat'] === undefined && last !== undefined ? (
        <p className="note">These messages come from a file. Branches and versions can be changed after your first message.</p>
      ) : null}
      {page.problem === null ? null : <ErrorCard title="This thread cannot be continued here" message={page.problem} />}
      {page.requests.map((request) => (
        <Request
          key={request.id}
          request={request}
          asker={content.config.model === null ? 'The model' : modelName(content.config.model)}
          since={page.updated}
          grants={grantsOf(content)}
          noun="chat"
          onAnswer={(answer) => answerRequest(page.id, request.id, answer)}
        />
      ))}
      {content.fork === null || content.fork === undefined ? null : (
        <div className="card ask" role="group" aria-label="Planned branch">
          <p className="card-text notice">A branch is planned. No message is taken until it is opened or dropped.</p>
          <div className="card-actions">
            <ActionButton onAct={() => endFork(page.id, true)}>Open the branch</ActionButton>
            <ActionButton onAct={() => endFork(page.id, false)}>Drop it</ActionButton>
          </div>
        </div>
      )}
      {content.merge === null ? null : <PlannedMerge id={page.id} merge={content.merge} onMerge={onMerge} />}
      {page.status === 'failed' ? <FailureCard view={view} /> : null}
      {page.status === 'interrupted' || isLost(view) ? (
        <div className="card" role="group" aria-label="Interrupted">
          <p className="card-text notice">
            {page.status === 'interrupted'
              ? 'The server was stopped in the middle of this reply. What had arrived is kept.'
              : 'The server was stopped while tools were called or asked about. Nobody has allowed or denied them.'}
          </p>
          <div className="card-actions">
            <ActionButton onAct={() => resumeThread(page.id)}>Resume</ActionButton>
          </div>
        </div>
      ) : null}
      {page.status === 'stopped' && last?.interrupted ? (
        <p className="note">
          You stopped this reply; what had arrived is kept.{' '}
          <ActionButton className="quiet" onAct={() => resumeThread(page.id)}>
            Continue it
          </ActionButton>
        </p>
      ) : null}
      {content.queue.map((message, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- waiting messages keep their order
        <p key={index} className="queued">
          <span className="note">waits for its turn</span> {message.text ?? textOf(message.parts ?? [])}
        </p>
      ))}
    </>
  );
}
