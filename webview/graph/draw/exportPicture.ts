import { type Brush, CanvasBrush } from './brush.ts';
import { drawFrame } from './internal/drawFrame.ts';
import { drawLegend, legendSize } from './internal/drawLegend.ts';
import type { Frame } from './drawView.ts';
import { SvgBrush } from './internal/svgBrush.ts';

/** Browsers give up on canvases beyond this. */
const longestSide = 8192;
const margin = 40;
/** Between the legend and the graph: a boundary's name is above it. */
const below = 80;
/** The space next to a narrow graph, for the names there. */
const sideSpace = 320;
const wide = 1400;

/** The whole graph under its legend, at scale 1 or what still fits into `longest` pixels, with nothing selected. */
function wholeFrame(frame: Frame, longest: number): Frame {
  const { totalWidth, totalHeight } = frame.picture.layout;
  const legend = legendSize({ ...frame, camera: { k: 1, x: 0, y: 0 } });
  const top = margin + legend.height + below;
  const k = Math.min(1, (longest - 2 * margin) / totalWidth, (longest - top - margin) / totalHeight);
  const drawn = totalWidth * k;
  const width = Math.ceil(Math.max(Math.max(drawn, legend.width) + 2 * margin, Math.min(drawn + 2 * sideSpace, wide)));
  return {
    ...frame,
    camera: { k, x: (width - drawn) / 2, y: top },
    width,
    height: Math.ceil(top + totalHeight * k + margin),
    selected: null,
    hits: null,
    group: -1,
    pointed: -1,
    focused: -1,
    hovered: -1,
    litEdges: new Set(),
  };
}

function draw(brush: Brush, whole: Frame): void {
  drawFrame(brush, whole);
  drawLegend(brush, whole, margin, margin);
}

/** The whole graph as SVG text. */
function exportSvg(frame: Frame, family: string): string {
  const whole = wholeFrame(frame, Infinity);
  const brush = new SvgBrush(family);
  draw(brush, whole);
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
  draw(new CanvasBrush(context, family), whole);
  return canvas.toDataURL('image/png').replace(/^data:image\/png;base64,/, '');
}

/** The whole graph as a file's content: SVG text, or a PNG in base64. */
export const exportAs = (kind: 'svg' | 'png', frame: Frame, family: string): string =>
  kind === 'svg' ? exportSvg(frame, family) : exportPng(frame, family);
