import { memo } from 'react';
import { ActionButton } from '../parts/ActionButton';
import { CopyButton } from '../parts/CopyButton';
import { formatCount, formatSeconds, formatTime, formatUsd, plural } from '../parts/format';
import { Menu, type MenuItem } from '../parts/Menu';
import { textOf, type CallPart, type ChatMessage, type Checkpoint } from './content';
import { EditField } from './EditField';
import { Parts, type CallState } from './Parts';
import { Track } from './Track';
import type { TrackRow } from './track';

export interface RowActions {
  canChange: boolean;
  edit: (message: ChatMessage) => void;
  saveEdit: (message: ChatMessage, text: string) => Promise<boolean>;
  cancelEdit: () => void;
  regenerate: (message: ChatMessage) => Promise<unknown>;
  branch: (message: ChatMessage) => void;
  rewind: (message: ChatMessage) => void;
  showVersion: (id: string) => void;
  switchTo: (branch: string) => void;
}

interface Props {
  message: ChatMessage;
  /** Milliseconds that the reply took, if that is known. */
  ms: number | null;
  /** About how many tokens the message has. */
  tokens: number;
  versions: string;
  track: TrackRow;
  checkpoint: Checkpoint | null;
  isFirst: boolean;
  isLast: boolean;
  isEdited: boolean;
  callState: (call: CallPart) => CallState;
  actions: RowActions;
}

const NAMES = { user: 'You', assistant: 'Assistant', system: 'Context', tool: 'Tool' };

function Versions({ id, versions, actions }: { id: string; versions: string; actions: RowActions }) {
  const ids = versions.split(' ');
  const index = ids.indexOf(id);
  if (ids.length < 2 || index < 0) return null;
  const go = (step: number) => {
    const next = ids[index + step];
    if (next !== undefined) actions.showVersion(next);
  };
  return (
    <span className="versions" role="group" aria-label="Versions">
      <button
        type="button"
        className="quiet"
        aria-label="Previous version"
        disabled={index === 0 || !actions.canChange}
        onClick={() => go(-1)}
      >
        ‹
      </button>
      <span className="mono">
        {index + 1}/{ids.length}
      </span>
      <button
        type="button"
        className="quiet"
        aria-label="Next version"
        disabled={index === ids.length - 1 || !actions.canChange}
        onClick={() => go(1)}
      >
        ›
      </button>
    </span>
  );
}

function Figures({ message, ms, tokens }: Pick<Props, 'message' | 'ms' | 'tokens'>) {
  const { usage, costUsd } = message;
  if (usage === undefined) {
    if (!message.interrupted) return null;
    // The provider counts a reply at its end; this one was stopped before.
    return (
      <>
        {ms === null ? null : <span>{formatSeconds(ms)}</span>}
        <span title="The provider has not counted this reply">about {plural(tokens, 'token')}</span>
      </>
    );
  }
  const detail = `${formatCount(usage.input)} in (${formatCount(usage.cachedRead)} from the cache), ${formatCount(usage.output)} out (${formatCount(usage.reasoning)} thinking)`;
  return (
    <>
      <span>{typeof costUsd === 'number' ? formatUsd(costUsd) : 'no price'}</span>
      {ms === null ? null : <span>{formatSeconds(ms)}</span>}
      <span title={detail}>{plural(usage.input + usage.output, 'token')}</span>
    </>
  );
}

type ActionsProps = Pick<Props, 'message' | 'ms' | 'tokens' | 'versions' | 'actions'>;

function Actions({ message, ms, tokens, versions, actions }: ActionsProps) {
  const text = textOf(message.parts);
  const items: MenuItem[] = [
    { label: 'Branch here', run: () => actions.branch(message), isDisabled: !actions.canChange },
    { label: 'Rewind to here', run: () => actions.rewind(message), isDisabled: !actions.canChange },
  ];
  return (
    <div className="row-foot">
      <Versions id={message.id} versions={versions} actions={actions} />
      <Figures message={message} ms={ms} tokens={tokens} />
      <span className="row-actions">
        {text === '' ? null : <CopyButton text={text} />}
        {message.role === 'user' ? (
          <button type="button" className="quiet" disabled={!actions.canChange} onClick={() => actions.edit(message)}>
            Edit
          </button>
        ) : null}
        {message.role === 'assistant' ? (
          <ActionButton
            className="quiet"
            disabled={!actions.canChange}
            onAct={() => actions.regenerate(message)}
          >
            Regenerate
          </ActionButton>
        ) : null}
        <Menu label="More" items={items}>
          ⋯
        </Menu>
      </span>
    </div>
  );
}

function Side({ track, checkpoint, actions }: Pick<Props, 'track' | 'checkpoint' | 'actions'>) {
  if (track.forks.length === 0 && checkpoint === null) return null;
  return (
    <aside className="row-side" aria-label="Branches and checkpoints here">
      {checkpoint === null ? null : (
        <p className="checkpoint">
          <span aria-hidden="true">⚑</span> {checkpoint.name ?? `turn ${checkpoint.turn}`}
        </p>
      )}
      {track.forks.map((fork) => (
        <p key={fork.branch}>
          <button
            type="button"
            className="branch-link"
            onClick={() => actions.switchTo(fork.branch)}
          >
            Branch “{fork.branch}”
          </button>
          <br />
          {plural(fork.count, 'message')}
          {fork.at === null ? '' : `, left ${formatTime(fork.at)}`}
          {fork.isClosed ? ', closed' : ''}
        </p>
      ))}
    </aside>
  );
}

/** One message beside its track. */
export const MessageRow = memo(function MessageRow(props: Props) {
  const { message, track, checkpoint, isFirst, isLast, isEdited, actions, callState } = props;
  return (
    <article
      className={`row ${message.role}`}
      data-message={message.id}
      aria-label={`${NAMES[message.role]}, turn ${message.turn}`}
    >
      <Track row={track} isFirst={isFirst} isLast={isLast} isLive={false} />
      <div className="row-body">
        <div className="who">
          {NAMES[message.role]}
          <span>
            {[message.at === undefined ? '' : formatTime(message.at), message.source ?? ''].filter(Boolean).join(' · ')}
          </span>
          {message.interrupted ? <span className="cut">incomplete</span> : null}
          {message.mergedFrom === undefined ? null : <span>merged</span>}
        </div>
        {isEdited ? (
          <EditField
            text={textOf(message.parts)}
            onSave={(text) => actions.saveEdit(message, text)}
            onCancel={actions.cancelEdit}
          />
        ) : (
          <Parts message={message} callState={callState} />
        )}
        {isEdited ? null : <Actions {...props} />}
      </div>
      <Side track={track} checkpoint={checkpoint} actions={actions} />
    </article>
  );
});
