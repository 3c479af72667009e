/** Markdown in blocks: while a text grows, only its last block is parsed again. */
import { Lexer, Marked, type Token, type Tokens } from 'marked';

/** Tags that may stand in Markdown, without attributes; any other HTML is shown as the text that it is. */
const TAG = /&lt;(\/?(?:b|br|del|details|em|i|ins|kbd|mark|s|small|strong|sub|summary|sup))\s*\/?&gt;/gi;
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (sign) => ENTITIES[sign] ?? sign);

const marked = new Marked({
  gfm: true,
  breaks: false,
  async: false,
  renderer: {
    html: ({ text }) => escapeHtml(text).replace(TAG, '<$1>'),
    // No picture is loaded; a person may open it.
    image: ({ href, text }) => `<a href="${escapeHtml(href)}">${escapeHtml(text || href)}</a> (picture)`,
  },
});

/** A paragraph of more characters is shown as it is: its marks would take seconds to find. */
const MOST_INLINE = 50_000;

/** Read the blocks of a text, and what is in them. */
function readTokens(text: string): Token[] {
  const lexer = new Lexer(marked.defaults);
  lexer.blockTokens(text, lexer.tokens);
  for (const { src, tokens } of lexer.inlineQueue) {
    if (src.length <= MOST_INLINE) lexer.inlineTokens(src, tokens);
    else tokens.push({ type: 'text', raw: src, text: src });
  }
  return lexer.tokens;
}

export type Block =
  | { kind: 'html'; key: number; html: string }
  | { kind: 'code'; key: number; code: string; language: string; isClosed: boolean };

interface Parsed {
  /** The text of the blocks that are complete. */
  stable: string;
  blocks: readonly Block[];
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;

function isClosedFence(raw: string): boolean {
  const fence = FENCE.exec(raw)?.[1];
  if (fence === undefined) return true;
  const lines = raw.trimEnd().split('\n');
  return lines.length > 1 && (lines.at(-1) ?? '').trim().startsWith(fence);
}

function toBlock(token: Token, key: number): Block | null {
  if (token.type === 'space') return null;
  if (token.type === 'code') {
    const { text, lang, raw } = token as Tokens.Code;
    return {
      kind: 'code',
      key,
      code: text,
      language: (lang ?? '').split(/\s/)[0] ?? '',
      isClosed: isClosedFence(raw),
    };
  }
  return { kind: 'html', key, html: marked.parser([token]) };
}

/** Parses a text that grows; parts that are complete keep their blocks. */
export class BlockParser {
  private parsed: Parsed = { stable: '', blocks: [] };

  parse(source: string): readonly Block[] {
    const text = source.replace(/\r\n?/g, '\n');
    if (!text.startsWith(this.parsed.stable)) this.parsed = { stable: '', blocks: [] };
    const { stable, blocks } = this.parsed;
    const tokens = readTokens(text.slice(stable.length));
    const lastIndex = tokens.findLastIndex((token) => token.type !== 'space');
    const done = [...blocks];
    let length = stable.length;
    for (const token of tokens.slice(0, Math.max(lastIndex, 0))) {
      const block = toBlock(token, length);
      if (block !== null) done.push(block);
      length += token.raw.length;
    }
    this.parsed = { stable: text.slice(0, length), blocks: done };
    const last = lastIndex < 0 ? undefined : tokens[lastIndex];
    const block = last === undefined ? null : toBlock(last, length);
    return block === null ? done : [...done, block];
  }
}
