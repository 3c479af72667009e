import { expect, test } from 'vitest';
import { showHidden } from './visible';

test.each([
  ['an override of the direction', 'a\u202eb', 'a‹U+202E›b'],
  ['an isolate', '\u2066x\u2069', '‹U+2066›x‹U+2069›'],
  ['a character without a width', 'rm\u200b -rf', 'rm‹U+200B› -rf'],
  ['a tag', 'x\u{e0041}', 'x‹U+E0041›'],
  ['a blank that is no space', 'a\u00a0b\u3164', 'a‹U+00A0›b‹U+3164›'],
  ['a control character', 'a\rb\u001b[2K', 'a‹U+000D›b‹U+001B›[2K'],
  ['many blanks', `echo safe${' '.repeat(300)}; touch x`, 'echo safe ‹300 blanks› ; touch x'],
  ['many empty lines', `echo safe${'\n'.repeat(61)}touch x`, 'echo safe\n‹60 empty lines›\ntouch x'],
])('%s is seen', (_, text, shown) => {
  expect(showHidden(text)).toBe(shown);
});

test('plain text stays as it is', () => {
  const text = 'def f():\n\treturn "häuser 日本語 ✓"\n\n\n            # indented\n';
  expect(showHidden(text)).toBe(text);
});
