import { CanvasBrush } from './brush.ts';
import { drawFrame } from './drawFrame.ts';
import type { Frame } from './drawView.ts';
import { SvgBrush } from './svgBrush.ts';

/** Browsers give up on canvases beyond this. */
const longestSide = 8192;
const margin = 40;

/** The frame around the whole graph at scale 1 (or what still fits into `longest` pixels), nothing selected. */
function wholeFrame(frame: Frame, longest: number): Frame {
  const { totalWidth, totalHeight } = frame.picture.layout;
  const k = Math.min(1, (longest - 2 * margin) / Math.max(totalWidth, totalHeight));
  return {
    ...frame,
    camera: { k, x: margin, y: margin },
    width: Math.ceil(totalWidth * k + 2 * margin),
    height: Math.ceil(totalHeight * k + 2 * margin),
    selected: null,
    hits: null,
    group: -1,
    focused: -1,
    hovered: -1,
  };
}

/** The whole graph as SVG text. */
function exportSvg(frame: Frame, family: string): string {
  const whole = wholeFrame(frame, Infinity);
  const brush = new SvgBrush(family);
  drawFrame(brush, whole);
  return brush.finish(whole.width, whole.height, whole.palette.theme.background, whole.model.data.title);
}

/** The whole graph as a PNG in base64, as large as a canvas may be. */
function exportPng(frame: Frame, family: string): string {
  const whole = wholeFrame(frame, longestSide);
  const canvas = document.createElement('canvas');
  canvas.width = whole.width;
  canvas.height = whole.height;
  const context = canvas.getContext('2d')!;
  context.fillStyle = whole.palette.theme.background;
  context.fillRect(0, 0, canvas.width, canvas.height);
  drawFrame(new CanvasBrush(context, family), whole);
  return canvas.toDataURL('image/png').replace(/^data:image\/png;base64,/, '');
}

/** The whole graph as a file's content: SVG text, or a PNG in base64. */
export const exportAs = (kind: 'svg' | 'png', frame: Frame, family: string): string =>
  kind === 'svg' ? exportSvg(frame, family) : exportPng(frame, family);
