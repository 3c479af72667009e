import { expect, test } from 'vitest';
import { parseRoute, pathOf } from './route';

test('the address of a thread names its kind and its id', () => {
  expect(parseRoute(pathOf({ kind: 'run', id: 'a/b' }))).toEqual({ screen: 'run', id: 'a/b' });
});

test('an address that is cut in the middle of a character leads nowhere', () => {
  expect(parseRoute('/chats/%E0%A4%A')).toEqual({ screen: 'missing' });
});

test('an address that the app does not know leads nowhere', () => {
  expect(parseRoute('/chats')).toEqual({ screen: 'missing' });
  expect(parseRoute('/constructor/x')).toEqual({ screen: 'missing' });
});
