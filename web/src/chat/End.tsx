import { ErrorCard } from '../parts/ErrorCard';
import { answerRequest, endFork, resumeThread, retryThread } from './actions';
import { modelName } from '../parts/format';
import { Request } from '../requests/Request';
import { grantsOf, textOf } from './content';
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
      actions={
        <button type="button" onClick={() => void retryThread(page.id)}>
          Retry
        </button>
      }
    />
  );
}

/** What comes after the last message: requests to the person, what failed, what was stopped, what waits. */
export function End({ view }: { view: ChatView }) {
  const { page, content } = view;
  const last = view.rows.at(-1)?.message;
  return (
    <>
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
            <button type="button" onClick={() => void endFork(page.id, true)}>
              Open the branch
            </button>
            <button type="button" onClick={() => void endFork(page.id, false)}>
              Drop it
            </button>
          </div>
        </div>
      )}
      {page.status === 'failed' ? <FailureCard view={view} /> : null}
      {page.status === 'interrupted' ? (
        <div className="card">
          <p className="card-text notice">
            The server was stopped in the middle of this reply. What had arrived is kept.
          </p>
          <div className="card-actions">
            <button type="button" onClick={() => void resumeThread(page.id)}>
              Resume
            </button>
          </div>
        </div>
      ) : null}
      {page.status === 'stopped' && last?.interrupted ? (
        <p className="note">
          You stopped this reply; what had arrived is kept.{' '}
          <button type="button" className="quiet" onClick={() => void resumeThread(page.id)}>
            Continue it
          </button>
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
