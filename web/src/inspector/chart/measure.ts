/** Widths of texts in the fonts of the page. */
import type { Metrics } from './ladder';
import type { TextWidths } from './graph';

const TITLE = '600 14px Plate, system-ui, sans-serif';
const ROW = '400 12px Mono, ui-monospace, monospace';
const SMALL = '400 11px Mono, ui-monospace, monospace';

let canvas: CanvasRenderingContext2D | null = null;

function width(text: string, font: string): number {
  canvas ??= document.createElement('canvas').getContext('2d');
  if (canvas === null) return text.length * 8;
  canvas.font = font;
  return canvas.measureText(text).width;
}

/** Wait until the fonts of charts can be measured. */
export async function loadFonts(): Promise<void> {
  await Promise.all([TITLE, ROW].map((font) => document.fonts.load(font)));
}

export const ladderMetrics = (): Metrics => ({
  character: width('MMMMMMMMMM', ROW) / 10,
  title: (text) => width(text, TITLE),
});
export const graphWidths = (): TextWidths => ({
  title: (text) => width(text, TITLE),
  row: (text) => width(text, SMALL),
});
