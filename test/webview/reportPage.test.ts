import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { ViewData } from '../../src/kernel/picture/graph/viewData.ts';
import { fixturePath, modelPath } from '../support/fixtures.ts';
import { openPage, type OpenPage } from './support/browserPage.ts';
import { captureData } from './support/captureData.ts';
import { useViews } from './support/useViews.ts';

const views = useViews();
let zoo: ViewData;

beforeAll(async () => {
  zoo = await captureData('fusion_zoo', 'tensorrt-10.6.0/fusion_zoo.fp32');
});

/** Opens an address and checks at the end that nothing went wrong on it. */
async function open(url: string, options: Parameters<typeof openPage>[2] = {}): Promise<OpenPage> {
  const opened = await openPage(views.browser, url, { width: 1500, height: 1000, ...options });
  onTestFinished(async () => {
    expect(await opened.faults()).toEqual([]);
    await opened.close();
  });
  await opened.page.waitForSelector('html[data-shown]');
  return opened;
}

function openData(data: ViewData, options: Parameters<typeof openPage>[2] = {}): Promise<OpenPage> {
  views.server.setData(data);
  return open(`${views.server.url}/`, options);
}

/** The row with this label, or of the ForeignNode with this number, which is at the end of its description. */
const row = ({ page }: OpenPage, label: string) => {
  const numbered = `.description:text-matches(${JSON.stringify(`(^|· )${label}$`)})`;
  return page
    .locator('.groups .row')
    .filter({ has: page.locator(`.label:text-is(${JSON.stringify(label)}), ${numbered}`) });
};

describe('the report page', () => {
  test('says which build this is', async () => {
    const { page } = await openData(zoo);
    expect(await page.title()).toBe('fusion_zoo.onnx · TensorRT Lens');
    expect(await page.textContent('.page-head h1')).toBe('fusion_zoo.onnx');
    expect(await page.textContent('.page-head .facts')).toContain('TensorRT 10.6.0');
    expect(await page.textContent('.page-head .badge')).toBe('recorded build');
  });

  test('a build made here has no badge', async () => {
    const { page } = await openData({ ...zoo, build: { ...zoo.build!, origin: 'built' } });
    expect(await page.isVisible('.page-head .badge')).toBe(false);
  });

  test('what is selected in the list is selected on the fusion page, and the other way round', async () => {
    const opened = await openData(zoo);
    const { page } = opened;
    await row(opened, 'ForeignNode 1').click();
    expect(await page.getAttribute('[data-id="group:foreign-1"]', 'aria-pressed')).toBe('true');
    expect(await row(opened, 'ForeignNode 1').getAttribute('aria-selected')).toBe('true');

    await page.click('[data-id="group:foreign-0"]');
    expect(await row(opened, 'ForeignNode 0').getAttribute('aria-selected')).toBe('true');
    expect(await row(opened, 'ForeignNode 1').getAttribute('aria-selected')).toBe('false');

    // A kernel opens the way to it.
    const layer = zoo.report!.layers.find(({ foreignNode, kind }) => foreignNode === 0 && kind === 'kernel')!;
    await page.click(`.timeline .bar[data-id="${layer.id}"]`);
    await page.waitForSelector('.groups .row[aria-selected="true"]');
    expect(await page.textContent('.groups .row[aria-selected="true"] .label')).toBe(layer.name);
  });

  test('what is selected before the graph is first seen is selected in it', async () => {
    const opened = await openData(zoo);
    await row(opened, 'ForeignNode 1').click();
    await opened.page.click('[data-tab="graph"]');
    await expect.poll(() => opened.page.textContent('.graph-inspector')).toContain('ForeignNode 1');
  });

  test('what is selected in the list or on the fusion page reaches the graph', async () => {
    const opened = await openData(zoo);
    const { page } = opened;
    await page.click('[data-tab="both"]');
    await row(opened, 'ForeignNode 1').click();
    const inspector = page.locator('.graph-inspector');
    await expect.poll(() => inspector.textContent()).toContain('ForeignNode 1');
    await page.click('[data-id="group:foreign-0"]');
    await expect.poll(() => inspector.textContent()).toContain('ForeignNode 0');
  });

  test('the tabs show one view, the other, or both beside each other', async () => {
    const { page } = await openData(zoo);
    const visible = async () => [await page.isVisible('.fusion-view'), await page.isVisible('.graph-view')];
    expect(await visible()).toEqual([true, false]);
    await page.click('[data-tab="graph"]');
    expect(await visible()).toEqual([false, true]);
    await page.click('[data-tab="both"]');
    expect(await visible()).toEqual([true, true]);
    await page.reload();
    await page.waitForSelector('html[data-shown]');
    expect(await visible()).toEqual([true, true]);
    const before = (await page.locator('.graph-view').boundingBox())!.width;
    await page.locator('.views > .splitter').focus();
    await page.keyboard.press('ArrowLeft');
    expect((await page.locator('.graph-view').boundingBox())!.width).toBeLessThan(before);
  });

  test('what a person chose is still so after a reload', async () => {
    const { page } = await openData(zoo);
    await page.click('[data-weight="nodes"]');
    const closed = await page.locator('.flow .block').count();
    await page.locator('.flow .handle', { hasText: '⊕' }).first().click();
    const opened = await page.locator('.flow .block').count();
    expect(opened).toBeGreaterThan(closed);
    await page.reload();
    await page.waitForSelector('.flow .block');
    expect(await page.getAttribute('[data-weight="nodes"]', 'aria-pressed')).toBe('true');
    expect(await page.locator('.flow .block').count()).toBe(opened);
  });

  test('the list works with the keyboard alone', async () => {
    const opened = await openData(zoo);
    const { page } = opened;
    const current = () => page.evaluate(() => document.activeElement?.querySelector('.label')?.textContent ?? '');
    await page.locator('.groups .row').first().focus();
    expect(await current()).toBe('to_tokens … to_map · MLP + LayerNorm ×2 + Attention');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-level'))).toBe('2');
    await page.keyboard.press('End');
    expect(await current()).toBe('Unknown');
    await page.keyboard.press('Enter');
    expect(await page.getAttribute('.legend [data-fate="unknown"]', 'aria-pressed')).toBe('true');
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowLeft');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-expanded'))).toBe('false');
  });

  test('the search keeps what fits, and says how much that is', async () => {
    const opened = await openData(zoo);
    const { page } = opened;
    await page.fill('.groups input[type="search"]', 'softmax_attention');
    const nodes = zoo.report!.nodes.filter(({ name }) => name.includes('softmax_attention')).length;
    expect(await page.textContent('.groups [role="status"]')).toContain(`${nodes} nodes`);
    expect(await row(opened, 'ForeignNode 0').count()).toBe(1);
    expect(await row(opened, 'ForeignNode 2').count()).toBe(0);
  });

  test('the theme follows the system until a person chooses', async () => {
    const { page } = await openData(zoo, { theme: 'dark' });
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect(await ground()).toBe('rgb(27, 30, 36)');
    await page.selectOption('.theme select', 'light');
    expect(await ground()).toBe('rgb(255, 255, 255)');
    await page.reload();
    await page.waitForSelector('html[data-shown]');
    expect(await ground()).toBe('rgb(255, 255, 255)');
  });

  test('thousands of kernels are listed a page at a time', async () => {
    const opened = await openData(await captureData('deep_encoder_11k', 'tensorrt-10.6.0/deep_encoder_11k.fp32'));
    const { page } = opened;
    await page.locator('.groups .row').first().focus();
    await page.keyboard.press('ArrowRight');
    const kernels = page.locator('.groups .row .label', { hasText: /^Kernels \(/ });
    await kernels.dblclick();
    expect(await page.locator('.groups .row').count()).toBeLessThan(130);
    await page.locator('.groups .row .label', { hasText: / more$/ }).click();
    expect(await page.locator('.groups .row').count()).toBeGreaterThan(200);
  });

  test('a model without a build is shown as such', async () => {
    const opened = await openData({ ...zoo, report: null, build: null });
    expect(await opened.page.isVisible('.side')).toBe(false);
    expect(await opened.page.textContent('.fusion-view')).toContain('No build is known');
    expect(await opened.axe()).toEqual([]);
  });

  test.each(['light', 'dark'] as const)('axe finds nothing in any tab (%s)', async (theme) => {
    const opened = await openData(zoo, { theme });
    for (const tab of ['fusion', 'both', 'graph']) {
      await opened.page.click(`[data-tab="${tab}"]`);
      await row(opened, 'ForeignNode 0').click();
      expect(await opened.axe()).toEqual([]);
      await opened.shot(`page-fusion_zoo-${tab}-${theme}`);
    }
  });
});

describe('the report as one file', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trtlens-page-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('opens from disk with nothing beside it, under its own policy', async () => {
    const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
    const capture = fixturePath('captures/tensorrt-10.6.0/fusion_zoo.fp32');
    const output = join(folder, 'report.html');
    const files = [
      '--log',
      `${capture}/log.txt.gz`,
      '--layers',
      `${capture}/layers.json`,
      '--profile',
      `${capture}/profile.json`,
    ];
    execFileSync(process.execPath, [cli, 'report', '--onnx', modelPath('fusion_zoo'), ...files, '-o', output]);
    const opened = await open(pathToFileURL(output).href);
    const { page } = opened;
    expect(await page.locator('meta[http-equiv="Content-Security-Policy"]').count()).toBe(1);
    expect(await page.textContent('[data-figure="layers"]')).toBe('24 layers');
    await page.click('[data-id="group:foreign-1"]');
    expect(await row(opened, 'ForeignNode 1').getAttribute('aria-selected')).toBe('true');
    await page.click('[data-tab="both"]');
    expect(await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name))).toEqual([]);
  });
});

test('the graph acts on the keys that an editor contributes', async () => {
  views.server.setData(zoo);
  const view = await open(views.server.url);
  const { page } = view;
  await page.click('[data-tab="graph"]');
  await page.waitForFunction(() => performance.getEntriesByName('graph-painted').length > 0);
  await view.still();
  await page.keyboard.press('Control+f');
  expect(await page.evaluate(() => document.activeElement?.getAttribute('role'))).toBe('combobox');
  await page.keyboard.type('op:LayerNormalization');
  await page.keyboard.press('F3');
  await view.still();
  expect(await page.locator('.hits').textContent()).toMatch(/^1 of /);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Alt+i');
  await view.still();
  expect(await page.locator('.graph-place').textContent()).toContain('the selection and 1 step around it');
  await page.keyboard.press('Alt+a');
  await view.still();
  expect(await page.locator('.graph-part').isHidden()).toBe(true);
});
