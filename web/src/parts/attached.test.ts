import { expect, it } from 'vitest';
import { fenced, readAttached } from './attached';

it.each(['hello', 'hello\n', '', 'a\n```\nb', '````', 'line\n\n\nline', '`'])('reads a file back: %j', (text) => {
  expect(readAttached(fenced('x.txt', text))).toEqual({ name: 'x.txt', text: text.replace(/\n$/, '') });
});

it.each(['x.txt', 'see\n```\ncode\n```\nabove', 'a\nb\n```\ncode\n```', '```\ncode\n```', 'x\n```\nopen', ''])(
  'takes words of a person for no file: %j',
  (text) => {
    expect(readAttached(text)).toBeNull();
  },
);
