import { useThread } from '../wire/store';

export function RunScreen({ id }: { id: string }) {
  const { page } = useThread(id);
  return <section className="screen"><header className="screen-head"><h1>{page?.title ?? ''}</h1></header><p className="empty">The run is shown here.</p></section>;
}
