import { expect, it } from 'vitest';
import { quantizationOf } from '../../src/features/quantization/node/readQuantization.ts';
import type { ViewData } from '../../src/kernel/picture/graph/viewData.ts';
import { modelPath } from '../support/fixtures.ts';
import { inputOf } from '../unit/kernel/fusion/loadCapture.ts';
import { captureData } from './support/captureData.ts';
import { boxOf, middleBetween, openGraphPage } from './support/graphPage.ts';
import { useViews } from './support/useViews.ts';

const views = useViews();

async function quantized(): Promise<ViewData> {
  const data = await captureData('resnet18_qdq', 'tensorrt-10.6.0/resnet18_qdq.fp32');
  const { model } = (await inputOf('tensorrt-10.6.0/resnet18_qdq.fp32'))!;
  const { report } = data;
  return { ...data, quantization: await quantizationOf(modelPath('resnet18_qdq'), model, { cache: null, report }) };
}

it('edges show the scale of their tensor, Q/DQ nodes their fate, and nodes of a wrong placement the fix', async () => {
  const data = await quantized();
  const view = await openGraphPage(views, data);
  const panel = view.page.locator('.graph-inspector');
  const select = async (name: string) => {
    const { id } = data.graph!.nodes.find((node) => node.name === name)!;
    await view.post('select', { kind: 'nodes', ids: [id] });
    await view.still();
    return `node:${id}`;
  };
  const key = await select('input_QuantizeLinear');
  expect(await panel.textContent()).toContain(
    'QuantizationQ/DQ pair of input: a kernel of its own.QuantizeLinear "input_QuantizeLinear" is a kernel of its own, "input_QuantizeLinear".',
  );
  await view.shot('graph-quantization-node');
  expect(await view.axe()).toEqual([]);

  await boxOf(view, key).waitFor();
  const at = await middleBetween(view, 'input:input', key);
  await view.page.mouse.move(at.x, at.y);
  await view.still();
  const card = view.page.getByRole('tooltip');
  expect(await card.textContent()).toMatch(/Scale0\.\d+, Q\/DQ nodesRange-[\d.]+ to [\d.]+ as int8$/);
  await view.shot('graph-quantization-hover');
  await view.page.mouse.click(at.x, at.y);
  await view.still();
  expect(await panel.textContent()).toMatch(/Tensorinput.*Scale0\.\d+, Q\/DQ nodesRange-[\d.]+ to [\d.]+ as int8/);

  const [wrong] = data.quantization!.misplaced;
  await view.post('select', { kind: 'nodes', ids: [wrong!.nodes[1]!] });
  await view.still();
  expect(await panel.textContent()).toContain(`${wrong!.message}${wrong!.fix}`);
  await view.shot('graph-quantization-misplaced');
  expect(await view.axe()).toEqual([]);
  expect(await view.faults()).toEqual([]);
  await view.close();
});
