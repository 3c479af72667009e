/** What a person does with a run; an error is shown as a notice. */
import { notifyError } from '../parts/Toasts';
import { post, threadPath } from '../wire/http';
import type { Answer } from '../requests/calls';
import type { ReceiptReply } from '../wire/types';

/** Send something; return whether the server has taken it. */
export async function attempt(sent: Promise<unknown>): Promise<boolean> {
  try {
    await sent;
    return true;
  } catch (error) {
    notifyError(error);
    return false;
  }
}

export const runActions = (id: string) => ({
  respond: (requestId: string, answer: Answer) =>
    attempt(post<ReceiptReply>(threadPath(id, '/respond'), { requestId, ...answer })),
  cancel: () => attempt(post(threadPath(id, '/stop'))),
  resume: () => attempt(post(threadPath(id, '/resume'))),
  retryTurn: () => attempt(post(threadPath(id, '/perform'), { action: 'RETRY' })),
  forceAgent: (name: string) => attempt(post(threadPath(id, '/agent'), { name })),
  skipStep: () => attempt(post(threadPath(id, '/skip'))),
  say: (text: string) => attempt(post(threadPath(id, '/messages'), { text })),
});

export type RunActions = ReturnType<typeof runActions>;
