import { useEffect, useMemo, useRef, useState } from 'react';
import { useCommands } from '../parts/commands';
import { ErrorCard } from '../parts/ErrorCard';
import { Transcript } from '../parts/Transcript';
import { navigate, pathOf } from '../route';
import { useThread, type OpenThread } from '../wire/store';
import { branchFrom, editMessage, regenerate, retryThread, rewindTo, switchBranch } from './actions';
import { BranchPanel } from './BranchPanel';
import { ChatHeader } from './ChatHeader';
import { CheckpointDialog } from './CheckpointDialog';
import { Composer, type ComposerHandle } from './Composer';
import { textOf, wayTo } from './content';
import { End } from './End';
import { Log } from './Log';
import { MergeDialog } from './MergeDialog';
import type { RowActions } from './MessageRow';
import { useAnnounce } from './useAnnounce';
import { useChatThread } from './useChatThread';
import { useCallState, useView, type ChatView } from './useView';

export function ChatScreen({ id }: { id: string }) {
  const thread = useThread(id);
  const view = useView(thread);
  const { problem, page } = thread;
  const isGone = problem?.code === 'unknown_thread';
  useEffect(() => {
    if (page !== null && page.kind !== 'chat' && page.kind !== '') navigate(pathOf(page), true);
  }, [page]);
  if (view !== null && !isGone) return <Chat thread={thread} view={view} />;
  if (page?.transcript && !isGone) return <Transcript page={page} />;
  if (problem !== null)
    return (
      <div className="screen-body">
        <ErrorCard title="This thread cannot be shown" message={problem.message} code={problem.code} />
      </div>
    );
  return <p className="empty">Loading…</p>;
}

/** What can be done with messages; it changes with the snapshot only. */
function useRowActions(view: ChatView, canChange: boolean, edit: (id: string | null) => void): RowActions {
  return useMemo(() => {
    const { content, head } = view;
    const { id } = view.page;
    return {
      canChange,
      edit: (message) => edit(message.id),
      saveEdit: (message, text) => editMessage(id, message, text, content),
      cancelEdit: () => edit(null),
      regenerate: (message) => void regenerate(id, message, message.id === head, content),
      branch: (message) => void branchFrom(id, message.id, content),
      rewind: (message) => void rewindTo(id, message.id, head),
      showVersion: (version) => {
        const way = wayTo(version, content);
        if ('branch' in way) void switchBranch(id, way.branch);
        else void rewindTo(id, way.message, null);
      },
      switchTo: (branch) => void switchBranch(id, branch),
    };
  }, [view, canChange, edit]);
}

function Chat({ thread, view: stored }: { thread: OpenThread; view: ChatView }) {
  const { id } = stored.page;
  const { view, isRunning, say, stop } = useChatThread(id, stored);
  const { page, content } = view;
  const can = page.can['chat'] ?? [];
  const isStarted = page.can['chat'] !== undefined;
  const canChange = can.includes('fork') && can.includes('rewind');
  const canSend = page.problem === null && (!isRunning || content.config.onBusy !== 'reject') && content.merge === null;
  const live = thread.replies[''] ?? null;
  const [editedId, setEdited] = useState<string | null>(null);
  const [isPanel, setPanel] = useState(false);
  const [mergeSource, setMergeSource] = useState<string | null>(null);
  const [isMarking, setMarking] = useState(false);
  const [isRenaming, setRenaming] = useState(false);
  const composer = useRef<ComposerHandle>(null);
  const actions = useRowActions(view, canChange, setEdited);
  const callState = useCallState(thread, view);
  const lastAsked = view.rows.findLast((row) => row.message.role === 'user')?.message;
  const lastReply = view.rows.at(-1)?.message;
  useAnnounce(isRunning, page.status, () =>
    lastReply === undefined ? 0 : textOf(lastReply.parts).split(/\s+/).length,
  );
  const editLast = () => {
    if (lastAsked !== undefined && canChange) setEdited(lastAsked.id);
  };
  useCommands([
    { id: 'write', group: 'Chat', label: 'Write a message', keys: 'm', run: () => composer.current?.focus() },
    {
      id: 'stop',
      group: 'Chat',
      label: 'Stop the reply',
      keys: 's',
      run: () => void (isRunning && stop()),
    },
    { id: 'edit-last', group: 'Chat', label: 'Edit your last message', keys: 'e', run: editLast },
    {
      id: 'regenerate',
      group: 'Chat',
      label: 'Regenerate the last reply',
      keys: 'r',
      run: () => void (canChange && retryThread(id)),
    },
    { id: 'branches', group: 'Chat', label: 'Branches', keys: 'b', run: () => setPanel((old) => !old) },
    { id: 'checkpoint', group: 'Chat', label: 'Add a checkpoint', keys: 'c', run: () => setMarking(true) },
    { id: 'rename', group: 'Chat', label: 'Rename this chat', run: () => setRenaming(true) },
  ]);
  return (
    <section className={isPanel ? 'screen chat with-panel' : 'screen chat'} aria-label={page.title}>
      <ChatHeader
        view={view}
        canUseModel={can.includes('use_model')}
        isPanel={isPanel}
        onPanel={() => setPanel(!isPanel)}
        onCheckpoint={() => setMarking(true)}
        isRenaming={isRenaming}
        onRename={setRenaming}
      />
      <div className="chat-main">
        <Log
          rows={view.rows}
          live={live}
          model={content.config.model}
          editedId={editedId}
          callState={callState}
          actions={actions}
        >
          <End view={view} />
        </Log>
        <footer className="chat-foot">
          <Composer
            ref={composer}
            draftName={id}
            placeholder={isStarted ? 'Reply' : 'Say something'}
            isRunning={isRunning}
            canSend={canSend}
            onSend={say}
            onStop={stop}
            onEditLast={editLast}
          />
        </footer>
      </div>
      {isPanel ? (
        <BranchPanel
          id={id}
          content={content}
          canChange={canChange}
          onMerge={setMergeSource}
          onClose={() => setPanel(false)}
        />
      ) : null}
      {content.merge !== null || mergeSource !== null ? (
        <MergeDialog
          id={id}
          content={content}
          source={mergeSource}
          canConfirm={can.includes('confirm_merge')}
          onClose={() => setMergeSource(null)}
        />
      ) : null}
      {isMarking ? <CheckpointDialog id={id} onClose={() => setMarking(false)} /> : null}
    </section>
  );
}
