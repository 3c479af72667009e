import { expect, test } from 'vitest';
import type { OpenedThread } from '../wire/types';
import { offersOf, type AskedCall } from './calls';
import { overrideText, possibleOf } from './content';
import { joinActivities } from './history';

const RUN = ['message', 'resume', 'RETRY', 'FORCE_AGENT', 'SKIP_STEP', 'CANCEL'];

function page(status: string, more: Partial<OpenedThread> = {}): OpenedThread {
  return { status, requests: [], can: { '': ['START', 'STOP'], run: RUN }, content: { plan: { steps: [] } }, ...more } as unknown as OpenedThread;
}

test('a run that waits without a request has lost its process, and can be resumed', () => {
  expect(possibleOf(page('waiting'))).toMatchObject({ resume: true, forceAgent: false, guide: false });
  expect(possibleOf(page('waiting', { requests: [{ id: 'r', address: 'a', reason: 'permission' }] }))).toMatchObject({ resume: false, forceAgent: true, cancel: true });
  expect(possibleOf(page('running'))).toMatchObject({ resume: false, cancel: true, skipStep: true });
});

test('a run that has ended can only be run again', () => {
  const possible = possibleOf(page('failed', { can: { '': ['START'] } }));

  expect(Object.entries(possible).filter(([, isPossible]) => isPossible).map(([name]) => name)).toEqual(['runAgain']);
});

test('scopes are offered once, for the calls that are asked about', () => {
  const call = (decision: string, label: string): AskedCall => ({ decision, scopes: [{ scope: 'folder', value: label, label }] }) as unknown as AskedCall;

  expect(offersOf([call('ask', 'a'), call('ask', 'b'), call('allow', 'c')]).map((offer) => offer.label)).toEqual(['a, b']);
});

test('standing permissions are told in words', () => {
  expect(overrideText({ decision: 'allow', scope: 'folder', value: '.' })).toBe('files in the workspace folder');
  expect(overrideText({ decision: 'allow', scope: 'command', value: '{"command":"ls -l"}' })).toBe('ls -l');
  expect(overrideText({ decision: 'deny', pattern: 'shell(rm *)' })).toBe('never shell(rm *)');
});

test('activities of the journal and those that came since are each there once', () => {
  const row = (cursor: string) => ({ seq: 1, cursor, at: 0, kind: 'status', facts: {} });
  const past = { activities: [row('h:1'), row('h:2.1')], cursor: 'h:2.1' };

  expect(joinActivities(past, [row('h:2.1'), row('h:2'), row('h:3')]).map((item) => item.cursor)).toEqual(['h:1', 'h:2.1', 'h:2', 'h:3']);
});
