import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { isLeaving, scrollToEnd } from '../parts/following';

const AWAY_KEYS = new Set(['PageUp', 'ArrowUp', 'Home']);
const NEAR_PX = 24;

const toEnd = (box: HTMLElement | null): void => void (box && scrollToEnd(box));

/** Keep the end of a scrolled box in view until the person scrolls up; `change` is whatever makes it longer. */
export function useFollow(change: unknown): {
  box: (element: HTMLDivElement | null) => void;
  isFollowing: boolean;
  follow: () => void;
} {
  const [element, box] = useState<HTMLDivElement | null>(null);
  const [isFollowing, setFollowing] = useState(true);
  const latest = useRef(true);
  latest.current = isFollowing;
  useLayoutEffect(() => {
    if (latest.current) toEnd(element);
  }, [element, change]);
  useEffect(() => {
    if (element === null) return;
    const leave = () => element.scrollHeight > element.clientHeight + NEAR_PX && setFollowing(false);
    const onWheel = (event: WheelEvent) => isLeaving(event, element) && leave();
    const onKey = (event: KeyboardEvent) => AWAY_KEYS.has(event.key) && leave();
    const onScroll = () => {
      if (element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX) setFollowing(true);
    };
    const sizes = new ResizeObserver(() => latest.current && toEnd(element));
    for (const item of [element, ...element.children]) sizes.observe(item);
    element.addEventListener('wheel', onWheel, { passive: true });
    element.addEventListener('touchmove', leave, { passive: true });
    element.addEventListener('keydown', onKey);
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener('wheel', onWheel);
      element.removeEventListener('touchmove', leave);
      element.removeEventListener('keydown', onKey);
      element.removeEventListener('scroll', onScroll);
    };
  }, [element]);
  const follow = useCallback(() => {
    setFollowing(true);
    toEnd(element);
  }, [element]);
  return { box, isFollowing, follow };
}
