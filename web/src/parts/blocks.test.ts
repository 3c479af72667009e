import { Lexer } from 'marked';
import { expect, test, vi } from 'vitest';
import { BlockParser } from './blocks';

const TEXT = `# Title

A paragraph with *words*.

- one
- two

  still two

\`\`\`python
print("a")

print("b")
\`\`\`

| a | b |
|---|---|
| 1 | 2 |

The end`;

const flat = (parser: BlockParser, text: string) =>
  parser.parse(text).map((block) => (block.kind === 'html' ? block.html : block.code));

test('a text that grows letter by letter has the blocks of the whole', () => {
  const growing = new BlockParser();
  for (let length = 1; length < TEXT.length; length += 1) growing.parse(TEXT.slice(0, length));
  expect(flat(growing, TEXT)).toEqual(flat(new BlockParser(), TEXT));
});

test('only the last block is parsed again', () => {
  const parser = new BlockParser();
  const long = Array.from({ length: 200 }, (_, index) => `Paragraph ${index} with some words.`).join('\n\n');
  parser.parse(long);
  const before = parser.parse(long);
  const after = parser.parse(`${long} and more`);
  expect(after.slice(0, -1).every((block, index) => block === before[index])).toBe(true);
});

test('another text begins anew', () => {
  const parser = new BlockParser();
  parser.parse('One\n\nTwo\n\nThree');
  expect(flat(parser, 'Other')).toEqual(['<p>Other</p>\n']);
});

test('a fence is closed once its last line is there', () => {
  const parser = new BlockParser();
  expect(parser.parse('```js\nlet a')).toMatchObject([{ kind: 'code', language: 'js', isClosed: false }]);
  expect(parser.parse('```js\nlet a\n```')).toMatchObject([{ kind: 'code', code: 'let a', isClosed: true }]);
});

test('HTML is shown as text, but for pairs of tags that Markdown has no marks for', () => {
  const parse = (text: string) => flat(new BlockParser(), text)[0];
  expect(parse('H<sub>2</sub>O <img src=x onerror="a()"> <kbd onclick="a()">b</kbd>')).toBe(
    '<p>H<sub>2</sub>O &lt;img src=x onerror=&quot;a()&quot;&gt; &lt;kbd onclick=&quot;a()&quot;&gt;b&lt;/kbd&gt;</p>\n',
  );
  expect(parse('Use <b>x</b> and </sub> then <Foo>')).toBe(
    '<p>Use &lt;b&gt;x&lt;/b&gt; and &lt;/sub&gt; then &lt;Foo&gt;</p>\n',
  );
  expect(parse('<details open>\nx\n</details>')).toContain('x\n&lt;/details&gt;');
  expect(parse('| a |\n|---|\n| b<br>c |')).toContain('<td>b<br>c</td>');
  expect(parse('- **x<sup>2</sup>**')).toContain('<strong>x<sup>2</sup></strong>');
});

test('a picture is a link to it, and is not loaded', () => {
  const [block] = new BlockParser().parse('![the "plan"](https://example.org/p.png?a=1&b=2)');
  expect(block).toMatchObject({
    html: '<p><a href="https://example.org/p.png?a=1&amp;b=2">the &quot;plan&quot;</a> (picture)</p>\n',
  });
});

test('a very long paragraph is shown without its marks, and others with them', () => {
  const long = '<b>*word*</b> '.repeat(10_000).trim();
  expect(flat(new BlockParser(), `${long}\n\n*short*`)).toEqual([
    `<p>${long.replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</p>\n`,
    '<p><em>short</em></p>\n',
  ]);
});

test('the HTML of a block is made when it is asked for', () => {
  const long = 'A paragraph with **bold** and `code`.\n\n'.repeat(5_000);
  const reading = vi.spyOn(Lexer.prototype, 'inlineTokens');
  const blocks = new BlockParser().parse(long);
  expect(blocks).toHaveLength(5_000);
  expect(reading).not.toHaveBeenCalled();
  expect(blocks[4_000]).toMatchObject({ html: '<p>A paragraph with <strong>bold</strong> and <code>code</code>.</p>\n' });
  reading.mockRestore();
});

test('lines may end as on Windows', () => {
  const parser = new BlockParser();
  for (const end of [9, 16, 30]) parser.parse('One\r\n\r\nTwo\r\n\r\nThree'.slice(0, end));
  expect(flat(parser, 'One\r\n\r\nTwo\r\n\r\nThree')).toEqual(['<p>One</p>\n', '<p>Two</p>\n', '<p>Three</p>\n']);
});
