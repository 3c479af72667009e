import { useRef, type ReactNode } from 'react';
import type { LiveReply } from '../wire/replies';
import type { CallPart } from './content';
import { LiveRow } from './LiveRow';
import { MessageRow, type RowActions } from './MessageRow';
import type { CallState } from './Parts';
import { useFollow } from './useFollow';
import type { Row } from './useView';
import { useWindow } from './useWindow';

interface Props {
  rows: readonly Row[];
  live: LiveReply | null;
  model: string | null;
  editedId: string | null;
  callState: (call: CallPart) => CallState;
  actions: RowActions;
  /** What comes after the last message: requests, errors. */
  children: ReactNode;
}

/** The conversation: a part of it is in the document, and its end is followed. */
export function Log({ rows, live, model, editedId, callState, actions, children }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const { start, end, top, bottom, toEnd } = useWindow(rows.length, box);
  const follow = useFollow(box, `${rows.length} ${live?.text.length} ${live?.thinking.length}`);
  const isAtEnd = end === rows.length;
  return (
    <div className="log-box">
      <div ref={box} className="log" role="log" aria-live="off" aria-label="Conversation" tabIndex={0}>
        <div className="log-inner">
          <div ref={top} className="mark" />
          {rows.slice(start, end).map((row, index) => (
            <MessageRow
              key={row.message.id}
              {...row}
              isFirst={start + index === 0}
              isLast={start + index === rows.length - 1 && live === null}
              isEdited={row.message.id === editedId}
              callState={callState}
              actions={actions}
            />
          ))}
          <div ref={bottom} className="mark" />
          {isAtEnd && live !== null ? <LiveRow reply={live} model={model} isFirst={rows.length === 0} /> : null}
          {isAtEnd ? <div className="log-end">{children}</div> : null}
        </div>
      </div>
      {follow.isFollowing && isAtEnd ? null : (
        <button type="button" className="to-end" onClick={() => (toEnd(), requestAnimationFrame(follow.toEnd))}>
          ↓ Jump to latest
        </button>
      )}
    </div>
  );
}
