/** What can be done with a thread of the list. */
import { notify, notifyError } from '../parts/Toasts';
import { navigate, pathOf } from '../route';
import { lastModel } from '../parts/lastModel';
import { firstModel } from '../parts/models';
import { get, patch, post, Problem, remove, threadPath } from '../wire/http';
import { threads } from '../wire/threads';
import type { ModelList, OpenedThread, ThreadRow } from '../wire/types';

const UNDO_MS = 6_000;
const EXPORTS = { md: 'Markdown', html: 'HTML', json: 'JSON' } as const;
export type ExportFormat = keyof typeof EXPORTS;

async function change(id: string, body: { title?: string | null; archived?: boolean }): Promise<void> {
  try {
    const { content: _, ...row } = await patch<OpenedThread>(threadPath(id), body);
    threads.put(row);
  } catch (error) {
    notifyError(error);
  }
}

export const renameThread = (id: string, title: string): Promise<void> => change(id, { title: title.trim() || null });

export async function archiveThread(row: ThreadRow, archived: boolean): Promise<void> {
  await change(row.id, { archived });
  const undo = { label: 'Undo', run: () => void change(row.id, { archived: !archived }) };
  notify(archived ? 'Archived' : 'Taken out of the archive', { action: undo });
}

/** Delete a thread after a while in which it can be taken back; leaving the page deletes it at once. */
export function deleteThread(row: ThreadRow): void {
  threads.hide(row.id, true);
  if (location.pathname === pathOf(row)) navigate('/');
  let isOver = false;
  const end = (): boolean => {
    const wasOver = isOver;
    isOver = true;
    clearTimeout(timer);
    removeEventListener('pagehide', destroy);
    return !wasOver;
  };
  const destroy = (): void => {
    if (end())
      remove(threadPath(row.id), { keepalive: true }).catch((error: unknown) => (restore(), notifyError(error)));
  };
  // In another tab or program the thread is still there: what was said meanwhile is not deleted unseen.
  const destroyUnchanged = async (): Promise<void> => {
    const now = await get<ThreadRow>(threadPath(row.id, '?content=false')).catch(() => row);
    const isSame = now.turns === row.turns && now.status !== 'running';
    if (row.status === 'running' || isSame) return destroy();
    if (!end()) return;
    restore(now);
    notify(`“${row.title || 'Untitled'}” was not deleted: something was said there meanwhile`);
  };
  const restore = (latest: ThreadRow = row): void => {
    threads.hide(row.id, false);
    threads.put(latest);
  };
  const timer = setTimeout(() => void destroyUnchanged(), UNDO_MS);
  addEventListener('pagehide', destroy);
  notify(`Deleted “${row.title || 'Untitled'}”`, {
    ms: UNDO_MS,
    action: { label: 'Undo', run: () => void (end() && restore()) },
  });
}

export function exportThread(row: Pick<ThreadRow, 'id'>, format: ExportFormat): void {
  const link = document.createElement('a');
  link.href = threadPath(row.id, `/export?format=${format}`);
  link.download = `thread-${row.id}.${format}`;
  link.click();
}

/** Create a thread that goes on from another one, as it is now. */
export async function copyThread(id: string): Promise<void> {
  try {
    const page = await post<OpenedThread>(threadPath(id, '/fork'));
    navigate(pathOf(page));
    notify('This is the copy');
  } catch (error) {
    notifyError(error);
  }
}

/** Create a chat from the file of an export. */
export async function importThread(file: File): Promise<void> {
  try {
    const document = JSON.parse(await file.text()) as Record<string, unknown> | null;
    const { format, version: _, kind = 'chat', title, settings, ...history } = document ?? {};
    if (format !== 'antiphon-thread' || kind !== 'chat') throw new Error(`${file.name} is no exported chat`);
    const body = { ...(settings as Record<string, unknown>), kind, title, history };
    const page = await post<OpenedThread>('/threads', body).catch(async (error: unknown) => {
      if (!(error instanceof Problem) || error.code !== 'unusable_model') throw error;
      const model = firstModel((await get<ModelList>('/models')).items, lastModel.get());
      return await post<OpenedThread>('/threads', { ...body, model });
    });
    navigate(pathOf(page));
    notify(`Imported “${page.title}”, with ${page.model ?? 'no model'}`);
  } catch (error) {
    notifyError(error instanceof SyntaxError ? new Error(`${file.name} is not JSON`) : error);
  }
}

export const MOST_FOUND = 50;

export const searchThreads = (words: string, signal: AbortSignal) =>
  get<{ items: ThreadRow[] }>(`/threads?limit=${MOST_FOUND}&words=${encodeURIComponent(words)}`, { signal });

export const exportItems = (row: Pick<ThreadRow, 'id'>) =>
  (Object.keys(EXPORTS) as ExportFormat[]).map((format) => ({
    label: `Export as ${EXPORTS[format]}`,
    run: () => exportThread(row, format),
  }));
