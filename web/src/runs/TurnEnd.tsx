import { Markdown } from '../parts/Markdown';
import { Request } from '../requests/Request';
import type { LiveReply } from '../wire/replies';
import type { OpenThread } from '../wire/store';
import type { RunActions } from './actions';
import { contentOf } from './content';
import { agentName, type Turn } from './turns';

/** Words that are coming. */
function LiveRow({ reply, name }: { reply: LiveReply; name: string | null }) {
  return (
    <div className="run-row run-item" data-kind="message">
      <i className="run-mark live" aria-hidden="true" />
      <div className="run-item-body">
        {name === null ? null : <p className="run-speaker">{name}</p>}
        {reply.text === '' ? (
          <p className="run-note">{reply.thinking === '' ? 'waiting for the model …' : 'thinking …'}</p>
        ) : (
          <Markdown text={reply.text} isLive />
        )}
      </div>
    </div>
  );
}

function Requests({
  thread,
  turn,
  askedAt,
  actions,
}: {
  thread: OpenThread;
  turn: Turn;
  askedAt: ReadonlyMap<string, number>;
  actions: RunActions;
}) {
  const { page } = thread;
  if (page === null) return null;
  const grants = contentOf(page).consent.overrides;
  return page.requests.map((request) => (
    <div key={request.id} id={`request-${request.id}`} className="run-row run-item" data-kind="request">
      <i className="run-mark wait" aria-hidden="true" />
      <div className="run-item-body">
        <Request
          request={request}
          asker={agentName(turn, request.speaker)}
          since={askedAt.get(request.id) ?? null}
          grants={grants}
          noun="run"
          onAnswer={(answer) => actions.respond(request.id, answer)}
        />
      </div>
    </div>
  ));
}

/** What is going on at the end of the last turn. */
export function TurnEnd(props: {
  thread: OpenThread;
  turn: Turn;
  askedAt: ReadonlyMap<string, number>;
  actions: RunActions;
}) {
  const { turn, thread } = props;
  const replies = turn.endedAt === null ? Object.values(thread.replies) : [];
  return (
    <>
      {replies.map((reply) => (
        <LiveRow
          key={reply.speaker}
          reply={reply}
          name={turn.agents.length > 1 ? agentName(turn, reply.speaker) : null}
        />
      ))}
      <Requests {...props} />
    </>
  );
}
