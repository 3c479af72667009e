import { useState } from 'react';
import type { AttachedText } from './attached';
import { CodeBlock } from './CodeBlock';
import { formatBytes } from './format';
import { showHidden } from './visible';

/** A text file that was attached, folded below its name and size. */
export function AttachedFile({ name, text }: AttachedText) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="attached" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span className="attached-name">{showHidden(name)}</span>{' '}
        <span className="attached-size">{formatBytes(new Blob([text]).size)}</span>
      </summary>
      {isOpen ? <CodeBlock code={text} isMarked /> : null}
    </details>
  );
}
