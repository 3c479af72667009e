export function NewDebate() {
  return <p className="empty">A debate is set up here.</p>;
}
