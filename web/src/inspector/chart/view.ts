/** Place and scale of a drawing in its window. */
export interface View {
  x: number;
  y: number;
  scale: number;
}

export interface Size {
  width: number;
  height: number;
}

export interface Area extends Size {
  x: number;
  y: number;
}

const SMALLEST = 0.03;
const LARGEST = 3;
const MARGIN = 16;
/** A text of 12 pixels is readable from here on. */
export const READABLE = 0.8;

const limit = (scale: number): number => Math.min(LARGEST, Math.max(SMALLEST, scale));

/** The whole drawing, centred, not larger than it is. */
export function fit(drawing: Size, window: Size): View {
  const scale = limit(
    Math.min(1, (window.width - 2 * MARGIN) / drawing.width, (window.height - 2 * MARGIN) / drawing.height),
  );
  return {
    scale,
    x: Math.max(MARGIN, (window.width - drawing.width * scale) / 2),
    y: Math.max(MARGIN, (window.height - drawing.height * scale) / 2),
  };
}

/** The whole drawing if its texts are readable then; otherwise its beginning, in a size that is. */
export function fitReadable(drawing: Size, window: Size): View {
  const whole = fit(drawing, window);
  if (whole.scale >= READABLE) return whole;
  const scale = Math.max(READABLE, Math.min(1, (window.width - 2 * MARGIN) / drawing.width));
  return { scale, x: Math.max(MARGIN, (window.width - drawing.width * scale) / 2), y: MARGIN };
}

/** The smallest size in which texts can be read, with some areas of the drawing in view: the first that fits. */
export function fitAround(drawing: Size, areas: readonly Area[], window: Size): View {
  const view = fitReadable(drawing, window);
  const whole = fit(drawing, window);
  if (whole.scale >= READABLE) return whole;
  return revealFirst({ ...view, scale: READABLE, x: MARGIN }, areas, window);
}

/** Larger or smaller around a point of the window. */
export function zoom(view: View, factor: number, point: { x: number; y: number }): View {
  const scale = limit(view.scale * factor);
  const ratio = scale / view.scale;
  return { scale, x: point.x - (point.x - view.x) * ratio, y: point.y - (point.y - view.y) * ratio };
}

/** Moved just so far that an area of the drawing is in the window; the same view if it is there already. */
export function reveal(view: View, area: Area, window: Size): View {
  const x = shift(view.x + area.x * view.scale, area.width * view.scale, window.width);
  const y = shift(view.y + area.y * view.scale, area.height * view.scale, window.height);
  return x === 0 && y === 0 ? view : { ...view, x: view.x + x, y: view.y + y };
}

function shift(start: number, length: number, window: number): number {
  if (start < MARGIN || length > window - 2 * MARGIN) return MARGIN - start;
  return Math.min(0, window - MARGIN - start - length);
}

/** With an area of the drawing in the middle of the window. */
export function centre(view: View, area: Area, window: Size): View {
  return {
    scale: view.scale,
    x: window.width / 2 - (area.x + area.width / 2) * view.scale,
    y: window.height / 2 - (area.y + area.height / 2) * view.scale,
  };
}

/** Like `reveal`, of the first area that fits into the window, or else of the last one. */
export function revealFirst(view: View, areas: readonly Area[], window: Size): View {
  const fits = areas.find(
    (area) =>
      area.width * view.scale <= window.width - 2 * MARGIN && area.height * view.scale <= window.height - 2 * MARGIN,
  );
  const area = fits ?? areas.at(-1);
  return area ? reveal(view, area, window) : view;
}

/** What a step should show: all active states and where it came from, all active states, one of them. */
export function areasToFollow(leaves: readonly Area[], starts: readonly Area[]): Area[] {
  const [first] = leaves;
  return first ? [join([...leaves, ...starts]), join([first, ...starts]), join(leaves), first] : [];
}

function join(areas: readonly Area[]): Area {
  const x = Math.min(...areas.map((area) => area.x));
  const y = Math.min(...areas.map((area) => area.y));
  return {
    x,
    y,
    width: Math.max(...areas.map((area) => area.x + area.width)) - x,
    height: Math.max(...areas.map((area) => area.y + area.height)) - y,
  };
}
