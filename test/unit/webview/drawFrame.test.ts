import { describe, expect, it, test } from 'vitest';
import { nestedLayout } from '../../../src/kernel/picture/layout/nestedLayout.ts';
import { type Brush, roundedCorners } from '../../../webview/graph/draw/brush.ts';
import { drawFrame, drawOver } from '../../../webview/graph/draw/internal/drawFrame.ts';
import { nameScale } from '../../../webview/graph/draw/drawView.ts';
import { LabelPlaces } from '../../../webview/graph/draw/groupLabels.ts';
import { edgesAt } from '../../../webview/graph/draw/edgeHit.ts';
import { GraphModel } from '../../../webview/graph/view/graphModel.ts';
import { manyGroups } from '../../webview/support/manyGroups.ts';
import { foreignNode, graphOf, layer, reportOf } from '../kernel/picture/graph/graphBuilder.ts';
import { frameOf, silent } from './frameOf.ts';
import { SvgBrush } from '../../../webview/graph/draw/internal/svgBrush.ts';
import { visibleRuns } from '../../../webview/graph/draw/internal/visibleRuns.ts';

/** Forty nodes in a row; the last one also reads the first one's output, which is too far away for a line. */
function longGraph(): GraphModel {
  const text = Array.from({ length: 40 }, (_, i) =>
    i === 0 ? 'a0 = Conv(x)' : `a${i} = Add(a${i - 1}${i === 39 ? ', a0' : ''})`,
  ).join('\n');
  const graph = graphOf(text, ['x'], ['a39']);
  const report = reportOf(graph, [layer(0, ['0', '1']), layer(1, ['2'])]);
  const model = new GraphModel({ title: 'long.onnx', graph, report, build: null, hints: [] }, 'fusion');
  model.setFlat(true);
  const { scene, input } = model.request(new Set());
  model.setPicture(scene, nestedLayout(input));
  return model;
}

describe('drawFrame', () => {
  it('draws nothing else while it draws lines: on a canvas they would be lost', () => {
    const frame = frameOf(longGraph());
    const calls: string[] = [];
    const texts: string[] = [];
    let within = false;
    const other = (what: string) => () => calls.push(within ? `${what} within lines` : what);
    const brush: Brush = {
      box: other('box'),
      shape: other('shape'),
      tip: other('tip'),
      text: (text) => {
        other('text')();
        texts.push(text);
      },
      beginLines: () => (within = true),
      endLines: () => (within = false),
      line: () => calls.push(within ? 'line' : 'line on its own'),
    };
    drawFrame(brush, frame);
    expect(texts).toContain('→ a39');
    expect(texts).toContain('from a0');
    expect(new Set(calls)).toEqual(new Set(['box', 'shape', 'tip', 'text', 'line']));
  });

  it('writes the name of a ForeignNode over no node, also where there is little room', () => {
    // A chain with inputs above it and another node beside its upper end: only lower down there is room.
    const chain = 'a = Conv(x)\nb = Relu(a)\nc = Relu(b)\nd = Relu(c)\ne = Relu(d)';
    const graph = graphOf(`${chain}\nn @/somewhere/else/entirely = Gemm(z)`, ['x', 'z'], ['e']);
    const ids = ['0', '1', '2', '3', '4'];
    const own = layer(0, ids, { kind: 'foreign', foreignNode: 0 });
    const report = reportOf(graph, [own, layer(1, ['5'])], [foreignNode(0, ids, [0])]);
    const model = new GraphModel({ title: 'small.onnx', graph, report, build: null, hints: [] }, 'fusion');
    model.setFlat(true);
    const { scene, input } = model.request(new Set());
    model.setPicture(scene, nestedLayout(input));
    const { layout } = model.picture!;
    const whole = frameOf(model);
    const frame = {
      ...whole,
      camera: { k: 1, x: 20, y: 8 },
      width: layout.totalWidth + 40,
      height: layout.totalHeight + 16,
    };
    const [label] = drawOver(silent, frame).filter(({ target }) => target.kind === 'group');
    for (let item = 0; item < scene.kind.length; item++) {
      const apart =
        label!.x >= layout.x[item]! + layout.width[item]! + 20 ||
        label!.x + label!.width <= layout.x[item]! + 20 ||
        label!.y >= layout.y[item]! + layout.height[item]! + 8 ||
        label!.y + label!.height <= layout.y[item]! + 8;
      expect(apart, `on item ${item}`).toBe(true);
    }
  });

  it('leaves out the name of a group that would cover a node; selected, it covers as little as it can', () => {
    // One group of nine columns, larger than the screen, with less than a line between two nodes.
    const heads = Array.from({ length: 9 }, (_, i) => `h${i} = Conv(x)`);
    const rest = heads.flatMap((_, i) =>
      Array.from({ length: 11 }, (__, j) => `c${i}x${j} = Relu(${j === 0 ? `h${i}` : `c${i}x${j - 1}`})`),
    );
    const lines = [...heads, ...rest];
    const graph = graphOf(
      lines.join('\n'),
      ['x'],
      heads.map((_, i) => `c${i}x10`),
    );
    const ids = lines.map((_, id) => String(id));
    const report = reportOf(graph, [layer(0, ids, { kind: 'foreign', foreignNode: 0 })], [foreignNode(0, ids, [0])]);
    const model = new GraphModel({ title: 'wide.onnx', graph, report, build: null, hints: [] }, 'fusion');
    model.setFlat(true);
    const { scene, input } = model.request(new Set());
    model.setPicture(scene, nestedLayout(input));
    const { layout } = model.picture!;
    const k = 0.6;
    const [x, y] = [-60, -120];
    const frame = { ...frameOf(model), camera: { k, x, y }, width: 440, height: 260 };
    expect(layout.totalWidth * k + x).toBeGreaterThan(440);
    expect(layout.totalHeight * k + y).toBeGreaterThan(260);
    const coveredAt = (box: { x: number; y: number; width: number; height: number }): number => {
      let area = 0;
      for (let item = 0; item < scene.kind.length; item++) {
        const [left, top] = [layout.x[item]! * k + x, layout.y[item]! * k + y];
        const wide = Math.min(box.x + box.width, left + layout.width[item]! * k) - Math.max(box.x, left);
        const high = Math.min(box.y + box.height, top + layout.height[item]! * k) - Math.max(box.y, top);
        area += Math.max(0, wide) * Math.max(0, high);
      }
      return area;
    };
    const labels = (group: number) =>
      drawOver(silent, { ...frame, group }).filter(({ target }) => target.kind === 'group');
    expect(
      labels(-1)
        .map(coveredAt)
        .filter((area) => area > 0),
    ).toEqual([]);
    const [label] = labels(0);
    let least = Infinity;
    for (let left = 6; left + label!.width < frame.width - 6; left += 4)
      for (let top = 6; top + label!.height < frame.height - 6; top += 4)
        least = Math.min(least, coveredAt({ ...label!, x: left, y: top }));
    expect(least).toBeGreaterThan(0);
    expect(coveredAt(label!)).toBeLessThan(1.5 * least + 20);
  });

  it('draws no edge through the name of an open module', () => {
    const scope = '/a_module_with_a_name_of_its_own';
    const graph = graphOf(`a = Conv(x)\nb @${scope}/one = Relu(a)\nc @${scope}/two = Relu(b)`, ['x'], ['c']);
    const model = new GraphModel({ title: 'm.onnx', graph, report: null, build: null, hints: [] }, 'none');
    const { scene, input } = model.request(new Set(model.nested.modules.map(({ id }) => id)));
    model.setPicture(scene, nestedLayout(input));
    const frame = frameOf(model);
    let last = { x: 0, y: 0, right: 0, bottom: 0, fill: undefined as unknown };
    let behind: typeof last | undefined;
    let at = { x: 0, y: 0 };
    drawFrame(
      {
        ...silent,
        box: (x, y, width, height, { fill }) => (last = { x, y, right: x + width, bottom: y + height, fill }),
        text: (text, x, y) => {
          if (text.startsWith('▾')) [behind, at] = [last, { x, y }];
        },
      },
      frame,
    );
    expect(behind!.fill).toBe(frame.palette.theme.background);
    expect(behind!.x).toBeLessThanOrEqual(at.x);
    expect(behind!.right).toBeGreaterThan(at.x + 150);
    expect(behind!.y).toBeLessThan(at.y);
    expect(behind!.bottom).toBeGreaterThan(at.y);
  });

  it('writes a title that is a little too long in smaller letters, and cuts no letter off', () => {
    const model = new GraphModel(
      { title: 'm.onnx', graph: graphOf('a = ABCDEFGHIJKLMN(x)'), report: null, build: null, hints: [] },
      'none',
    );
    const { scene, input } = model.request(new Set());
    model.setPicture(scene, nestedLayout(input));
    const frame = frameOf(model);
    const own = model.picture!.layout.width[scene.itemOfPoint[0]!]! - 7;
    // At its own size the title is just too wide.
    const wide = (text: string, size: number) => (text.length * size * own) / (14 * 12.5);
    const fit = Object.assign((text: string, room: number, size: number) => (wide(text, size) <= room ? text : '…'), {
      width: wide,
    });
    const sizes: number[] = [];
    drawFrame(
      { ...silent, text: (text, _, __, { size }) => text.startsWith('ABC') && sizes.push(size) },
      { ...frame, fit },
    );
    expect(sizes).toEqual([12]);
  });

  it.each([0.45, 0.6])('draws names and their lines over no node and through no other group at scale %s', (k) => {
    const data = manyGroups(40);
    const model = new GraphModel({ ...data, graph: data.graph! }, 'fusion');
    model.setFlat(true);
    const { scene, input } = model.request(new Set());
    model.setPicture(scene, nestedLayout(input));
    const { layout } = model.picture!;
    const frame = { ...frameOf(model), camera: { k, x: 300, y: 60 }, width: 1280, height: 800 };
    type Box = { x: number; y: number; width: number; height: number };
    const lines: Box[] = [];
    const labels = drawOver(
      { ...silent, box: (x, y, width, height) => height === 1 && lines.push({ x, y, width, height }) },
      frame,
    ).filter(({ target }) => target.kind === 'group');
    expect(labels.length).toBeGreaterThan(2);
    const touches = (box: Box, x: number, y: number, width: number, height: number) =>
      x * k + 300 < box.x + box.width &&
      (x + width) * k + 300 > box.x &&
      y * k + 60 < box.y + box.height &&
      (y + height) * k + 60 > box.y;
    // From afar, a name is over its own group's boxes, which have no text then.
    const own = (box: Box, item: number) =>
      k < nameScale &&
      labels.some(
        (label) =>
          label === box &&
          label.target.kind === 'group' &&
          model.fusion.groupOf[scene.ref[item]!] === label.target.group,
      );
    const onNode = (box: Box) =>
      scene.kind.some(
        (_, i) => touches(box, layout.x[i]!, layout.y[i]!, layout.width[i]!, layout.height[i]!) && !own(box, i),
      );
    expect([...labels, ...lines].filter(onNode)).toEqual([]);
    // A line begins at its own group.
    const groupsOn = (line: Box) =>
      model.regions.filter(({ left, top, right, bottom }) => touches(line, left, top, right - left, bottom - top));
    for (const line of lines) expect(groupsOn(line).length).toBeLessThanOrEqual(1);
  });

  it('writes the names of groups over no edge where there is room next to them', () => {
    // Two columns of modules: the edge from the one to the other, and the one that leaves the second, are beside boxes.
    const data = manyGroups(20);
    const model = new GraphModel({ ...data, graph: data.graph! }, 'fusion');
    const { scene, input } = model.request(new Set(model.nested.modules.map(({ id }) => id)));
    model.setPicture(scene, nestedLayout(input));
    const { layout } = model.picture!;
    const camera = { k: 1, x: 300, y: 60 };
    const frame = { ...frameOf(model), camera, width: layout.totalWidth + 600, height: layout.totalHeight + 120 };
    const labels = drawOver(silent, frame).filter(({ target }) => target.kind === 'group');
    expect(labels.length).toBeGreaterThan(4);
    for (const { x, y, width, height } of labels)
      for (let right = 5; right <= width - 5; right += 4)
        for (let down = 5; down <= height - 5; down += 4)
          expect(edgesAt(model.picture!, camera, x + right, y + down), JSON.stringify({ x, y })).toEqual([]);
  });

  it('moves the names of groups with the picture, where there is still room for them', () => {
    const data = manyGroups(20);
    const model = new GraphModel({ ...data, graph: data.graph! }, 'fusion');
    const { scene, input } = model.request(new Set(model.nested.modules.map(({ id }) => id)));
    model.setPicture(scene, nestedLayout(input));
    const whole = { ...frameOf(model), width: 900, height: 700 };
    const last = new LabelPlaces();
    const at = (x: number, y: number) =>
      drawOver(silent, { ...whole, camera: { k: 0.45, x, y } }, last).filter(({ target }) => target.kind === 'group');
    const first = at(300, 60);
    expect(first.length).toBeGreaterThan(2);
    let stayed = 0;
    for (let i = 1; i <= 20; i++) {
      const labels = at(300, 60 - 10 * i);
      for (const { x, y, width, height, target } of labels) {
        const before = first.find((one) => JSON.stringify(one.target) === JSON.stringify(target));
        if (before !== undefined && before.x === x && before.y - 10 * i === y) stayed += 1;
        expect(x >= 4 && y >= 4 && x + width <= 896 && y + height <= 696).toBe(true);
        for (const other of labels)
          if (other.target !== target)
            expect(
              other.x >= x + width ||
                other.x + other.width <= x ||
                other.y >= y + height ||
                other.y + other.height <= y,
            ).toBe(true);
      }
    }
    // Only names that leave the screen at its upper edge, and what these meet then, are placed anew.
    expect(stayed).toBeGreaterThan(0.9 * 20 * first.filter(({ y }) => y > 204).length);
    // At another scale they are where they are for a picture that was never moved.
    const zoomed = { ...whole, camera: { k: 0.9, x: 300, y: 60 } };
    expect(drawOver(silent, zoomed, last)).toEqual(drawOver(silent, zoomed));
  });
});

it('writes whatever a model’s names hold as text of an XML file', () => {
  const brush = new SvgBrush('"Segoe UI", sans-serif');
  // Markup, control characters, half an emoji as a cut label has it, and what is no character.
  brush.text('<b a="1">&\u0000\u0008\ud83d\ufffe\uffff 🚀', 1, 2, { size: 12, color: 'red' });
  const svg = brush.finish(10, 10, 'white', '</title>\uffff');
  expect(svg).toContain(`>&lt;b a=&quot;1&quot;&gt;&amp;${' '.repeat(6)}🚀</text>`);
  expect(svg).toContain('<title>&lt;/title&gt; </title>');
  expect(svg).not.toMatch(/[\u0000-\u0008\ufffe\uffff]|\p{Surrogate}/u);
});

const screen = { width: 400, height: 300 };
const rectangle = (left: number, top: number, right: number, bottom: number) =>
  roundedCorners([left, top, right, top, right, bottom, left, bottom], { k: 1, x: 0, y: 0 }, 10);

test('an outline on the screen is one closed run', () => {
  const [run, ...others] = visibleRuns(rectangle(50, 40, 350, 260), screen, 4);
  expect(others).toEqual([]);
  expect(run).toMatchObject({ from: 0, closed: true, x: 50, y: 50 });
  expect(run!.steps).toHaveLength(8);
});

test('nothing is drawn of an outline around the screen, or beside it', () => {
  expect(visibleRuns(rectangle(-1e6, -1e6, 1e6, 1e6), screen, 4)).toEqual([]);
  expect(visibleRuns(rectangle(500, 0, 1e6, 300), screen, 4)).toEqual([]);
});

test('of an endless side, what is on the screen, with dashes that begin where they would', () => {
  const whole = rectangle(200, -100_000, 1e6, 100_000);
  const runs = visibleRuns(whole, screen, 4);
  expect(runs).toHaveLength(1);
  const [{ x, y, steps, closed, from }] = runs as [(typeof runs)[0]];
  // The last side goes up.
  expect({ x, y, steps, closed }).toEqual({ x: 200, y: 304, steps: [[200, -4]], closed: false });
  const corner = 16.23;
  const before = 2 * (1e6 - 200 - 20) + (200_000 - 20) + 4 * corner + (100_000 - 10 - 304);
  expect(from).toBeCloseTo(before, 0);
  // The picture moves, and the dashes with it: further along by as much as the run begins further along.
  const moved = visibleRuns(
    roundedCorners([200, -100_000, 1e6, -100_000, 1e6, 100_000, 200, 100_000], { k: 1, x: 0, y: 37 }, 10),
    screen,
    4,
  );
  expect(moved[0]!.from - from).toBeCloseTo(37, 6);
});

test('a corner on the screen joins its two sides in one run', () => {
  const runs = visibleRuns(rectangle(-1e6, 100, 200, 1e6), screen, 4);
  expect(runs).toHaveLength(1);
  expect(runs[0]).toMatchObject({ x: -4, y: 100, closed: false });
  expect(runs[0]!.steps).toEqual([
    [190, 100],
    [200, 100, 200, 110],
    [200, 304],
  ]);
});
