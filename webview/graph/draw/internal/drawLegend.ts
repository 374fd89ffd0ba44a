import { paints } from '../../../../src/kernel/picture/graph/overlay.ts';
import type { Brush } from '../brush.ts';
import type { Frame } from '../drawView.ts';
import { boundaryKinds, outlineOf } from './drawRegions.ts';
import { graphStrings } from '../../panels/graphStrings.ts';
import { swatchPaints } from '../../panels/legend.ts';
import { isDashed, type Palette } from '../palette.ts';
import { thousands } from '../../../../src/kernel/base/text.ts';

const size = 12;
const titleSize = 14;
const row = 20;
const swatch = { width: 24, height: 13 };

/** A line of the legend: its sign, drawn into a place on the picture, and what it says. */
interface Line {
  sign: (brush: Brush, x: number, y: number) => void;
  label: string;
  number: string;
  meaning: string;
}

/** A legend's lines with the places of their parts from its left, and the size of all of it. */
interface Plan {
  title: string;
  heading: string;
  lines: Line[];
  labels: number;
  numbers: number;
  meanings: number;
  width: number;
  height: number;
}

function plan(frame: Frame): Plan {
  const { model, fit } = frame;
  const { title } = model.data;
  const heading = `${graphStrings.overlay}: ${graphStrings.overlays[model.overlay.kind]}`;
  const lines = [...categoryLines(frame), ...boundaryLines(frame)];
  const across = (part: 'label' | 'number' | 'meaning') =>
    Math.max(0, ...lines.map((line) => fit.width(line[part], size, false)));
  const labels = swatch.width + 10;
  const numbers = labels + across('label') + 16 + across('number');
  const meanings = numbers + 16;
  const width = Math.max(
    meanings + across('meaning'),
    fit.width(title, titleSize, true),
    fit.width(heading, size, true),
  );
  return { title, heading, lines, labels, numbers, meanings, width, height: row * (lines.length + 2) };
}

/** What `drawLegend` takes. */
export function legendSize(frame: Frame): { width: number; height: number } {
  const { width, height } = plan(frame);
  return { width, height };
}

/**
 * The model's name, what the colors of a frame say and which boundaries there are, for a picture that leaves the view:
 * only what occurs on it, and nothing that needs a pointer. Draws from x, y down.
 */
export function drawLegend(brush: Brush, frame: Frame, x: number, y: number): void {
  const { title, heading, lines, labels, numbers, meanings } = plan(frame);
  const { foreground: color, muted } = frame.palette.theme;
  brush.text(title, x, y + row / 2, { size: titleSize, bold: true, color });
  brush.text(heading, x, y + row * 1.5, { size, bold: true, color });
  lines.forEach(({ sign, label, number, meaning }, i) => {
    const middle = y + row * (i + 2.5);
    sign(brush, x, middle - swatch.height / 2);
    brush.text(label, x + labels, middle, { size, color });
    if (number !== '') brush.text(number, x + numbers, middle, { size, color, align: 'right' });
    if (meaning !== '') brush.text(meaning, x + meanings, middle, { size, color: muted });
  });
}

function categoryLines({ model, palette, dimmed }: Frame): Line[] {
  const { categories, categoryOf } = model.overlay;
  const off = new Set<number>();
  if (dimmed !== null) categoryOf.forEach((category, point) => dimmed[point] === 1 && off.add(category));
  let said = '';
  return categories.map(({ label, paints: own, nodes, meaning }, i): Line => {
    const line = { label, number: thousands(nodes), sign: paintSign(palette, swatchPaints(own)) };
    if (off.has(i)) return { ...line, meaning: graphStrings.switchedOff };
    // Once for lines that follow each other and mean the same.
    const again = meaning === said;
    said = meaning;
    return { ...line, meaning: again ? '' : meaning };
  });
}

/** Nodes of these paints as they are drawn, side by side. */
const paintSign =
  (palette: Palette, own: readonly number[]): Line['sign'] =>
  (brush, x, y) => {
    const width = swatch.width / own.length;
    own.forEach((paint, i) => {
      const box = [x + i * width, y, width - 1, swatch.height] as const;
      brush.box(...box, { fill: palette.solid(paint), radius: 3 });
      // A node that is not computed is empty; in a module's bar it is gray.
      if (paint === paints.gray) brush.box(x + width / 2, y, width / 2, swatch.height, { fill: palette.soft(paint) });
      brush.box(...box, { stroke: palette.strong(paint), dashed: isDashed(paint), radius: 3 });
    });
  };

/** The kinds of boundaries that are drawn, which the colors do not tell. */
function boundaryLines(frame: Frame): Line[] {
  const { foreground, background } = frame.palette.theme;
  const kinds = boundaryKinds(frame);
  return (['foreign', 'dla', 'layer', 'derived', 'kernel'] as const)
    .filter((kind) => kinds.has(kind))
    .map((kind) => ({
      sign: (brush, x, y) => {
        const lines: [number, string][] =
          kind === 'kernel'
            ? [[1, foreground]]
            : outlineOf(kind === 'dla' ? 3 : kind === 'foreign' ? 2 : 1, foreground, background);
        const widest = lines[0]![0];
        const place = [x + widest, y + widest, swatch.width - 2 * widest, swatch.height - 2 * widest] as const;
        if (kind === 'derived') brush.box(...place, { stroke: foreground, lineWidth: 2, dashed: true });
        else for (const [beyond, stroke] of lines) brush.box(...place, { stroke, lineWidth: 2 * beyond });
        if (kind !== 'derived') brush.box(...place, { fill: background });
      },
      ...graphStrings.boundaries[kind],
      number: '',
    }));
}
