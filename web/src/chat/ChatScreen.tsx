import { useThread } from '../wire/store';

export function ChatScreen({ id }: { id: string }) {
  const { page, replies } = useThread(id);
  return <section className="screen"><header className="screen-head"><h1>{page?.title ?? ''}</h1></header><p>{replies['']?.text}</p></section>;
}
