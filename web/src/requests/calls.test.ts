import { expect, test } from 'vitest';
import { offersOf, type AskedCall } from './calls';
import { overrideText } from './grants';

test('scopes are offered once, for the calls that are asked about', () => {
  const call = (decision: string, label: string): AskedCall =>
    ({ decision, scopes: [{ scope: 'folder', value: label, label }] }) as unknown as AskedCall;

  expect(offersOf([call('ask', 'a'), call('ask', 'b'), call('allow', 'c')]).map((offer) => offer.label)).toEqual([
    'a, b',
  ]);
});

test('standing permissions are told in words', () => {
  expect(overrideText({ decision: 'allow', scope: 'folder', value: '.' })).toBe('files in the workspace folder');
  expect(overrideText({ decision: 'allow', scope: 'command', value: '{"command":"ls -l"}' })).toBe('ls -l');
  expect(overrideText({ decision: 'deny', pattern: 'shell(rm *)' })).toBe('never shell(rm *)');
});
