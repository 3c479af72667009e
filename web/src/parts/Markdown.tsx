import { memo, useLayoutEffect, useRef, useState } from 'react';
import { BlockParser, type Block } from './blocks';
import { CodeBlock } from './CodeBlock';
import { sanitize } from './sanitize';

const Html = memo(function Html({ html }: { html: string }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const nodes = sanitize(html);
    for (const table of nodes.querySelectorAll('table')) wrapTable(table);
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

function renderBlock(block: Block) {
  if (block.kind === 'html') return <Html key={block.key} html={block.html} />;
  return <CodeBlock key={block.key} code={block.code} language={block.language} isComplete={block.isClosed} />;
}

/** Text of a model as Markdown, sanitised; with `isLive` it grows, and a caret marks its end. */
export const Markdown = memo(function Markdown({ text, isLive = false }: { text: string; isLive?: boolean }) {
  const [parser] = useState(() => new BlockParser());
  return (
    <div className={isLive ? 'markdown live' : 'markdown'}>
      {parser.parse(text).map(renderBlock)}
      {isLive ? <span className="caret" aria-hidden="true" /> : null}
    </div>
  );
});
