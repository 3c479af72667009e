/** The part of a long conversation that is in the document: it moves with the scrolling. */
import { useCallback, useEffect, useRef, useState, type RefObject } from 'react';

const MOST = 160;
const STEP = 10;
const NEAR = '800px 0px';

export interface Window {
  start: number;
  end: number;
  top: RefObject<HTMLDivElement | null>;
  bottom: RefObject<HTMLDivElement | null>;
  toEnd: () => void;
}

/** `end` is null as long as the end is shown, so that new rows are shown too. */
interface Place {
  start: number;
  end: number | null;
}

export function moveUp(place: Place, count: number): Place {
  const start = Math.max(0, Math.min(place.start, count) - STEP);
  const end = place.end ?? count;
  return end - start > MOST ? { start, end: start + MOST } : { start, end: place.end };
}

export function moveDown(place: Place, count: number): Place {
  if (place.end === null) return place;
  const end = Math.min(count, place.end + STEP);
  return { start: Math.max(place.start, end - MOST), end: end === count ? null : end };
}

const lastPlace = (count: number): Place => ({ start: Math.max(0, count - STEP * 3), end: null });

export function useWindow(count: number, scroller: RefObject<HTMLElement | null>): Window {
  const [place, setPlace] = useState<Place>(() => lastPlace(count));
  const top = useRef<HTMLDivElement>(null);
  const bottom = useRef<HTMLDivElement>(null);
  const size = useRef(count);
  size.current = count;
  const toEnd = useCallback(() => setPlace(lastPlace(size.current)), []);
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          if (!entry.isIntersecting) continue;
          const move = entry.target === top.current ? moveUp : moveDown;
          setPlace((old) => move(old, size.current));
        }
      },
      { root: scroller.current, rootMargin: NEAR },
    );
    if (top.current !== null) observer.observe(top.current);
    if (bottom.current !== null) observer.observe(bottom.current);
    return () => observer.disconnect();
    // A mark that is still near after a move is observed anew.
  }, [scroller, place]);
  const end = Math.min(place.end ?? count, count);
  const start = Math.max(0, Math.min(place.start, end), place.end === null ? count - MOST : 0);
  return { start, end, top, bottom, toEnd };
}
