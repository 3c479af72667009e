/** Markdown in blocks: while a text grows, only its last block is parsed again. */
import { Lexer, Marked, type Token, type Tokens } from 'marked';

/** Tags for what Markdown has no marks, in pairs and without attributes; any other HTML is the text that it is. */
const PLAIN_TAG = /^<(\/?)(kbd|sub|sup)>$/i;
const BREAK = /^<br\s*\/?>$/i;
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (sign) => ENTITIES[sign] ?? sign);

type HtmlToken = (Tokens.HTML | Tokens.Tag) & { isPaired?: boolean };

const marked = new Marked({
  gfm: true,
  breaks: false,
  async: false,
  renderer: {
    html: (token: HtmlToken) => (token.isPaired === true ? token.text.toLowerCase() : escapeHtml(token.text)),
    // No picture is loaded; a person may open it.
    image: ({ href, text }) => `<a href="${escapeHtml(href)}">${escapeHtml(text || href)}</a> (picture)`,
  },
});

/** A paragraph of more characters is shown as it is: its marks would take seconds to find. */
const MOST_INLINE = 50_000;

interface Cell {
  tokens: Token[];
}

/** The lists of tokens right below a token. */
function listsOf(token: Token): Token[][] {
  const { tokens, items, header, rows } = token as {
    tokens?: Token[];
    items?: Cell[];
    header?: Cell[];
    rows?: Cell[][];
  };
  const cells = [...(items ?? []), ...(header ?? []), ...(rows ?? []).flat()];
  return [...(tokens === undefined ? [] : [tokens]), ...cells.map((cell) => cell.tokens)];
}

/** Mark the tags of a list that are obeyed. */
function markTags(tokens: readonly Token[]): void {
  const open: { name: string; token: HtmlToken }[] = [];
  for (const token of tokens as HtmlToken[]) {
    if (token.type !== 'html') continue;
    if (BREAK.test(token.text)) token.isPaired = true;
    const [, slash, name] = PLAIN_TAG.exec(token.text.trim()) ?? [];
    if (name === undefined) continue;
    if (slash === '') open.push({ name: name.toLowerCase(), token });
    else if (open.at(-1)?.name === name.toLowerCase()) {
      token.isPaired = true;
      (open.pop() as { token: HtmlToken }).token.isPaired = true;
    }
  }
}

/** The tokens of a text; what is in a block is read when its HTML is asked for. */
class TokenReader {
  private readonly lexer = new Lexer(marked.defaults);
  private readonly unread: Map<Token[], string>;
  readonly tokens: Token[];

  constructor(text: string) {
    this.lexer.blockTokens(text, this.lexer.tokens);
    this.tokens = this.lexer.tokens;
    this.unread = new Map(this.lexer.inlineQueue.map(({ src, tokens }) => [tokens, src]));
  }

  html(token: Token): string {
    this.read(token);
    return marked.parser([token]);
  }

  private read(token: Token): void {
    for (const list of listsOf(token)) {
      const source = this.unread.get(list);
      this.unread.delete(list);
      if (source !== undefined && source.length > MOST_INLINE) list.push({ type: 'text', raw: source, text: source });
      else if (source !== undefined) this.lexer.inlineTokens(source, list);
      markTags(list);
      for (const inner of list) this.read(inner);
    }
  }
}

export type Block =
  | { kind: 'html'; key: number; readonly html: string }
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

function toBlock(reader: TokenReader, token: Token, key: number): Block | null {
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
  let html: string | null = null;
  return {
    kind: 'html',
    key,
    get html() {
      return (html ??= reader.html(token));
    },
  };
}

/** Parses a text that grows; parts that are complete keep their blocks. */
export class BlockParser {
  private parsed: Parsed = { stable: '', blocks: [] };

  parse(source: string): readonly Block[] {
    const text = source.replace(/\r\n?/g, '\n');
    if (!text.startsWith(this.parsed.stable)) this.parsed = { stable: '', blocks: [] };
    const { stable, blocks } = this.parsed;
    const reader = new TokenReader(text.slice(stable.length));
    const { tokens } = reader;
    const lastIndex = tokens.findLastIndex((token) => token.type !== 'space');
    const done = [...blocks];
    let length = stable.length;
    for (const token of tokens.slice(0, Math.max(lastIndex, 0))) {
      const block = toBlock(reader, token, length);
      if (block !== null) done.push(block);
      length += token.raw.length;
    }
    this.parsed = { stable: text.slice(0, length), blocks: done };
    const last = lastIndex < 0 ? undefined : tokens[lastIndex];
    const block = last === undefined ? null : toBlock(reader, last, length);
    return block === null ? done : [...done, block];
  }
}
