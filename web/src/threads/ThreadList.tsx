import { pathOf } from '../route';
import { Link } from '../parts/Link';
import { useThreads } from '../wire/store';

export function ThreadList() {
  const { rows } = useThreads();
  return (
    <nav className="threads" aria-label="Threads">
      {Object.values(rows).map((row) => <Link key={row.id} to={pathOf(row)}>{row.title}</Link>)}
    </nav>
  );
}
