import { expect, test } from 'vitest';
import { diffOfInput, parseDiff } from './diffs';

test('lines of a diff have signs that are seen without colour', () => {
  const diff = parseDiff('--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n same\n-old\n+new');

  expect(diff.path).toBe('a.py');
  expect(diff.lines.map((line) => line.sign)).toEqual(['@', ' ', '−', '+']);
  expect([diff.added, diff.removed]).toEqual([1, 1]);
});

test('a line that begins like a head belongs to the file', () => {
  expect(parseDiff('--- a\n+++ a\n@@ -1 +1 @@\n--- x\n+++ y').lines.slice(1)).toEqual([
    { sign: '−', text: '-- x' },
    { sign: '+', text: '++ y' },
  ]);
});

test('the arguments of file tools are a change; others are none', () => {
  expect(diffOfInput('write_file', { path: 'a', content: 'x\ny\n' })).toMatchObject({
    path: 'a',
    added: 2,
    removed: 0,
  });
  expect(diffOfInput('edit_file', { path: 'a', old: 'x', new: 'y\nz' })).toMatchObject({ added: 2, removed: 1 });
  expect(diffOfInput('edit_file', { path: 'a', old: 'x', new: '' })).toMatchObject({ added: 0, removed: 1 });
  expect(diffOfInput('shell', { command: 'ls' })).toBeNull();
});
