import { expect, it } from 'vitest';
import type { ViewData } from '../../src/core/picture/graph/viewData.ts';
import { openPage } from './support/browserPage.ts';
import { captureData, engineData, failedData, modelData } from './support/captureData.ts';
import { differenceFrom } from './support/comparePictures.ts';
import { manyGroups } from './support/manyGroups.ts';
import { useViews } from './support/useViews.ts';

const views = useViews();

const models: Record<string, () => ViewData | Promise<ViewData>> = {
  'one-group': () => captureData('vit_tiny', 'tensorrt-10.6.0/vit_tiny.fp16'),
  'three-groups': () => captureData('fusion_zoo', 'tensorrt-10.6.0/fusion_zoo.fp32'),
  '20-groups': () => manyGroups(20),
  '200-groups': () => manyGroups(200),
  '12000-nodes': () => captureData('deep_encoder_11k', 'tensorrt-10.6.0/deep_encoder_11k.fp32'),
  'if-and-loop': () => captureData('loop_if', 'tensorrt-10.6.0/loop_if.fp32'),
  failure: () => failedData('unsupported_op', 'tensorrt-10.6.0/unsupported_op.fp32'),
  'no-build': () => modelData('resnet18'),
  'engine-only': () => engineData('tensorrt-10.6.0/fusion_zoo.fp32'),
};

type PictureVariant = { theme: string; width: number; height: number };
const usual: PictureVariant = { theme: 'vscode-light', width: 1280, height: 800 };
const dark: PictureVariant = { theme: 'vscode-dark', width: 2560, height: 1440 };
const contrast: PictureVariant = { theme: 'vscode-high-contrast', width: 800, height: 600 };

it.each<[picture: string, model: string, look: PictureVariant]>([
  ...Object.keys(models).map((model): [string, string, PictureVariant] => [model, model, usual]),
  ['three-groups-dark', 'three-groups', dark],
  ['failure-contrast', 'failure', contrast],
])('the picture of %s is as it was', async (picture, model, { theme, width, height }) => {
  const view = await openPage(views.browser, `${views.server.url}/editor/graph?theme=${theme}`, {
    theme: theme === 'vscode-light' ? 'light' : 'dark',
    width,
    height,
  });
  await view.still();
  await view.post('show', await models[model]!(), '');
  await view.page.waitForFunction(() => performance.getEntriesByName('graph-painted').length > 0);
  await view.still();
  const { share, browsers } = await differenceFrom(views.browser, picture, await view.page.screenshot());
  expect(share, browsers).toBeLessThanOrEqual(0.005);
  await view.close();
});
