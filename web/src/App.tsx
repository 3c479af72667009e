import { lazy, Suspense, type ReactNode } from 'react';
import { ChatScreen } from './chat/ChatScreen';
import { NewThread } from './NewThread';
import { parseRoute, useAddress, type Route } from './route';
import { ThreadList } from './threads/ThreadList';

const RunScreen = lazy(() => import('./runs/RunScreen').then((module) => ({ default: module.RunScreen })));
const DebateScreen = lazy(() => import('./debates/DebateScreen').then((module) => ({ default: module.DebateScreen })));
const Inspector = lazy(() => import('./inspector/Inspector').then((module) => ({ default: module.Inspector })));

function screenOf(route: Route): ReactNode {
  switch (route.screen) {
    case 'home':
    case 'new':
      return <NewThread kind={route.screen === 'new' ? route.kind : 'chat'} />;
    case 'chat':
      return <ChatScreen key={route.id} id={route.id} />;
    case 'run':
      return <RunScreen key={route.id} id={route.id} />;
    case 'debate':
      return <DebateScreen key={route.id} id={route.id} />;
    case 'inspector':
      return <Inspector key={route.id} id={route.id} />;
    default:
      return <p className="empty">There is nothing at this address.</p>;
  }
}

export function App() {
  const [path = '', query = ''] = useAddress().split('?');
  return (
    <div className="app" data-screen={parseRoute(path, query).screen}>
      <ThreadList />
      <main>
        <Suspense fallback={<p className="empty">Loading…</p>}>{screenOf(parseRoute(path, query))}</Suspense>
      </main>
    </div>
  );
}
