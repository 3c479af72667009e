import { useEffect, useRef } from 'react';
import { announce } from '../parts/Status';

const AGAIN_MS = 7_000;

/** Tell screen readers when a reply begins, goes on and ends. */
export function useAnnounce(isRunning: boolean, status: string, words: () => number): void {
  const wasRunning = useRef(isRunning);
  const count = useRef(words);
  count.current = words;
  useEffect(() => {
    if (isRunning) {
      announce('Answering');
      const timer = setInterval(() => announce('Still answering'), AGAIN_MS);
      wasRunning.current = true;
      return () => clearInterval(timer);
    }
    if (wasRunning.current) {
      wasRunning.current = false;
      if (status === 'completed') announce(`Done, ${count.current()} words`);
      else announce(status === 'waiting' ? 'Needs you' : status);
    }
    return undefined;
  }, [isRunning, status]);
}
