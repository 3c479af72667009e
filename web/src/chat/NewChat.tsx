export function NewChat() {
  return <p className="empty">A chat is set up here.</p>;
}
