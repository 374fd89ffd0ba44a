import { describe, expect, it } from 'vitest';
import { nestedLayout } from '../../../src/kernel/picture/layout/nestedLayout.ts';
import { toGraphData } from '../../../src/kernel/picture/graph/viewData.ts';
import type { Brush } from '../../../webview/graph/draw/brush.ts';
import { leastLetters, type PlacedBox } from '../../../webview/graph/draw/drawView.ts';
import { legendGroups } from '../../../webview/graph/draw/groupLabels.ts';
import { drawGround, drawOver } from '../../../webview/graph/draw/internal/drawFrame.ts';
import { cameraOn, type Stage } from '../../../webview/graph/draw/stage.ts';
import { GraphModel } from '../../../webview/graph/view/graphModel.ts';
import { firstOpen } from '../../../webview/graph/view/internal/firstOpen.ts';
import { wholeGraph } from '../../../webview/graph/view/internal/navigate.ts';
import { captures, inputOf, reportOf } from '../kernel/fusion/loadCapture.ts';
import { manyGroups } from '../../webview/support/manyGroups.ts';
import { frameOf, silent } from './frameOf.ts';

/** About as wide as the letters of common fonts. */
const widthOf = (text: string, size: number, bold: boolean): number => text.length * size * (bold ? 0.62 : 0.56);

/** Cuts as the page does. */
const fit = Object.assign(
  (text: string, width: number, size: number, bold: boolean, keep: 'start' | 'end'): string => {
    if (widthOf(text, size, bold) <= width) return text;
    const length = Math.floor(width / widthOf('x', size, bold)) - 1;
    if (length < 3) return '';
    return keep === 'start' ? `${text.slice(0, length)}…` : `…${text.slice(-length)}`;
  },
  { width: widthOf },
);

interface Written extends PlacedBox {
  text: string;
  size: number;
}

/** Where all texts of the first picture in a window are, by what draws them. */
function firstPicture(model: GraphModel, size: { width: number; height: number }) {
  const scaleFor = (width: number, height: number, around = 24) =>
    Math.min((size.width - 2 * around) / width, (size.height - 2 * around) / height);
  const { open, columns } = firstOpen(model, { size, scaleFor } as Stage);
  const { scene, input } = model.request(open, columns);
  const layout = nestedLayout(input);
  model.setPicture(scene, layout);
  const written: Written[] = [];
  const brush: Brush = {
    ...silent,
    text: (text, x, y, { size: letters, bold = false, align = 'left' }) => {
      const width = widthOf(text, letters, bold);
      const left = align === 'left' ? x : align === 'center' ? x - width / 2 : x - width;
      written.push({ text, size: letters, x: left, y: y - letters * 0.4, width, height: letters * 0.8 });
    },
  };
  const camera = cameraOn(size, wholeGraph(layout.totalWidth, layout.totalHeight), { readable: true });
  const frame = { ...frameOf(model), ...size, camera, fit };
  drawGround(brush, frame);
  const labels = drawOver(brush, frame);
  const covers = (a: PlacedBox, b: PlacedBox) =>
    a.x + 1 < b.x + b.width && b.x + 1 < a.x + a.width && a.y + 1 < b.y + b.height && b.y + 1 < a.y + a.height;
  const overlapping = written.flatMap((a, i) =>
    written.slice(i + 1).flatMap((b) => (covers(a, b) ? [`${a.text} | ${b.text}`] : [])),
  );
  const placeOf = (item: number): PlacedBox => ({
    x: layout.x[item]! * camera.k + camera.x,
    y: layout.y[item]! * camera.k + camera.y,
    width: layout.width[item]! * camera.k,
    height: layout.height[item]! * camera.k,
  });
  const screen = { x: 0, y: 0, ...size };
  const boxes = [...scene.kind.keys()].filter((item) => scene.kind[item] !== 'open' && covers(placeOf(item), screen));
  const covering = labels.flatMap((label) =>
    boxes
      .filter((item) => covers(label, placeOf(item)))
      .map((item) => `${JSON.stringify(label)} on ${model.key(item)}`),
  );
  const small = written.filter(({ size: letters }) => letters < leastLetters).map(({ text }) => text);
  const used = Math.max(
    (layout.totalWidth * camera.k) / (size.width - 80),
    (layout.totalHeight * camera.k) / (size.height - 80),
  );
  return { open, k: camera.k, used, faults: { overlapping, covering, small } };
}

/** What a window of so many pixels leaves for the picture. */
const windows = [
  { width: 1500, height: 780 },
  { width: 1000, height: 560 },
  { width: 640, height: 480 },
];
const none = { overlapping: [], covering: [], small: [] };

/** Of each model one build: the picture depends on the model's structure first. */
const onePerModel = [
  ...new Map(captures().map((capture) => [capture.split('/')[1]!.split('.')[0]!, capture])).values(),
];

describe('the first picture', () => {
  it.each(onePerModel)(
    'of %s: letters that can be read, none on others, groups that are told apart',
    async (capture) => {
      const [input, report] = await Promise.all([inputOf(capture), reportOf(capture)]);
      if (input === undefined || report === undefined) return;
      const data = { title: input.modelFile, graph: toGraphData(input.model), report, build: null, hints: [] };
      const model = new GraphModel(data, 'fusion');
      for (const size of windows) expect([size.width, firstPicture(model, size).faults]).toEqual([size.width, none]);
      const names = legendGroups(model).map(({ label }) => label);
      expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
      const titles = report.foreignNodes.map(({ id, title }) => title ?? `ForeignNode ${id}`);
      expect(new Set(titles).size).toBe(titles.length);
    },
  );

  it('opens the modules that hold groups, all of them where they fit', () => {
    const { graph, ...rest } = manyGroups(20);
    const { open, faults } = firstPicture(new GraphModel({ ...rest, graph: graph! }, 'fusion'), windows[1]!);
    expect([...open]).toEqual(expect.arrayContaining(['/stage.0', '/stage.1']));
    expect(faults).toEqual(none);
  });
});
