/** Follow the end of a page that grows, until the person scrolls away. */
import { useEffect, useRef, useState, type RefObject } from 'react';

const AWAY_KEYS = ['PageUp', 'ArrowUp', 'Home'];
const AT_END_PX = 4;
/** What comes last is shown from its beginning. */
const LAST = '[data-last]';

export interface Follow {
  isFollowing: boolean;
  toEnd: () => void;
}

/** `box` scrolls, and `sheet` within it grows; a page that is over begins at its top. */
export function useFollow(
  box: RefObject<HTMLElement | null>,
  sheet: RefObject<HTMLElement | null>,
  isGrowing: boolean,
): Follow {
  const [isFollowing, setFollowing] = useState(isGrowing);
  const following = useRef(isGrowing);
  useEffect(() => {
    const [element, inner] = [box.current, sheet.current];
    if (element === null || inner === null) return;
    const set = (value: boolean) => {
      following.current = value;
      setFollowing(value);
    };
    const leave = () => set(false);
    const wheel = (event: WheelEvent) => {
      if (event.deltaY < 0) leave();
    };
    const press = (event: KeyboardEvent) => {
      if (AWAY_KEYS.includes(event.key)) leave();
    };
    const scroll = () => {
      if (!following.current && element.scrollTop + element.clientHeight >= element.scrollHeight - AT_END_PX) set(true);
    };
    const growth = new ResizeObserver(() => {
      if (!following.current) return;
      const last = inner.querySelector<HTMLElement>(LAST);
      if (last === null) element.scrollTop = element.scrollHeight;
      else last.scrollIntoView({ block: 'start', inline: 'nearest' });
    });
    growth.observe(inner);
    element.addEventListener('wheel', wheel, { passive: true });
    element.addEventListener('touchmove', leave, { passive: true });
    element.addEventListener('keydown', press);
    element.addEventListener('scroll', scroll, { passive: true });
    return () => {
      growth.disconnect();
      element.removeEventListener('wheel', wheel);
      element.removeEventListener('touchmove', leave);
      element.removeEventListener('keydown', press);
      element.removeEventListener('scroll', scroll);
    };
  }, [box, sheet]);
  const toEnd = () => {
    following.current = true;
    setFollowing(true);
    box.current?.scrollTo({ top: box.current.scrollHeight });
  };
  return { isFollowing, toEnd };
}
