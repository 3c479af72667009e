import { formatClock, modelName, plural } from '../parts/format';
import { ErrorCard } from '../parts/ErrorCard';
import { Markdown } from '../parts/Markdown';
import { useNow } from '../parts/useNow';
import type { LiveReply } from '../wire/replies';
import { Thinking } from './Thinking';
import { Track } from './Track';

const NO_TRACK = { forks: [], passing: [], joining: [] };

/** The reply in progress. */
export function LiveRow({ reply, model, isFirst }: { reply: LiveReply; model: string | null; isFirst: boolean }) {
  const now = useNow(true);
  const isFailed = reply.state === 'error' && reply.retryAt !== null;
  return (
    <article className="row assistant" aria-label="Assistant, answering" data-live="true">
      <Track row={NO_TRACK} isFirst={isFirst} isLast isLive />
      <div className="row-body">
        <div className="who">
          Assistant <span>{model === null ? '' : modelName(model)}</span>
        </div>
        {reply.thinking === '' ? null : <Thinking text={reply.thinking} isLive={reply.text === ''} />}
        {isFailed ? (
          <ErrorCard
            title="The model did not answer"
            message={String(reply.error?.['message'] ?? 'It is asked again by itself.')}
            code={reply.error?.['code'] === undefined ? undefined : String(reply.error['code'])}
            retryAt={reply.retryAt}
            isAutomatic
          />
        ) : (
          <Markdown text={reply.text} isLive />
        )}
        <div className="row-foot">
          <span>{reply.sentAt === null ? '' : formatClock(now - reply.sentAt)}</span>
          {reply.tokens === null ? null : <span>{plural(reply.tokens, 'token')}</span>}
          {reply.attempt > 0 ? <span>try {reply.attempt + 1}</span> : null}
        </div>
      </div>
    </article>
  );
}
