import { type CSSProperties, type PointerEvent, type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { type Area, centre, fit, fitAround, fitReadable, READABLE, revealFirst, type Size, type View, zoom } from './view';

interface Props {
  size: Size;
  /** Areas that should stay in view: the first of them that fits. */
  follow: readonly Area[];
  /** An area to go to, and how often it was asked for. */
  goTo: { area: Area; count: number } | null;
  label: string;
  layouts: number;
  children: ReactNode;
}

const STEP = 1.25;
/** Smaller than this, parts of the drawing are named instead of their states. */
const FAR = 0.6;

/** A drawing that can be moved and zoomed. Assistive technology gets the outline instead. */
export function Canvas({ size, follow, goTo, label, layouts, children }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const drag = useRef<{ x: number; y: number } | null>(null);
  const [view, setView] = useState<View | null>(null);
  const window = useCallback(
    (): Size => ({ width: box.current?.clientWidth ?? 0, height: box.current?.clientHeight ?? 0 }),
    [],
  );
  const zoomBy = (factor: number): void => {
    const { width, height } = window();
    setView((before) => before && zoom(before, factor, { x: width / 2, y: height / 2 }));
  };
  useEffect(() => setView(fitReadable(size, window())), [size, window]);
  useEffect(() => {
    setView((before) => before && revealFirst(before, follow, window()));
  }, [follow, window]);
  useEffect(() => {
    if (goTo) setView((before) => before && centre(before, goTo.area, window()));
  }, [goTo, window]);
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const turn = (event: WheelEvent): void => {
      event.preventDefault();
      const { left, top } = element.getBoundingClientRect();
      const point = { x: event.clientX - left, y: event.clientY - top };
      setView((before) => {
        if (!before) return before;
        if (event.ctrlKey || event.metaKey) return zoom(before, Math.exp(-event.deltaY / 300), point);
        return { ...before, x: before.x - event.deltaX, y: before.y - event.deltaY };
      });
    };
    element.addEventListener('wheel', turn, { passive: false });
    return () => element.removeEventListener('wheel', turn);
  }, []);
  const start = (event: PointerEvent): void => {
    if (view && event.button === 0 && !(event.target as Element).closest('button'))
      drag.current = { x: event.clientX - view.x, y: event.clientY - view.y };
  };
  const move = (event: PointerEvent): void => {
    const from = drag.current;
    if (from) setView((before) => before && { ...before, x: event.clientX - from.x, y: event.clientY - from.y });
  };
  const end = (): void => {
    drag.current = null;
  };
  const isLarge = view !== null && fit(size, window()).scale < READABLE;
  const scaled = { '--scale': view?.scale ?? 1 } as CSSProperties;
  return (
    <div
      ref={box}
      className="canvas"
      data-ready={view !== null}
      data-layouts={layouts}
      data-scale={view?.scale.toFixed(2)}
      onPointerDown={start}
      onPointerMove={move}
      onPointerUp={end}
      onPointerLeave={end}
    >
      <svg width="100%" height="100%" aria-hidden="true" focusable="false">
        {view && (
          <g
            className={view.scale < FAR ? 'far' : undefined}
            style={scaled}
            transform={`translate(${view.x} ${view.y}) scale(${view.scale})`}
          >
            {children}
          </g>
        )}
      </svg>
      <div className="canvas-tools" role="group" aria-label={label}>
        <button type="button" onClick={() => zoomBy(1 / STEP)} aria-label="Zoom out">
          −
        </button>
        <button
          type="button"
          onClick={() => setView(fitAround(size, follow, window()))}
          aria-label="Fit the chart"
          title="As small as can be read"
        >
          Fit
        </button>
        {isLarge ? (
          <button type="button" onClick={() => setView(fit(size, window()))} aria-label="Show the whole chart">
            Whole
          </button>
        ) : null}
        <button type="button" onClick={() => zoomBy(STEP)} aria-label="Zoom in">
          +
        </button>
      </div>
    </div>
  );
}
