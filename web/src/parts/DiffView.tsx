const KINDS: Record<string, string> = { '+': 'added', '-': 'removed', '@': 'place' };

/** A change of a file, in the form of `diff -u`. */
export function DiffView({ diff, path }: { diff: string; path?: string | undefined }) {
  const lines = diff.replace(/\n$/, '').split('\n');
  return (
    <figure className="diff">
      {path === undefined ? null : <figcaption>{path}</figcaption>}
      <pre tabIndex={0} role="region" aria-label={`Changes${path === undefined ? '' : ` of ${path}`}`}>
        {lines.map((line, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- lines of a diff have no other name
          <span key={index} className={`diff-line ${KINDS[line[0] ?? ''] ?? ''}`}>
            {line || ' '}
            {'\n'}
          </span>
        ))}
      </pre>
    </figure>
  );
}
