/** Follows the end of a conversation until a person scrolls away; a change of the layout never counts as scrolling. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react';
import { isLeaving, scrollToEnd } from '../parts/following';

const NEAR_PX = 24;
const UP_KEYS = new Set(['PageUp', 'ArrowUp', 'Home']);

export interface Follow {
  isFollowing: boolean;
  toEnd: () => void;
}

export function useFollow(scroller: RefObject<HTMLElement | null>, changes: unknown): Follow {
  const [isFollowing, setFollowing] = useState(true);
  const following = useRef(true);
  const set = useCallback((value: boolean) => {
    following.current = value;
    setFollowing(value);
  }, []);
  const toEnd = useCallback(() => {
    set(true);
    const box = scroller.current;
    if (box !== null) scrollToEnd(box);
  }, [scroller, set]);
  useLayoutEffect(() => {
    const box = scroller.current;
    if (box !== null && following.current) scrollToEnd(box);
  }, [scroller, changes]);
  useEffect(() => {
    const box = scroller.current;
    if (box === null) return;
    const release = () => {
      if (box.scrollHeight > box.clientHeight) set(false);
    };
    const onWheel = (event: WheelEvent) => isLeaving(event, box) && release();
    const onKey = (event: KeyboardEvent) => UP_KEYS.has(event.key) && release();
    const onSelect = () => {
      const selection = document.getSelection();
      if (selection !== null && !selection.isCollapsed && box.contains(selection.anchorNode)) release();
    };
    const onScroll = () => {
      if (!following.current && box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX) set(true);
    };
    // The layout may change without a render, such as by fonts and pictures.
    const observer = new ResizeObserver(() => {
      if (following.current) scrollToEnd(box);
    });
    if (box.firstElementChild !== null) observer.observe(box.firstElementChild);
    box.addEventListener('wheel', onWheel, { passive: true });
    box.addEventListener('touchmove', release, { passive: true });
    box.addEventListener('keydown', onKey);
    box.addEventListener('scroll', onScroll, { passive: true });
    document.addEventListener('selectionchange', onSelect);
    return () => {
      observer.disconnect();
      box.removeEventListener('wheel', onWheel);
      box.removeEventListener('touchmove', release);
      box.removeEventListener('keydown', onKey);
      box.removeEventListener('scroll', onScroll);
      document.removeEventListener('selectionchange', onSelect);
    };
  }, [scroller, set]);
  return { isFollowing, toEnd };
}
