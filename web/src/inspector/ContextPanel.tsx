import { useMemo } from 'react';
import { isObject, type Json } from './chart/model';
import { addedText, type Change, findChanges, shortJson } from './diff';

const LONGEST = 20_000;

/** The context of an actor: what the step has changed, then all keys. */
export function ContextPanel({ context, before }: { context: Json | undefined; before: Json | undefined }) {
  const changes = useMemo(
    () => (context === undefined || before === undefined ? [] : findChanges(before, context)),
    [context, before],
  );
  const changed = useMemo(() => new Set(changes.map((change) => change.path.split(/[.[]/)[0])), [changes]);
  return (
    <section className="side-part context" aria-labelledby="context-title" tabIndex={0}>
      <h2 id="context-title">Context</h2>
      {context === undefined ? (
        <p className="hint">No context is known for this step.</p>
      ) : (
        <Keys context={context} changed={changed} changes={changes} isFirst={before === undefined} />
      )}
    </section>
  );
}

function Keys({
  context,
  changed,
  changes,
  isFirst,
}: {
  context: Json;
  changed: ReadonlySet<string | undefined>;
  changes: Change[];
  isFirst: boolean;
}) {
  const keys = isObject(context) ? Object.entries(context) : [];
  return (
    <>
      {!isFirst && (
        <ul className="changes" aria-label="Changed by this step">
          {changes.length === 0 && <li className="hint">This step changes nothing here.</li>}
          {changes.slice(0, 40).map((change) => (
            <ChangeItem key={change.path} change={change} />
          ))}
          {changes.length > 40 && <li className="hint">and {changes.length - 40} more</li>}
        </ul>
      )}
      {keys.map(([key, value]) => (
        <details key={key} className={changed.has(key) ? 'context-key changed' : 'context-key'}>
          <summary>
            <span className="name">{key}</span> <code>{shortJson(value, 48)}</code>
          </summary>
          <pre tabIndex={0}>{JSON.stringify(value, null, 2).slice(0, LONGEST)}</pre>
        </details>
      ))}
      {keys.length === 0 && <p className="hint">It is empty.</p>}
    </>
  );
}

function ChangeItem({ change }: { change: Change }) {
  const added = addedText(change);
  return (
    <li className={change.kind}>
      <span className="name">{change.path}</span>
      {added !== null && <ins>+{shortJson(added, 120)}</ins>}
      {added === null && change.before !== undefined && <del>{shortJson(change.before, 60)}</del>}
      {added === null && change.after !== undefined && <ins>{shortJson(change.after, 120)}</ins>}
    </li>
  );
}
