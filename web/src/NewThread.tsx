import { Suspense } from 'react';
import { NewChat } from './chat/NewChat';
import { lazyScreen } from './parts/lazyScreen';
import { Link } from './parts/Link';

const NewRun = lazyScreen(() => import('./runs/NewRun').then((module) => module.NewRun));
const NewDebate = lazyScreen(() => import('./debates/NewDebate').then((module) => module.NewDebate));
const KINDS = [
  ['chat', 'Chat'],
  ['run', 'Run'],
  ['debate', 'Debate'],
] as const;

/** The form of a new thread of some kind. */
export function NewThread({ kind }: { kind: string }) {
  return (
    <section className="screen">
      <header className="screen-head">
        <h1>New thread</h1>
        <div className="tabs">
          {KINDS.map(([name, label]) => (
            <Link key={name} to={`/new?kind=${name}`} aria-current={name === kind ? 'page' : undefined}>
              {label}
            </Link>
          ))}
        </div>
      </header>
      <Suspense fallback={<p className="empty">Loading…</p>}>
        {kind === 'run' ? <NewRun /> : kind === 'debate' ? <NewDebate /> : <NewChat />}
      </Suspense>
    </section>
  );
}
