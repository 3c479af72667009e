import type { ReactNode } from 'react';
import { formatClock } from './format';
import { useNow } from './useNow';

interface Props {
  /** What has happened. */
  title: string;
  /** Why, in the words of the server or the provider. */
  message: string;
  code?: string | undefined;
  /** When it is tried again by itself, or may be. */
  retryAt?: number | null;
  isAutomatic?: boolean;
  actions?: ReactNode;
}

/** An error: what, why, and what next. */
export function ErrorCard({ title, message, code, retryAt = null, isAutomatic = false, actions }: Props) {
  const now = useNow(retryAt !== null, 250);
  const left = retryAt === null ? 0 : retryAt - now;
  return (
    <div className="card error" role="alert">
      <div className="card-head">
        <i className="lamp stop" aria-hidden="true" />
        <strong>{title}</strong>
        {code === undefined ? null : <code className="card-code">{code}</code>}
        {left > 0 ? (
          <span className="card-time" aria-hidden="true">
            {isAutomatic ? 'next try in' : 'possible in'} {formatClock(left + 999)}
          </span>
        ) : null}
      </div>
      <p className="card-text">{message}</p>
      {actions === undefined ? null : <div className="card-actions">{actions}</div>}
    </div>
  );
}
