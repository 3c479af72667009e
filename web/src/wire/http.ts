import { tellHub } from './feed';
import type { ProblemReply } from './types';

/** An error that the server has answered with, or that it was not reached. */
export class Problem extends Error {
  readonly code: string;
  readonly status: number;
  readonly recoverable: boolean;
  readonly reply: Partial<ProblemReply>;

  constructor(reply: Partial<ProblemReply> & { code: string }) {
    super(reply.detail ?? reply.title ?? reply.code);
    this.code = reply.code;
    this.status = reply.status ?? 0;
    this.recoverable = reply.recoverable ?? false;
    this.reply = reply;
  }
}

const OFFLINE = { code: 'offline', recoverable: true };
const NOT_READ = 'The server does not answer. It is asked again by itself.';
const NOT_DONE = 'The server does not answer, so this was not done. Nothing is lost; try again when it is back.';

async function request(method: string, path: string, body?: unknown, init: RequestInit = {}): Promise<Response> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (method !== 'GET') headers['idempotency-key'] = crypto.randomUUID();
  const sent = { method, headers, credentials: 'same-origin' as const, ...init };
  let response: Response;
  try {
    response = await fetch(path, body === undefined ? sent : { ...sent, body: JSON.stringify(body) });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    tellHub({ send: 'check' });
    throw new Problem({ ...OFFLINE, detail: method === 'GET' ? NOT_READ : NOT_DONE });
  }
  if (!response.ok) throw new Problem(await readProblem(response));
  return response;
}

async function readProblem(response: Response): Promise<Partial<ProblemReply> & { code: string }> {
  try {
    const reply = (await response.json()) as Partial<ProblemReply>;
    return { ...reply, code: reply.code ?? 'internal', status: response.status };
  } catch {
    return { code: 'internal', status: response.status, detail: `The server answered with ${response.status}.` };
  }
}

async function json<T>(answer: Promise<Response>): Promise<T> {
  const response = await answer;
  return (response.status === 204 ? undefined : await response.json()) as T;
}

export const get = <T>(path: string, init?: RequestInit): Promise<T> => json<T>(request('GET', path, undefined, init));
export const post = <T>(path: string, body: unknown = {}, init?: RequestInit): Promise<T> =>
  json<T>(request('POST', path, body, init));
export const patch = <T>(path: string, body: unknown): Promise<T> => json<T>(request('PATCH', path, body));
export const put = <T>(path: string, body: unknown): Promise<T> => json<T>(request('PUT', path, body));
export const remove = (path: string, init?: RequestInit): Promise<void> =>
  json(request('DELETE', path, undefined, init));
export const getText = async (path: string): Promise<string> => (await request('GET', path)).text();

/** The path of a thread, or of something below it. */
export const threadPath = (id: string, rest = ''): string => `/threads/${encodeURIComponent(id)}${rest}`;

/** The text of any error, for a person. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));
