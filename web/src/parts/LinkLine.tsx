import { useEffect, useState } from 'react';
import { useLink } from '../wire/store';
import { get, Problem } from '../wire/http';
import { announce } from './Status';
import { useNow } from './useNow';

const SHOWN_AFTER_MS = 1_000;
const ASK_AFTER = 3;

/** A line that says that the server is not reached, once that has lasted a second. */
export function LinkLine() {
  const link = useLink();
  const [isShown, setShown] = useState(false);
  const [isSignedOut, setSignedOut] = useState(false);
  const now = useNow(isShown, 500);
  useEffect(() => {
    if (link.up) {
      setShown((wasShown) => {
        if (wasShown) announce('Connected again');
        return false;
      });
      setSignedOut(false);
      return;
    }
    const timer = setTimeout(() => {
      setShown(true);
      announce('The server does not answer');
    }, SHOWN_AFTER_MS);
    return () => clearTimeout(timer);
  }, [link.up]);
  useEffect(() => {
    // The stream does not say why it fails; a request does.
    if (link.up || link.failures < ASK_AFTER) return;
    get('/threads?limit=1').catch((error: unknown) => setSignedOut(error instanceof Problem && error.status === 401));
  }, [link.up, link.failures]);
  if (!isShown) return null;
  const seconds = Math.max(0, Math.ceil(((link.retryAt ?? now) - now) / 1000));
  return (
    <div className="link-line">
      <i className="lamp stop" aria-hidden="true" />
      {isSignedOut
        ? 'This browser is not signed in any more. Open the address that antiphon serve has printed.'
        : `The server does not answer. Nothing is lost; next try ${seconds === 0 ? 'now' : `in ${seconds} s`}.`}
    </div>
  );
}
