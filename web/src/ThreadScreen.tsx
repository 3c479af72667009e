import { useEffect } from 'react';
import { ChatScreen } from './chat/ChatScreen';
import { Link } from './parts/Link';
import { ErrorCard } from './parts/ErrorCard';
import { lazyScreen } from './parts/lazyScreen';
import { Transcript } from './parts/Transcript';
import { navigate, pathOf } from './route';
import { useThread } from './wire/store';

const loadRuns = () => import('./runs/RunScreen').then((module) => module.RunScreen);
const loadDebates = () => import('./debates/DebateScreen').then((module) => module.DebateScreen);
const RunScreen = lazyScreen(loadRuns);
const DebateScreen = lazyScreen(loadDebates);
const SCREENS = { chat: ChatScreen, run: RunScreen, debate: DebateScreen };

/** A thread, once it is read; the address of a thread of another kind leads to its own. */
export function ThreadScreen({ kind, id }: { kind: keyof typeof SCREENS; id: string }) {
  const thread = useThread(id);
  const { page, problem } = thread;
  const isOther = page !== null && page.kind !== kind && page.kind in SCREENS;
  // The code of the screen is loaded while the thread is read.
  useEffect(() => {
    if (kind !== 'chat') (kind === 'run' ? loadRuns() : loadDebates()).catch(() => undefined);
  }, [kind]);
  useEffect(() => {
    if (isOther) navigate(pathOf(page), true);
  }, [isOther, page]);
  if (problem !== null && (page === null || problem.code === 'unknown_thread'))
    return (
      <section className="screen">
        <header className="screen-head">
          <h1>Thread</h1>
        </header>
        <div className="screen-body">
          <ErrorCard
            title="This thread cannot be shown"
            message={problem.message}
            code={problem.code}
            actions={
              <Link className="button" to="/">
                New thread
              </Link>
            }
          />
        </div>
      </section>
    );
  if (page === null || isOther) return <p className="empty">Loading…</p>;
  if (page.transcript || page.kind !== kind) return <Transcript page={page} />;
  const Screen = SCREENS[kind];
  return <Screen thread={thread} page={page} />;
}
