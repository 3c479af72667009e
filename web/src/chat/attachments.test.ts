import { expect, test } from 'vitest';
import { decodeText, fenced } from './attachments';

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
