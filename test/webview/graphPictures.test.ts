import { expect, it } from 'vitest';
import type { ViewData } from '../../src/core/scene/panel/viewData.ts';
import { foreignNode, graphOf, layer, reportOf } from '../unit/core/scene/graphBuilder.ts';
import { openPage } from './support/browserPage.ts';
import { captureData } from './support/captureData.ts';
import { differenceFrom } from './support/comparePictures.ts';
import { useViews } from './support/useViews.ts';

const views = useViews();

/** A chain of stages with ten blocks each; the nodes of every block but its first one are one ForeignNode. */
function manyGroups(groups: number): ViewData {
  const lines: string[] = [];
  const members: string[][] = [];
  const single: string[] = [];
  let last = 'x';
  for (let group = 0; group < groups; group++) {
    const scope = `/stage.${Math.floor(group / 10)}/block_${'abcdefghij'[group % 10]!}`;
    const own: string[] = [];
    for (const [i, op] of ['Conv', 'Transpose', 'MatMul', 'Gelu', 'MatMul', 'Add'].entries()) {
      (i === 0 ? single : own).push(String(lines.length));
      const skip = op === 'Add' ? `, t${lines.length - 5}` : '';
      lines.push(`t${lines.length} @${scope}/${op}${i} = ${op}(${last}${skip})`);
      last = `t${lines.length - 1}`;
    }
    members.push(own);
  }
  const graph = graphOf(lines.join('\n'), ['x'], [last]);
  const fused = members.map((ids, id) => layer(id, ids, { kind: 'foreign', foreignNode: id }));
  const alone = single.map((id, i) => layer(groups + i, [id]));
  const report = reportOf(
    graph,
    [...fused, ...alone],
    members.map((ids, id) => foreignNode(id, ids, [id])),
  );
  return { title: `${groups}.onnx`, graph, report, build: null, hints: [] };
}

const withoutBuild = async (): Promise<ViewData> => ({
  ...(await captureData('resnet18', 'tensorrt-10.6.0/resnet18.fp32')),
  report: null,
  build: null,
  hints: [],
});

const models: Record<string, () => ViewData | Promise<ViewData>> = {
  'one-group': () => captureData('vit_tiny', 'tensorrt-10.6.0/vit_tiny.fp16'),
  'three-groups': () => captureData('fusion_zoo', 'tensorrt-10.6.0/fusion_zoo.fp32'),
  '20-groups': () => manyGroups(20),
  '200-groups': () => manyGroups(200),
  '12000-nodes': () => captureData('deep_encoder_11k', 'tensorrt-10.6.0/deep_encoder_11k.fp32'),
  'if-and-loop': () => captureData('loop_if', 'tensorrt-10.6.0/loop_if.fp32'),
  'no-build': withoutBuild,
};

it.each(Object.keys(models))('the picture of %s is as it was', async (name) => {
  const view = await openPage(views.browser, `${views.server.url}/editor/graph?theme=vscode-light`, {
    width: 1280,
    height: 800,
  });
  await view.page.evaluate(() => document.documentElement.style.setProperty('--vscode-font-family', 'DejaVu Sans'));
  await view.still();
  await view.post('show', await models[name]!(), '');
  await view.page.waitForFunction(() => performance.getEntriesByName('graph-painted').length > 0);
  await view.still();
  expect(await differenceFrom(views.browser, name, await view.page.screenshot())).toBeLessThanOrEqual(0.005);
  await view.close();
});
