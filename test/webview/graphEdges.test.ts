import { describe, expect, it } from 'vitest';
import type { ReportTensor } from '../../src/kernel/fusion/fusionReport.ts';
import type { NodeAccuracy, ViewData } from '../../src/kernel/picture/graph/viewData.ts';
import { graphOf, layer, reportOf } from '../unit/kernel/picture/graph/graphBuilder.ts';
import { modelData } from './support/captureData.ts';
import { boxOf, middleBetween, openGraphPage, selectionsOf } from './support/graphPage.ts';
import { useViews } from './support/useViews.ts';

const views = useViews();

/** A chain in which the model declares no type of `c`; the report infers it. */
function chain(): ViewData {
  const graph = graphOf(
    `
    c = Conv(x)
    r = Relu(c)
    y = Add(r, c)`,
    ['x'],
    ['y'],
  );
  const engine = { name: 'c', dims: [1, 8, 4, 4], type: 'Half', format: 'Channel major FP16' };
  const layers = [
    layer(0, ['0'], { name: 'conv layer', outputs: [engine], line: 7, tactic: 'sm80_conv', averageMs: 0.02 }),
    layer(1, ['1', '2']),
  ];
  const tensor = (name: string, producer: string | null, consumers: string[], writers: number[]): ReportTensor => ({
    name,
    producer,
    consumers,
    type: 'float',
    shape: [1, 8, 4, 4],
    layers: writers,
  });
  const report = {
    ...reportOf(graph, layers),
    tensors: [
      tensor('x', null, ['0'], []),
      tensor('c', '0', ['1', '2'], [0]),
      tensor('r', '1', ['2'], []),
      tensor('y', '2', [], [1]),
    ],
  };
  return { title: 'chain.onnx', graph, report, build: null, hints: [] };
}

describe('edges', () => {
  it('have the types and shapes that follow from the operators where there is no build', async () => {
    const shown = await modelData('resnet18');
    const view = await openGraphPage(views, shown);
    const first = shown.graph!.nodes.find(({ op }) => op === 'Conv')!.id;
    await boxOf(view, `node:${first}`).click();
    await view.still();
    const inspector = view.page.locator('.graph-inspector');
    expect(await inspector.textContent()).toContain('float 1×64×112×112');
    expect(await inspector.textContent()).not.toContain('unknown');
    const relu = shown.graph!.nodes.find(({ op }) => op === 'Relu')!.id;
    const at = await middleBetween(view, `node:${first}`, `node:${relu}`);
    await view.page.mouse.move(at.x, at.y);
    await view.still();
    expect(await view.page.getByRole('tooltip').textContent()).toContain('float 1×64×112×112');
    await view.page.getByRole('button', { name: 'Fit' }).click();
    await view.still();
    await boxOf(view, 'output:output').click();
    await view.still();
    expect(await inspector.textContent()).toContain('float 1×1000');
    await view.close();
  });

  it('carry the errors of low precision: in color, on hover and in full', async () => {
    const judged = (id: string, propagatedError: number | null, more: Partial<NodeAccuracy> = {}): NodeAccuracy => ({
      id,
      type: 'float16',
      role: 'fine',
      localError: 2e-4,
      propagatedError,
      max: 2,
      amplification: 1,
      overflow: false,
      underflow: false,
      ...more,
    });
    const accuracy = [
      judged('0', 5e-5),
      judged('1', null, { role: 'root', max: 7e5, overflow: true, localError: null, alone: null }),
      judged('2', 0.32, { role: 'victim' }),
    ];
    const graph = graphOf('a = Relu(x)\nb = Pow(a)\ny = Sqrt(b)', ['x'], ['y']);
    const view = await openGraphPage(views, { ...chain(), graph, report: null, accuracy });
    const at = await middleBetween(view, 'node:1', 'node:2');
    await view.page.mouse.move(at.x, at.y);
    await view.still();
    expect(await view.page.getByRole('tooltip').textContent()).toContain('Error in FP16not finite');
    await boxOf(view, 'node:1').click();
    await view.still();
    expect(await view.page.locator('.graph-inspector').textContent()).toContain(
      'To blame: largest result 700,000, FP16 ends at 65,504; alone in FP16 it makes the outputs not finite.',
    );
    expect(await view.axe()).toEqual([]);
    await view.shot('graph-errors-on-edges');
    await view.page.keyboard.press('Escape');
    await view.page.getByRole('button', { name: 'SVG' }).click();
    const [picture] = (await view.sent()).filter(({ method }) => method === 'exportPicture');
    // Three colors of lines: what carries no known error, almost none, and what is not finite or large.
    const strokes = [...String(picture!.args[1]).matchAll(/<path[^>]*fill="none"[^>]*stroke="([^"]+)"/g)];
    expect(new Set(strokes.map(([, color]) => color)).size).toBeGreaterThanOrEqual(3);
    await view.close();
  });

  it('say what they carry on hover, and in full when they are selected', async () => {
    const view = await openGraphPage(views, chain());
    const { mouse } = view.page;
    const at = await middleBetween(view, 'input:x', 'node:0');
    await mouse.move(at.x, at.y);
    await view.still();
    const card = view.page.getByRole('tooltip');
    expect(await card.textContent()).toBe('float 1×8×4×4xProducerx1 consumer/c');
    const box = (await card.boundingBox())!;
    expect(at.y < box.y || at.y > box.y + box.height || at.x < box.x || at.x > box.x + box.width).toBe(true);
    expect(await view.axe()).toEqual([]);

    // The line from Conv is one tensor with two readers.
    const below = await boxOf(view, 'node:0').boundingBox();
    await mouse.move(below!.x + below!.width / 2, below!.y + below!.height + 4);
    await view.still();
    expect(await card.textContent()).toContain('2 consumers/r, /y');
    await mouse.click(below!.x + below!.width / 2, below!.y + below!.height + 4);
    await view.still();
    expect(await card.isVisible()).toBe(false);
    const panel = view.page.locator('.graph-inspector');
    expect(await panel.textContent()).toContain(
      'TensorcTypefloatShape1×8×4×4In the engineHalf 1×8×4×4, Channel major FP16Producer/c2 consumers/r/yWritten byconv layer log: line 7',
    );
    expect(await selectionsOf(view)).toEqual([{ kind: 'none' }]);
    await view.shot('graph-selected-edge');
    expect(await view.axe()).toEqual([]);
    await panel.getByRole('button', { name: '/r', exact: true }).click();
    await view.still();
    expect(await selectionsOf(view)).toEqual([{ kind: 'none' }, { kind: 'nodes', ids: ['1'] }]);
    // And back to a tensor by the node's list.
    await panel.getByRole('button', { name: 'c', exact: true }).click();
    expect(await panel.locator('h2').textContent()).toBe('Tensor');
    expect(await view.faults()).toEqual([]);
    await view.close();
  });

  it('between closed modules list all tensors that they carry', async () => {
    const graph = graphOf(
      `
      a @/m/a = Conv(x)
      b @/m/b = Relu(a)
      c @/n/c = Add(a, b)
      d @/n/d = Mul(c, b)`,
      ['x'],
      ['d'],
    );
    const view = await openGraphPage(views, { title: 'm.onnx', graph, report: null, build: null, hints: [] });
    await view.page.getByRole('button', { name: 'Collapse All' }).click();
    await view.still();
    const at = await middleBetween(view, 'module:/m', 'module:/n');
    await view.page.mouse.click(at.x, at.y);
    await view.still();
    const panel = view.page.locator('.graph-inspector');
    expect(await panel.textContent()).toMatch(/2 tensorsaunknown typebunknown type$/);
    await panel.getByRole('button', { name: 'b', exact: true }).click();
    expect(await panel.textContent()).toMatch(
      /TensorbTypeunknown typeShapeunknown shapeProducer\/m\/b2 consumers\/n\/c\/n\/d$/,
    );
    expect(await view.faults()).toEqual([]);
    await view.close();
  });
});

describe('hover cards', () => {
  it('explain nodes to the pointer and to the keyboard alike, and never cover either', async () => {
    const view = await openGraphPage(views, chain());
    const card = view.page.getByRole('tooltip');
    await boxOf(view, 'node:0').hover();
    await view.still();
    const byPointer = await card.textContent();
    expect(byPointer).toBe(
      'Conv/cComputed by layer 0, 20.0 µs, which computes nothing else.EvidenceexactLayerconv layerKernelsm80_convTime of the layer20.0 µsOutputfloat 1×8×4×4',
    );
    await view.page.mouse.move(5, 5);
    await view.still();
    expect(await card.isVisible()).toBe(false);
    await view.page.locator('[role=treeitem][tabindex="0"]').focus();
    await view.page.keyboard.press('Home');
    await view.page.keyboard.press('ArrowDown');
    await view.still();
    expect(await card.textContent()).toBe(byPointer);
    const [node, shown] = [(await boxOf(view, 'node:0').boundingBox())!, (await card.boundingBox())!];
    const apart =
      shown.y >= node.y + node.height ||
      shown.y + shown.height <= node.y ||
      shown.x >= node.x + node.width ||
      shown.x + shown.width <= node.x;
    expect(apart).toBe(true);
    await view.shot('graph-hover-card');
    expect(await view.axe()).toEqual([]);
    await view.page.keyboard.press('Escape');
    await view.still();
    expect(await view.faults()).toEqual([]);
    await view.close();
  });

  it('explain a group where its boundary is', async () => {
    const view = await openGraphPage(views, chain());
    const box = (await boxOf(view, 'node:1').boundingBox())!;
    await view.page.mouse.move(box.x - 4, box.y + box.height / 2);
    await view.still();
    expect(await view.page.getByRole('tooltip').textContent()).toBe('LayerRelu + AddContents2 nodesEvidenceexact');
    await view.close();
  });
});
