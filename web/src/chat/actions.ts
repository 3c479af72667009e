/** What a person does with a chat; an error is shown, and nothing is lost. */
import { notify, notifyError } from '../parts/Toasts';
import { patch, post, Problem, threadPath } from '../wire/http';
import { sourceOf } from '../wire/store';
import type { Answer } from '../requests/calls';
import type { OpenedThread } from '../wire/types';
import { branchName, textOf, type ChatContent, type ChatMessage, type Part } from './content';

async function act<T>(id: string, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    notifyError(error);
    return undefined;
  } finally {
    sourceOf(id).reload();
  }
}

const asking = new Set<string>();

/** Ask for a reply once: a second click or key before the page has changed asks for no other. */
async function askOnce<T>(id: string, work: () => Promise<T>): Promise<T | undefined> {
  if (asking.has(id)) return undefined;
  asking.add(id);
  return await act(id, work).finally(() => asking.delete(id));
}

const to = <T>(id: string, rest: string, body: unknown = {}) => post<T>(threadPath(id, rest), body);
const perform = (id: string, action: string, payload: Record<string, unknown> = {}) =>
  to<OpenedThread>(id, '/perform', { action, payload });

/** A message as the server takes it: a text, or parts if there is more than that. */
function bodyOf(parts: readonly Part[]): { text: string } | { parts: readonly Part[] } {
  return parts.every((part) => part.type === 'text') ? { text: textOf(parts) } : { parts };
}

export const sendMessage = async (id: string, parts: readonly Part[]): Promise<boolean> =>
  (await act(id, () => to(id, '/messages', bodyOf(parts)))) !== undefined;

export const stopThread = (id: string) => act(id, () => to(id, '/stop'));
export const resumeThread = (id: string) => act(id, () => to(id, '/resume'));
export const retryThread = (id: string) => askOnce(id, () => to(id, '/retry'));
export const answerRequest = async (id: string, requestId: string, answer: Answer): Promise<boolean> =>
  (await act(id, () => to(id, '/respond', { requestId, ...answer }))) !== undefined;
export const switchBranch = (id: string, branch: string) => act(id, () => perform(id, 'switch', { branch }));
export const closeBranch = (id: string, branch: string) => act(id, () => perform(id, 'close', { branch }));
export const chooseModel = (id: string, model: string) => act(id, () => perform(id, 'use_model', { model }));
export const renameChat = (id: string, title: string) =>
  act(id, () => patch(threadPath(id), { title: title.trim() || null }));

export async function rewindTo(id: string, message: string, back: string | null): Promise<void> {
  const done = await act(id, () => perform(id, 'rewind', { message }));
  if (done === undefined || back === null) return;
  notify('Went back. Later messages are kept.', {
    action: { label: 'Undo', run: () => void act(id, () => perform(id, 'rewind', { message: back })) },
  });
}

export const rewindToCheckpoint = (id: string, checkpointId: string) =>
  act(id, () => to(id, '/rewind', { checkpointId }));

export async function addCheckpoint(id: string, name: string): Promise<void> {
  const done = await act(id, () => to(id, '/checkpoints', name.trim() ? { name: name.trim() } : {}));
  if (done !== undefined) notify('Checkpoint added');
}

/** Open a branch after a message, or at the beginning. */
function fork(id: string, from: string | null, name: string): Promise<OpenedThread> {
  return to<OpenedThread>(id, '/branches', from === null ? { turn: 0, name } : { from, name });
}

/** Open or drop a branch that another client has planned. */
export const endFork = (id: string, isOpened: boolean) =>
  act(id, () => perform(id, isOpened ? 'confirm_fork' : 'cancel_fork'));

export const branchFrom = (id: string, from: string, content: ChatContent) =>
  act(id, () => fork(id, from, branchName('branch', content)));

/** Send another version of a message, on a branch of its own; the first version stays where it is. */
export async function editMessage(
  id: string,
  message: ChatMessage,
  text: string,
  content: ChatContent,
): Promise<boolean> {
  const others = message.parts.filter((part) => part.type === 'image' || part.type === 'document');
  const done = await act(id, async () => {
    try {
      await fork(id, message.parent, branchName(text, content));
    } catch (error) {
      // As many branches as the chat may have are open: the current one goes back instead, and keeps what it had.
      if (!(error instanceof Problem) || error.code !== 'refused' || message.parent === null) throw error;
      await perform(id, 'rewind', { message: message.parent });
    }
    return to(id, '/messages', bodyOf([...others, { type: 'text', text }]));
  });
  return done !== undefined;
}

/** Ask for another reply; one in the middle of the conversation is asked for on a branch of its own. */
export function regenerate(id: string, message: ChatMessage, isLast: boolean, content: ChatContent) {
  return askOnce(id, async () => {
    if (!isLast) await fork(id, message.id, branchName('another reply', content));
    return to(id, '/retry');
  });
}

export const beginMerge = (id: string, source: string, strategy: string) =>
  act(id, () => to(id, '/merge', { source, strategy }));
export const resolveConflict = (id: string, conflict: string, pick: string) =>
  act(id, () => to(id, '/merge/resolve', { conflict, pick }));
export const propose = (id: string, text?: string) =>
  act(id, () => perform(id, 'propose', text === undefined ? {} : { text }));
export const cancelMerge = (id: string) => act(id, () => to(id, '/merge/cancel'));
export async function confirmMerge(id: string): Promise<void> {
  if ((await act(id, () => to(id, '/merge/confirm'))) !== undefined) notify('Merged');
}
