import { memo, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import type { Block } from './blocks';

const LINE_PX = 26;
const LINE_CHARACTERS = 75;
const GAP_PX = 10;
/** Blocks that are as near as this to what is seen are in the document. */
const NEAR_PX = 1_500;

function scrollerOf(place: HTMLElement): HTMLElement | null {
  for (let box = place.parentElement; box !== null; box = box.parentElement)
    if (/auto|scroll/.test(getComputedStyle(box).overflowY)) return box;
  return null;
}

interface Props {
  blocks: readonly Block[];
  /** How many characters they have. */
  length: number;
  render: (block: Block) => ReactNode;
}

/** Some blocks of a long text, which are in the document once they are near what is seen. */
export const Chunk = memo(
  function Chunk({ blocks, length, render }: Props) {
    const [isShown, setShown] = useState(false);
    const place = useRef<HTMLDivElement>(null);
    useLayoutEffect(() => {
      const box = place.current;
      if (box === null || isShown) return;
      const observer = new IntersectionObserver(
        (entries) => {
          if (entries.some((entry) => entry.isIntersecting)) setShown(true);
        },
        { root: scrollerOf(box), rootMargin: `${NEAR_PX}px 0px` },
      );
      observer.observe(box);
      return () => observer.disconnect();
    }, [isShown]);
    const height = Math.ceil(length / LINE_CHARACTERS) * LINE_PX + blocks.length * GAP_PX;
    return (
      <div ref={place} className="chunk" style={isShown ? undefined : { height }}>
        {isShown ? blocks.map(render) : null}
      </div>
    );
  },
  (old, next) => old.length === next.length && old.blocks[0] === next.blocks[0] && old.blocks.at(-1) === next.blocks.at(-1),
);
