import { memo, useEffect, useRef } from 'react';
import { CopyButton } from './CopyButton';
import { sanitizeCode } from './sanitize';
import { showHidden } from './visible';

interface Props {
  code: string;
  language?: string;
  /** Code is highlighted once it is complete. */
  isComplete?: boolean;
  label?: string;
  /** Whether characters that are not seen are marked; they are copied as they are. */
  isMarked?: boolean;
}

/** Code with its language and a button that copies it. */
export const CodeBlock = memo(function CodeBlock({
  code,
  language = '',
  isComplete = true,
  label,
  isMarked = false,
}: Props) {
  const shown = isMarked ? showHidden(code) : code;
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!isComplete || language === '') return;
    let isCurrent = true;
    void import('./highlight').then(({ highlight }) => {
      const html = highlight(shown, language.toLowerCase());
      if (isCurrent && html !== null) place.current?.replaceChildren(sanitizeCode(html));
    });
    return () => {
      isCurrent = false;
    };
  }, [shown, language, isComplete]);
  return (
    <div className="code">
      <div className="code-head">
        <span>{label ?? (language || 'text')}</span>
        <CopyButton text={code} />
      </div>
      <pre tabIndex={0} aria-label={`Code${language ? `, ${language}` : ''}`} role="region">
        {/* Another key for other code: the highlighter has replaced what React knows. */}
        <code ref={place} key={`${language} ${shown}`}>
          {shown}
        </code>
      </pre>
    </div>
  );
});
