/** Follow the end of a page that grows, until the person scrolls away. */
import { useEffect, useRef, useState, type RefObject } from 'react';

const AWAY_KEYS = ['PageUp', 'ArrowUp', 'Home'];

export interface Follow {
  isFollowing: boolean;
  toEnd: () => void;
}

/** The end is shown whenever `growth` changes; a page that is over begins at its top. */
export function useFollow(box: RefObject<HTMLElement | null>, end: RefObject<HTMLElement | null>, isGrowing: boolean, growth: readonly unknown[]): Follow {
  const [isFollowing, setFollowing] = useState(isGrowing);
  const following = useRef(isGrowing);
  const set = (value: boolean) => {
    following.current = value;
    setFollowing(value);
  };
  const show = () => {
    const [scroller, last] = [box.current, end.current];
    if (scroller === null || last === null) return;
    const over = last.getBoundingClientRect().bottom - scroller.getBoundingClientRect().bottom;
    if (over > 0) scroller.scrollTop += over;
  };
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const leave = () => set(false);
    const wheel = (event: WheelEvent) => { if (event.deltaY < 0) leave(); };
    const press = (event: KeyboardEvent) => { if (AWAY_KEYS.includes(event.key)) leave(); };
    const scroll = () => { if (element.scrollTop + element.clientHeight >= element.scrollHeight - 4 && !following.current) set(true); };
    element.addEventListener('wheel', wheel, { passive: true });
    element.addEventListener('touchmove', leave, { passive: true });
    element.addEventListener('keydown', press);
    element.addEventListener('scroll', scroll, { passive: true });
    return () => {
      element.removeEventListener('wheel', wheel);
      element.removeEventListener('touchmove', leave);
      element.removeEventListener('keydown', press);
      element.removeEventListener('scroll', scroll);
    };
  }, [box]);
  useEffect(() => {
    if (following.current) show();
  }, growth);
  return { isFollowing, toEnd: () => { set(true); show(); } };
}
