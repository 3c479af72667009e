export function NewRun() {
  return <p className="empty">A run is set up here.</p>;
}
