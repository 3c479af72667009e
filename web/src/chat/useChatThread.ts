import { startEvent, type OpenedThread, type ThreadEvent, type ThreadStatus, type ThreadTransport } from '@antiphon/machines';
import { useThreadMachine } from '@antiphon/machines/react';
import { useMemo } from 'react';
import { sourceOf } from '../wire/store';
import { sendMessage, stopThread } from './actions';
import type { Part } from './content';
import type { ChatView } from './useView';

/** The thread of a chat: its pages from the store of this tab, and its events as requests to the server. */
function transportOf(id: string): ThreadTransport {
  const source = sourceOf(id);
  return {
    snapshot: () => source.snapshot().page as OpenedThread | null,
    subscribe: source.subscribe,
    send: async (event) => {
      const { message } = event as { message?: { parts: readonly Part[] } };
      const isTaken = message === undefined ? (await stopThread(id)) !== undefined : await sendMessage(id, message.parts);
      if (!isTaken) throw new Error(`the server refuses ${event.type}`); // and the person was told why
    },
  };
}

/** Run the machine of a chat's thread in this page: a message and Stop are seen at once, and the server decides. */
export function useChatThread(id: string, view: ChatView) {
  const transport = useMemo(() => transportOf(id), [id]);
  const { status, isBusy, can, send } = useThreadMachine(transport);
  const { page } = view;
  const shown = useMemo(() => (status === page.status ? view : { ...view, page: { ...page, status } }), [status, page, view]);
  const say = (parts: readonly Part[]): Promise<boolean> => {
    const event = { type: startEvent(page.status as ThreadStatus), message: { parts } } as unknown as ThreadEvent;
    return can(event) ? send(event).then(() => true, () => false) : sendMessage(id, parts);
  };
  const stop = (): void => void (can({ type: 'STOP' }) ? send({ type: 'STOP' }).catch(() => undefined) : stopThread(id));
  return { view: shown, isRunning: isBusy, say, stop };
}
