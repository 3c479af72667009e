export function Inspector({ id }: { id: string | null }) {
  return <section className="screen"><header className="screen-head"><h1>Inspector</h1></header><p className="empty">{id ?? 'Choose an actor.'}</p></section>;
}
