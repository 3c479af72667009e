import { useState } from 'react';
import { formatCount, formatUsd, modelName } from '../parts/format';
import { lampOf } from '../parts/Lamp';
import { Link } from '../parts/Link';
import { Menu, type MenuItem } from '../parts/Menu';
import { Meter } from '../parts/Meter';
import { ModelPicker } from '../parts/ModelPicker';
import { roomOf, useModels, windowOf } from '../parts/models';
import { Plate } from '../parts/Plate';
import { navigate } from '../route';
import { archiveThread, copyThread, deleteThread, exportItems } from '../threads/actions';
import { chooseModel, renameChat } from './actions';
import type { ChatView } from './useView';

interface Props {
  view: ChatView;
  canUseModel: boolean;
  isPanel: boolean;
  onPanel: () => void;
  onCheckpoint: () => void;
  isRenaming: boolean;
  onRename: (isRenaming: boolean) => void;
}

function Title({ view, isRenaming, onRename }: Pick<Props, 'view' | 'isRenaming' | 'onRename'>) {
  const { id, title } = view.page;
  if (!isRenaming) return <h1 title={title}>{title || 'Untitled'}</h1>;
  const save = (text: string) => {
    onRename(false);
    if (text !== title) void renameChat(id, text);
  };
  return (
    <input
      className="field title-field"
      aria-label="Title"
      defaultValue={title}
      maxLength={500}
      autoFocus
      onFocus={(event) => event.target.select()}
      onBlur={(event) => save(event.target.value)}
      onKeyDown={(event) => {
        if (event.nativeEvent.isComposing) return;
        if (event.key === 'Enter') save(event.currentTarget.value);
        if (event.key === 'Escape') onRename(false);
      }}
    />
  );
}

const modelOf = (model: string | null): string => (model === null ? 'no model' : modelName(model));

/** Where the conversation stands between nothing and a full context window. */
function ContextMeter({ view }: { view: ChatView }) {
  const { contextLimit, compressAt, model } = view.content.config;
  const { most, by } = roomOf(contextLimit, windowOf(useModels(), model));
  const tokens = view.content.messages[view.head ?? '']?.tokens ?? 0;
  const tick = compressAt * contextLimit;
  const whose = by === 'model' ? `the window of ${modelOf(model)}` : 'the limit of this chat';
  return (
    <span className="context" title={`Tokens of this branch, of ${whose}`}>
      <Meter
        label={`Context: ${whose}`}
        value={tokens}
        most={most}
        ticks={tick < most ? [tick] : []}
        text={`${formatCount(tokens)} of ${formatCount(most)}`}
        isCompact
      />
    </span>
  );
}

const stateOf = (view: ChatView): string => {
  const { page, content } = view;
  if (content.merge !== null) return 'converging';
  if (page.status === 'waiting') return `waiting ▸ ${page.waiting ?? ''}`;
  if (page.status === 'pending') return 'idle';
  return content.reply?.phase === 'tools' ? 'running ▸ tools' : page.status;
};

/** The head of a chat: title, state, cost, context window, model, branches. */
export function ChatHeader(props: Props) {
  const { view, canUseModel, isPanel, onPanel, onCheckpoint, onRename } = props;
  const [isPicking, setPicking] = useState(false);
  const { page, content } = view;
  const { content: _, ...row } = page;
  const count = Object.keys(content.branches).length;
  const inspector = `/inspector/${encodeURIComponent(page.id)}`;
  const items: MenuItem[] = [
    { label: `Model: ${modelOf(content.config.model)}…`, run: () => setPicking(true), isDisabled: !canUseModel },
    { label: 'Inspect', run: () => navigate(inspector) },
    { label: 'Rename', run: () => onRename(true) },
    { label: 'Add a checkpoint…', run: onCheckpoint },
    { label: 'Copy into a new thread', run: () => void copyThread(page.id) },
    ...exportItems(row),
    {
      label: page.archived ? 'Take out of the archive' : 'Archive',
      run: () => void archiveThread(row, !page.archived),
    },
    { label: 'Delete', isDangerous: true, run: () => deleteThread(row) },
  ];
  return (
    <header className="screen-head chat-head">
      <Title {...props} />
      <Plate state={lampOf(page.status)}>{stateOf(view)}</Plate>
      <span className="spring" />
      <span
        className="head-cost"
        title={content.metrics.unpriced > 0 ? 'Some replies have no known price' : 'Cost of the thread'}
      >
        {formatUsd(page.costUsd)}
        {content.metrics.unpriced > 0 ? '+' : ''}
      </span>
      <ContextMeter view={view} />
      <button
        type="button"
        className="quiet model-button"
        disabled={!canUseModel}
        title={`Choose the model; now ${content.config.model ?? 'none'}`}
        onClick={() => setPicking(true)}
      >
        {modelOf(content.config.model)}
      </button>
      <button type="button" className="quiet" aria-expanded={isPanel} onClick={onPanel}>
        Branches {count || ''}
      </button>
      <Link to={inspector} className="button quiet inspect">
        Inspect <kbd>I</kbd>
      </Link>
      <Menu label="Actions of this chat" items={items}>
        ⋯
      </Menu>
      {isPicking ? (
        <ModelPicker
          current={content.config.model}
          onPick={(model) => void chooseModel(page.id, model)}
          onClose={() => setPicking(false)}
        />
      ) : null}
    </header>
  );
}
