import type { OpenedThread } from '../wire/types';
import { ErrorCard } from './ErrorCard';
import { Markdown } from './Markdown';

interface Turn {
  speaker: string;
  text: string;
}

/** A thread that cannot be continued here, with the words that its journal has. */
export function Transcript({ page }: { page: OpenedThread }) {
  const turns = (page.content?.['turns'] ?? []) as Turn[];
  return (
    <section className="screen" aria-label={page.title}>
      <header className="screen-head">
        <h1>{page.title}</h1>
      </header>
      <div className="screen-body transcript">
        <ErrorCard title="This thread cannot be continued here" message={page.problem ?? 'It can be read only.'} />
        {turns.map((turn, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- turns keep their order
          <article key={index}>
            <div className="who">{turn.speaker}</div>
            <Markdown text={turn.text} />
          </article>
        ))}
      </div>
    </section>
  );
}
