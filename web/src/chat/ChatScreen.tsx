import { useEffect, useMemo, useRef, useState } from 'react';
import { useCommands } from '../parts/commands';
import type { OpenThread } from '../wire/store';
import type { OpenedThread } from '../wire/types';
import { branchFrom, editMessage, regenerate, retryThread, rewindTo, switchBranch } from './actions';
import { BranchPanel } from './BranchPanel';
import { ChatHeader } from './ChatHeader';
import { CheckpointDialog } from './CheckpointDialog';
import { Composer, type ComposerHandle } from './Composer';
import { textOf, wayTo, type Part } from './content';
import { End } from './End';
import { Log } from './Log';
import { MergeDialog } from './MergeDialog';
import type { RowActions } from './MessageRow';
import { OtherBranch, useShowBranch } from './OtherBranch';
import { useMeasuring } from './times';
import { useAnnounce } from './useAnnounce';
import { useChatThread } from './useChatThread';
import { useCallState, useView, type ChatView } from './useView';

/** What can be done with messages; it changes with the snapshot only. */
function useRowActions(
  view: ChatView,
  canChange: boolean,
  edit: (id: string | null) => void,
  showBranch: (name: string) => void,
): RowActions {
  return useMemo(() => {
    const { content, head } = view;
    const { id } = view.page;
    return {
      canChange,
      edit: (message) => edit(message.id),
      saveEdit: (message, text) => editMessage(id, message, text, content),
      cancelEdit: () => edit(null),
      regenerate: (message) => regenerate(id, message, message.id === head, content),
      branch: (message) => void branchFrom(id, message.id, content),
      rewind: (message) => void rewindTo(id, message.id, head),
      showVersion: (version) => {
        const way = wayTo(version, content);
        if ('branch' in way) void switchBranch(id, way.branch);
        else void rewindTo(id, way.message, null);
      },
      switchTo: showBranch,
    };
  }, [view, canChange, edit, showBranch]);
}

export function ChatScreen({ thread, page: stored }: { thread: OpenThread; page: OpenedThread }) {
  const { id } = stored;
  const { view, isRunning, say, stop } = useChatThread(id, useView(stored));
  const { page, content } = view;
  const can = page.can['chat'] ?? [];
  const isStarted = page.can['chat'] !== undefined;
  const isCurrent = content.branch === view.current;
  const canChange = isCurrent && can.includes('fork') && can.includes('rewind');
  const canReach = isCurrent || can.includes('switch');
  const canSend = canReach && page.problem === null && (!isRunning || content.config.onBusy !== 'reject') && content.merge === null;
  const isLive = content.branch === (content.reply?.branch ?? view.current);
  const live = isLive ? (thread.replies[''] ?? null) : null;
  const showBranch = useShowBranch(id, can.includes('switch'));
  // Words to another branch than the current one go on there.
  const send = async (parts: readonly Part[]): Promise<boolean> =>
    (isCurrent || (await switchBranch(id, content.branch)) !== undefined) && say(parts);
  const [editedId, setEdited] = useState<string | null>(null);
  const [isPanel, setPanel] = useState(false);
  const [mergeSource, setMergeSource] = useState<string | null>(null);
  const [isMarking, setMarking] = useState(false);
  const [isRenaming, setRenaming] = useState(false);
  const isMerging = content.merge !== null;
  const wasMerging = useRef(isMerging);
  useEffect(() => {
    // A merge that was confirmed or cancelled, maybe elsewhere, leaves nothing to decide.
    if (wasMerging.current && !isMerging) setMergeSource(null);
    wasMerging.current = isMerging;
  }, [isMerging]);
  const composer = useRef<ComposerHandle>(null);
  const actions = useRowActions(view, canChange, setEdited, showBranch);
  const callState = useCallState(thread, view);
  const lastAsked = view.rows.findLast((row) => row.message.role === 'user')?.message;
  const lastReply = view.rows.at(-1)?.message;
  useMeasuring(live, lastReply);
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
      run: () => void (canChange && !isRunning && retryThread(id)),
    },
    { id: 'branches', group: 'Chat', label: 'Branches', keys: 'b', run: () => setPanel((old) => !old) },
    { id: 'checkpoint', group: 'Chat', label: 'Add a checkpoint', keys: 'c', run: () => setMarking(true) },
    { id: 'rename', group: 'Chat', label: 'Rename this chat', run: () => setRenaming(true) },
  ]);
  return (
    <section
      className={isPanel ? 'screen chat with-panel' : 'screen chat'}
      aria-label={page.title}
      onDrop={(event) => composer.current?.attach(event.dataTransfer.files)}
    >
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
          {isCurrent ? <End view={view} onMerge={setMergeSource} /> : <OtherBranch view={view} canSwitch={can.includes('switch')} />}
        </Log>
        <footer className="chat-foot">
          <Composer
            ref={composer}
            draftName={id}
            placeholder={!isCurrent ? `Reply on “${content.branch}”` : isStarted ? 'Reply' : 'Say something'}
            isRunning={isRunning}
            canSend={canSend}
            onSend={send}
            onStop={stop}
            onEditLast={editLast}
          />
        </footer>
      </div>
      {isPanel ? (
        <BranchPanel
          id={id}
          page={page}
          content={content}
          canChange={canChange}
          onShow={showBranch}
          onMerge={setMergeSource}
          onClose={() => setPanel(false)}
        />
      ) : null}
      {mergeSource === null ? null : (
        <MergeDialog
          id={id}
          content={content}
          source={mergeSource}
          canConfirm={can.includes('confirm_merge')}
          onClose={() => setMergeSource(null)}
        />
      )}
      {isMarking ? <CheckpointDialog id={id} onClose={() => setMarking(false)} /> : null}
    </section>
  );
}
