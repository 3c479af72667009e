import { Menu } from '../parts/Menu';
import { threadPath } from '../wire/http';

const FORMATS = [
  ['md', 'Markdown'],
  ['html', 'HTML page'],
  ['json', 'JSON'],
] as const;

function download(id: string, format: string): void {
  const link = document.createElement('a');
  link.href = threadPath(id, `/export?format=${format}`);
  link.download = `debate-${id}.${format}`;
  link.click();
}

/** The debate as a file, as the server writes it. */
export function ExportMenu({ id }: { id: string }) {
  const items = FORMATS.map(([format, label]) => ({ label, run: () => download(id, format) }));
  return (
    <Menu label="Export" items={items} className="">
      Export
    </Menu>
  );
}
