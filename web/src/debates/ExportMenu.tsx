import { useEffect, useRef } from 'react';
import { threadPath } from '../wire/http';

const FORMATS = [['md', 'Markdown'], ['html', 'HTML page'], ['json', 'JSON']] as const;

/** Links to the debate as files, as the server writes them. */
export function ExportMenu({ id }: { id: string }) {
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event) => {
      const element = menu.current;
      const isOutside = event.target instanceof Node && !element?.contains(event.target);
      if (element?.open && (isOutside || (event instanceof KeyboardEvent && event.key === 'Escape'))) {
        element.open = false;
        if (!isOutside) element.querySelector('summary')?.focus();
      }
    };
    addEventListener('click', close);
    addEventListener('keydown', close);
    return () => {
      removeEventListener('click', close);
      removeEventListener('keydown', close);
    };
  }, []);
  return (
    <details className="menu" ref={menu}>
      <summary>Export</summary>
      <ul>
        {FORMATS.map(([format, label]) => (
          <li key={format}><a href={threadPath(id, `/export?format=${format}`)} download={`debate-${id}.${format}`} onClick={() => { if (menu.current) menu.current.open = false; }}>{label}</a></li>
        ))}
      </ul>
    </details>
  );
}
