import { expect, test } from 'vitest';
import { decodeText, fenced, unfenced } from './attachments';

const bytes = (...values: number[]): ArrayBuffer => new Uint8Array(values).buffer;

test('a text in another encoding than UTF-8 is refused, not damaged', () => {
  expect(decodeText('a.txt', new TextEncoder().encode('häuser').buffer as ArrayBuffer)).toBe('häuser');
  expect(() => decodeText('a.txt', bytes(0x68, 0xe4, 0x75))).toThrow('a.txt is neither a text in UTF-8');
});

test('a file with zero bytes is no text', () => {
  expect(() => decodeText('a.bin', bytes(0x41, 0, 0x42))).toThrow('a.bin is neither a text nor a picture');
});

test('a fence is longer than those in its text', () => {
  expect(fenced('a.md', 'x ```` y')).toBe('a.md\n`````\nx ```` y\n`````');
});

test('the files of a message are told apart from its words', () => {
  const files = [fenced('a b.txt', 'hello\n'), fenced('empty.txt', ''), fenced('c.md', 'x\n```\ny\n```\n')];
  expect(unfenced([...files, 'Read these:\n```\nnot a file\n```'].join('\n\n'))).toEqual({
    files: [
      { name: 'a b.txt', text: 'hello' },
      { name: 'empty.txt', text: '' },
      { name: 'c.md', text: 'x\n```\ny\n```' },
    ],
    rest: 'Read these:\n```\nnot a file\n```',
  });
  expect(unfenced('Look at this:\n```\ncode\n```')).toEqual({ files: [], rest: 'Look at this:\n```\ncode\n```' });
  expect(unfenced('a.txt\n```\nnever closed')).toEqual({ files: [], rest: 'a.txt\n```\nnever closed' });
});
