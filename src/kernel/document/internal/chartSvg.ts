import type { Chart, ChartPoint, Curve } from '../document.ts';
import { escapeHtml } from './escapeHtml.ts';

const WIDTH = 1000;
const HEIGHT = 140;
/** For the numbers of the scale. */
const MARGIN = 52;
/** Values from 1e-7 to 1 fill the height. */
const DECADES = 7;
/** Height of the bands below the chart. */
const BAND = 22;
/** Width of a letter. */
const LETTER = 7.8;

const heightOf = (value: number): number =>
  HEIGHT * Math.min(1, Math.max(0, 1 + Math.log10(Math.max(value, 1e-12)) / DECADES));

/** A chart with points as SVG; of several points in one column of two pixels, the highest. */
export function chartSvg({ label, points, limit, bands }: Chart): string {
  const columns = Math.min(points.length, WIDTH / 2);
  const width = WIDTH / columns;
  const bars: string[] = [];
  const marks: string[] = [];
  const line: string[] = [];
  for (let column = 0; column < columns; column++) {
    const own = points.slice(
      Math.floor((column * points.length) / columns),
      Math.floor(((column + 1) * points.length) / columns),
    );
    const x = column * width;
    const middle = (x + width / 2).toFixed(1);
    const bar = highest(own, 'bar');
    const kind = own.some(({ marked }) => marked) ? ' class="marked"' : '';
    const title = own.map((point) => point.title).join('\n');
    bars.push(
      `<rect x="${x.toFixed(1)}" y="${(HEIGHT - bar).toFixed(1)}" width="${width.toFixed(2)}" height="${bar.toFixed(1)}"${kind}><title>${escapeHtml(title)}</title></rect>`,
    );
    if (own.some((point) => point.line === null)) marks.push(`<circle cx="${middle}" cy="4" r="3"/>`);
    line.push(`${middle},${(HEIGHT - highest(own, 'line')).toFixed(1)}`);
  }
  const at = HEIGHT - heightOf(limit);
  return `<svg viewBox="${-MARGIN} -4 ${WIDTH + MARGIN} ${HEIGHT + BAND + 4}" role="img" aria-label="${escapeHtml(label)}">
${bars.join('\n')}
<polyline points="${line.join(' ')}"/>
<line x1="0" y1="${at.toFixed(1)}" x2="${WIDTH}" y2="${at.toFixed(1)}"/>
${marks.join('\n')}
${scale(limit, at)}
${bandShapes(bands, points.length)}
</svg>`;
}

/** What is not finite is as high as the chart. */
const highest = (points: readonly ChartPoint[], of: 'bar' | 'line'): number =>
  heightOf(Math.max(0, ...points.map((point) => point[of] ?? 1)));

/** The values at the left end: 1, the limit where it has room, 1e-7. */
function scale(limit: number, at: number): string {
  const labels: [string, number][] = [
    ['1', 11],
    ['1e-7', HEIGHT - 4],
    ...(at > 30 && at < HEIGHT - 20 ? [[String(limit), at - 4] satisfies [string, number]] : []),
  ];
  return labels.map(([text, y]) => `<text class="scale" x="-6" y="${y.toFixed(1)}">${text}</text>`).join('\n');
}

const bandShapes = (bands: Chart['bands'], count: number): string =>
  bands
    .map(({ name, short, from, to }) => {
      const [x, width] = [(WIDTH * from) / count, (WIDTH * (to - from)) / count];
      const label = short.length * LETTER < width - 4 ? short : '';
      return `<g><title>${escapeHtml(name)}</title><path d="M${x.toFixed(1)} ${HEIGHT}h${width.toFixed(1)}v${BAND}h-${width.toFixed(1)}z"/><text x="${(x + width / 2).toFixed(1)}" y="${HEIGHT + 15}">${escapeHtml(label)}</text></g>`;
    })
    .join('\n');

/** Room for labels of the marked points. */
const LABEL = 180;

/** A curve as SVG: steps from point to point, because in between nothing was tried. */
export function curveSvg({ label, points, limit }: Curve): string {
  const most = Math.max(1, points.at(-1)!.x);
  const known = points.map(({ y }) => y).filter((y) => y !== null);
  const values = [...known, limit].filter((value) => value > 0);
  const [low, high] = [Math.log10(Math.min(...values) / 2), Math.log10(Math.max(...values) * 2)];
  const xOf = (x: number) => ((WIDTH - LABEL) * x) / most;
  const yOf = (y: number | null) =>
    y === null ? 4 : HEIGHT - (HEIGHT * (Math.log10(Math.max(y, 10 ** low)) - low)) / (high - low);
  const steps = points.flatMap(({ x, y }, at) => {
    const before = points[at - 1];
    const here = `${xOf(x).toFixed(1)},${yOf(y).toFixed(1)}`;
    return before ? [`${xOf(x).toFixed(1)},${yOf(before.y).toFixed(1)}`, here] : [here];
  });
  const marks = points.map(({ x, y, marked, title }) => {
    const [cx, cy] = [xOf(x).toFixed(1), yOf(y).toFixed(1)];
    const text = marked
      ? `<text class="point" x="${(xOf(x) + 12).toFixed(1)}" y="${(yOf(y) - 8).toFixed(1)}">${escapeHtml(title)}</text>`
      : '';
    return `<circle cx="${cx}" cy="${cy}" r="${marked ? 6 : 3}"${marked ? ' class="knee"' : ''}><title>${escapeHtml(title)}</title></circle>${text}`;
  });
  const at = yOf(limit).toFixed(1);
  const ends = [
    `<text class="scale" x="-6" y="${at}">${limit}</text>`,
    `<text class="point" x="0" y="${HEIGHT + 16}">0</text>`,
    `<text class="point" x="${xOf(most).toFixed(1)}" y="${HEIGHT + 16}">${most}</text>`,
  ];
  return `<svg viewBox="${-MARGIN} -4 ${WIDTH + MARGIN} ${HEIGHT + BAND + 4}" role="img" aria-label="${escapeHtml(label)}">
<polyline points="${steps.join(' ')}"/>
<line x1="0" y1="${at}" x2="${WIDTH - LABEL}" y2="${at}"/>
${marks.join('\n')}
${ends.join('\n')}
</svg>`;
}
