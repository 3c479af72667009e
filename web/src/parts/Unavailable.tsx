import { ErrorCard } from './ErrorCard';
import { Link } from './Link';

interface Props {
  /** What cannot be shown. */
  title: string;
  message: string;
  code?: string | undefined;
  /** Where to go on. */
  to: string;
  label: string;
}

/** A screen in place of one that cannot be shown: why, and the way on. */
export function Unavailable({ title, message, code, to, label }: Props) {
  return (
    <div className="screen">
      <header className="screen-head">
        <h1>Nothing to show</h1>
      </header>
      <div className="screen-body">
        <ErrorCard
          title={title}
          message={message}
          code={code}
          actions={
            <Link to={to} className="button">
              {label}
            </Link>
          }
        />
      </div>
    </div>
  );
}
