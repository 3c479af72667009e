import { lazy, useEffect, useState, type ComponentType } from 'react';
import { get } from '../wire/http';
import { ErrorCard } from './ErrorCard';
import { keptInTab } from './storage';

const RELOADED = 'antiphon.reloaded';
const ASK_MS = 2_000;
const AGAIN_MS = 15_000;

/**
 * The place of a screen whose files were not loaded: the server is away, or has another version by now.
 *
 * Browsers remember that a file could not be loaded, so the page is loaded again as soon as the server answers.
 */
function Unloaded() {
  const [isStuck, setStuck] = useState(false);
  useEffect(() => {
    const ask = () =>
      get('/threads?limit=1').then(
        () => {
          if (Date.now() - Number(keptInTab.getItem(RELOADED)) < AGAIN_MS) return setStuck(true);
          keptInTab.setItem(RELOADED, String(Date.now()));
          return location.reload();
        },
        () => undefined,
      );
    void ask();
    const timer = setInterval(() => void ask(), ASK_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <div className="screen-body">
      <ErrorCard
        title="This screen is not loaded yet"
        message={
          isStuck
            ? 'Its files could not be loaded. Reload the page.'
            : 'The server does not answer. The screen is loaded as soon as it does.'
        }
        actions={
          <button type="button" onClick={() => location.reload()}>
            Reload the page
          </button>
        }
      />
    </div>
  );
}

/** A screen whose code is loaded when it is first shown. */
export function lazyScreen<P>(load: () => Promise<ComponentType<P>>) {
  return lazy(() =>
    load().then(
      (component) => ({ default: component }),
      () => ({ default: Unloaded as ComponentType<P> }),
    ),
  );
}
