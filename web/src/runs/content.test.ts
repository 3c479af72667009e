import { expect, test } from 'vitest';
import type { OpenedThread } from '../wire/types';
import { possibleOf } from './content';

const RUN = ['message', 'resume', 'RETRY', 'FORCE_AGENT', 'SKIP_STEP', 'CANCEL'];

function page(status: string, more: Partial<OpenedThread> = {}): OpenedThread {
  return {
    status,
    requests: [],
    can: { '': ['START', 'STOP'], run: RUN },
    content: { plan: { steps: [] } },
    ...more,
  } as unknown as OpenedThread;
}

test('a run that waits without a request has lost its process, and can be resumed', () => {
  expect(possibleOf(page('waiting'))).toMatchObject({ resume: true, forceAgent: false, guide: false });
  expect(possibleOf(page('waiting', { requests: [{ id: 'r', address: 'a', reason: 'permission' }] }))).toMatchObject({
    resume: false,
    forceAgent: true,
    cancel: true,
  });
  expect(possibleOf(page('running'))).toMatchObject({ resume: false, cancel: true, skipStep: true });
});

test('a run that has ended can only be run again', () => {
  const possible = possibleOf(page('failed', { can: { '': ['START'] } }));

  expect(
    Object.entries(possible)
      .filter(([, isPossible]) => isPossible)
      .map(([name]) => name),
  ).toEqual(['runAgain']);
});
