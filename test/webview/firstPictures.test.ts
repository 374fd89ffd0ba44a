import { expect, it } from 'vitest';
import type { ViewData } from '../../src/kernel/picture/graph/viewData.ts';
import { openPage, type OpenPage } from './support/browserPage.ts';
import { captureData, failedData, modelData } from './support/captureData.ts';
import { differenceFrom } from './support/comparePictures.ts';
import { contactSheet } from './support/contactSheet.ts';
import { manyGroups } from './support/manyGroups.ts';
import { skipGroups } from './support/skipGroups.ts';
import { useViews } from './support/useViews.ts';
import { cutWithoutTooltip, overlapping, recordCanvasTexts, writtenTexts } from './support/writtenTexts.ts';

const views = useViews();

const models: Record<string, () => ViewData | Promise<ViewData>> = {
  'one-foreign-node': () => captureData('vit_tiny', 'tensorrt-10.6.0/vit_tiny.fp16'),
  convolutions: () => captureData('resnet18', 'tensorrt-10.6.0/resnet18.fp32'),
  transformer: () => captureData('bert_base', 'tensorrt-10.6.0/bert_base.fp16'),
  quantized: () => captureData('resnet18_qdq', 'tensorrt-10.6.0/resnet18_qdq.fp32'),
  'if-and-loop': () => captureData('loop_if', 'tensorrt-10.6.0/loop_if.fp32'),
  '14000-nodes': () => captureData('deep_encoder_11k', 'tensorrt-10.6.0/deep_encoder_11k.fp32'),
  'detector-without-build': () => modelData('yolo_like'),
  'u-net': () => skipGroups(),
  '20-groups': () => manyGroups(20),
  failure: () => failedData('unsupported_op', 'tensorrt-10.6.0/unsupported_op.fp32'),
};

const sizes = [
  { width: 1500, height: 900 },
  { width: 1000, height: 700 },
  { width: 640, height: 640 },
];
const themes = ['vscode-light', 'vscode-dark', 'vscode-high-contrast'];

/** Shows data as for the first time, in a window of that size. */
async function showFirst(view: OpenPage, size: (typeof sizes)[number], text: string): Promise<void> {
  await view.page.setViewportSize(size);
  await view.page.evaluate(() => window.postMessage({ method: 'show', args: [null, ''] }, '*'));
  await view.still();
  const painted = await view.page.evaluate((shown) => {
    (window as unknown as { kept: unknown }).kept = undefined;
    const before = performance.getEntriesByName('graph-painted').length;
    window.postMessage(JSON.parse(shown), '*');
    return before;
  }, text);
  await view.page.waitForFunction((count) => performance.getEntriesByName('graph-painted').length > count, painted);
}

async function setTheme(view: OpenPage, theme: string): Promise<void> {
  await view.page.emulateMedia({ colorScheme: theme === 'vscode-light' ? 'light' : 'dark' });
  await view.page.evaluate((name) => {
    document.body.className = name;
  }, theme);
  await view.still();
}

it.each(Object.keys(models))('the first picture of %s is readable in each window and theme', async (name) => {
  const view = await openPage(views.browser, 'about:blank', sizes[0]);
  await recordCanvasTexts(view.page);
  await view.page.goto(`${views.server.url}/editor/graph?theme=vscode-light`);
  await view.page.evaluate(() => Promise.all([...document.fonts].map((font) => font.load())));
  const text = JSON.stringify({ method: 'show', args: [await models[name]!(), ''] });
  const faults: string[] = [];
  const pictures: Record<string, Buffer[]> = Object.fromEntries(themes.map((theme) => [theme, []]));
  for (const size of sizes) {
    await showFirst(view, size, text);
    for (const theme of themes) {
      await setTheme(view, theme);
      const texts = await writtenTexts(view.page);
      expect(texts.filter((one) => one.in === 'canvas').length).toBeGreaterThan(2);
      const small = texts.filter((one) => one.size < 11).map((one) => `${one.size} px: ${one.in} "${one.text}"`);
      const cut = await cutWithoutTooltip(view.page);
      const where = `${theme}, ${size.width} px`;
      faults.push(...[...overlapping(texts), ...small, ...cut].map((fault) => `${where}: ${fault}`));
      pictures[theme]!.push(await view.page.screenshot());
    }
  }
  // Groups are told apart by their names.
  const names = await view.page.locator('.legend-name').allTextContents();
  faults.push(...names.filter((one, i) => names.indexOf(one) !== i).map((one) => `two groups are called ${one}`));
  const sheet = await contactSheet(views.browser, Object.values(pictures).flat(), sizes);
  const { share, browsers } = await differenceFrom(views.browser, `first-${name}`, sheet);
  expect(faults).toEqual([]);
  expect(share, browsers).toBeLessThanOrEqual(0.005);
  expect(await view.axe()).toEqual([]);
  expect(await view.faults()).toEqual([]);
  await view.close();
});
