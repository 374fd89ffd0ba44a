import { expect, it } from 'vitest';
import type { ViewData } from '../../src/kernel/picture/graph/viewData.ts';
import { openPage } from './support/browserPage.ts';
import { captureData, engineData } from './support/captureData.ts';
import { differenceFrom } from './support/comparePictures.ts';
import { manyGroups } from './support/manyGroups.ts';
import { useViews } from './support/useViews.ts';

const views = useViews();

const models: Record<string, () => ViewData | Promise<ViewData>> = {
  'three-groups': () => captureData('fusion_zoo', 'tensorrt-10.6.0/fusion_zoo.fp32'),
  '200-groups': () => manyGroups(200),
  'engine-only': () => engineData('tensorrt-10.6.0/fusion_zoo.fp32'),
};

type PictureVariant = { theme: string; width: number; height: number };
const usual: PictureVariant = { theme: 'vscode-light', width: 1280, height: 800 };
const dark: PictureVariant = { theme: 'vscode-dark', width: 2560, height: 1440 };

it.each<[picture: string, model: string, look: PictureVariant]>([
  ...Object.keys(models).map((model): [string, string, PictureVariant] => [model, model, usual]),
  ['three-groups-dark', 'three-groups', dark],
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
