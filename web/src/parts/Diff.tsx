import { plural } from './format';
import type { FileDiff } from './diffs';
import { showHidden } from './visible';

const KINDS = { '+': 'added', '−': 'removed', '@': 'place', ' ': '' } as const;

/** A change of a file: each line has its sign, so that colour is not needed to read it. */
export function Diff({ diff, isWhole = false }: { diff: FileDiff; isWhole?: boolean }) {
  return (
    <figure className={isWhole ? 'diff whole' : 'diff'}>
      <figcaption>
        <span className="diff-path">{showHidden(diff.path || 'file')}</span>
        <span className="diff-count">
          <span className="added">+{diff.added}</span> <span className="removed">−{diff.removed}</span>
        </span>
      </figcaption>
      <pre
        tabIndex={0}
        role="region"
        aria-label={`Changes of ${diff.path}: ${plural(diff.added, 'line')} added, ${diff.removed} removed`}
      >
        {diff.lines.map((line, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- lines of a diff have no other name
          <span key={index} className={`diff-line ${KINDS[line.sign]}`}>
            {line.sign === '@' ? line.text : `${line.sign} ${showHidden(line.text)}`}
            {'\n'}
          </span>
        ))}
      </pre>
    </figure>
  );
}
