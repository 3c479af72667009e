import { memo, useEffect, useRef } from 'react';
import { CopyButton } from './CopyButton';
import { sanitizeCode } from './sanitize';

interface Props {
  code: string;
  language?: string;
  /** Code is highlighted once it is complete. */
  isComplete?: boolean;
  label?: string;
}

/** Code with its language and a button that copies it. */
export const CodeBlock = memo(function CodeBlock({ code, language = '', isComplete = true, label }: Props) {
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!isComplete || language === '') return;
    let isCurrent = true;
    void import('./highlight').then(({ highlight }) => {
      const html = highlight(code, language.toLowerCase());
      if (isCurrent && html !== null) place.current?.replaceChildren(sanitizeCode(html));
    });
    return () => {
      isCurrent = false;
    };
  }, [code, language, isComplete]);
  return (
    <div className="code">
      <div className="code-head">
        <span>{label ?? (language || 'text')}</span>
        <CopyButton text={code} />
      </div>
      <pre tabIndex={0} aria-label={`Code${language ? `, ${language}` : ''}`} role="region">
        {/* Another key for other code: the highlighter has replaced what React knows. */}
        <code ref={place} key={`${language} ${code}`}>
          {code}
        </code>
      </pre>
    </div>
  );
});
