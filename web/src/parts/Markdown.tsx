import { memo, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { BlockParser, type Block } from './blocks';
import { Chunk } from './Chunk';
import { CodeBlock } from './CodeBlock';
import { copyText } from './CopyButton';
import { sanitize } from './sanitize';

const Html = memo(function Html({ html }: { html: string }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const nodes = sanitize(html);
    for (const table of nodes.querySelectorAll('table')) wrapTable(table);
    for (const code of nodes.querySelectorAll('pre')) wrapCode(code);
    for (const box of nodes.querySelectorAll('input')) box.setAttribute('aria-label', box.checked ? 'Done' : 'To do');
    place.current?.replaceChildren(nodes);
  }, [html]);
  return <div ref={place} className="block" />;
});

/** A wide table scrolls by itself, also by the keyboard. */
function wrapTable(table: HTMLTableElement): void {
  const box = document.createElement('div');
  box.className = 'table-box';
  box.tabIndex = 0;
  box.setAttribute('role', 'region');
  box.setAttribute('aria-label', 'Table');
  table.replaceWith(box);
  box.append(table);
}

/** Code within a list or a quotation can be copied as any other. */
function wrapCode(code: HTMLPreElement): void {
  const box = document.createElement('div');
  const button = document.createElement('button');
  box.className = 'code inner';
  button.type = 'button';
  button.className = 'quiet';
  button.textContent = 'Copy';
  button.addEventListener('click', () => {
    void copyText(code.textContent.replace(/\n$/, ''));
  });
  code.tabIndex = 0;
  code.setAttribute('role', 'region');
  code.setAttribute('aria-label', 'Code');
  code.replaceWith(box);
  box.append(code, button);
}

function renderBlock(block: Block) {
  if (block.kind === 'html') return <Html key={block.key} html={block.html} />;
  return <CodeBlock key={block.key} code={block.code} language={block.language} isComplete={block.isClosed} />;
}

const CHUNK = 100;

/** Blocks of a text: of a long one, all but the last are put into the document as they are needed. */
function renderBlocks(blocks: readonly Block[]): ReactNode {
  if (blocks.length <= 2 * CHUNK) return blocks.map(renderBlock);
  const first = Math.floor((blocks.length - 1) / CHUNK) * CHUNK;
  const chunks: ReactNode[] = [];
  for (let start = 0; start < first; start += CHUNK) {
    const chunk = blocks.slice(start, start + CHUNK);
    const begin = blocks[start]?.key ?? 0;
    const end = blocks[start + CHUNK]?.key ?? begin;
    chunks.push(<Chunk key={`chunk ${begin}`} blocks={chunk} length={end - begin} render={renderBlock} />);
  }
  return [...chunks, ...blocks.slice(first).map(renderBlock)];
}

/** Text of a model as Markdown, sanitised; with `isLive` it grows, and a caret marks its end. */
export const Markdown = memo(function Markdown({ text, isLive = false }: { text: string; isLive?: boolean }) {
  const [parser] = useState(() => new BlockParser());
  return (
    <div className={isLive ? 'markdown live' : 'markdown'}>
      {renderBlocks(parser.parse(text))}
      {isLive && text === '' ? <span className="caret" aria-hidden="true" /> : null}
    </div>
  );
});
