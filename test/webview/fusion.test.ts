import { beforeAll, describe, expect, test } from 'vitest';
import type { ViewData } from '../../src/kernel/picture/graph/viewData.ts';
import { openPage, type OpenPage } from './support/browserPage.ts';
import { captureData } from './support/captureData.ts';
import { openInEditor, useViews } from './support/useViews.ts';
import { accountingOf } from '../../src/kernel/fusion/internal/nodeFates.ts';

const views = useViews();
let vit: ViewData;

beforeAll(async () => {
  vit = await captureData('vit_tiny', 'tensorrt-10.6.0/vit_tiny.fp16');
});

/** The page as an editor opens it, with data; checked at the end for faults. */
async function openFusion(data: ViewData | null, theme = 'vscode-light', width = 1200): Promise<OpenPage> {
  const opened = await openInEditor(views, 'fusion', theme, { width, height: 1100 });
  await opened.post('show', data, data === null ? 'No build yet.' : '');
  await opened.page.waitForSelector(data === null ? '.blank h1' : '.flow .block');
  await opened.still();
  return opened;
}

const selections = async (opened: OpenPage): Promise<unknown[]> =>
  (await opened.sent()).filter(({ method }) => method === 'selected').map(({ args }) => args[0]);

const lit = ({ page }: OpenPage, marks: string): Promise<number> => page.locator(`${marks}.on`).count();

describe('the fusion page in an editor', () => {
  test('says it is ready, and shows what became of the model', async () => {
    const opened = await openFusion(vit);
    const { page } = opened;
    expect((await opened.sent()).map(({ method }) => method)).toContain('ready');
    const { accounting } = vit.report!;
    expect(await page.locator('[data-figure="foreign"]').getAttribute('title')).toContain(
      `${accounting.foreign} of 636 nodes`,
    );
    expect(await page.textContent('.legend [data-fate="foreign"] small')).toBe('108 derived');
    const counts = await page.locator('.legend button b').allTextContents();
    const numbers = counts.map((text) => Number(text.split(' ')[0]!.replace(',', '')));
    expect(numbers.reduce((sum, value) => sum + value, 0)).toBe(accounting.total);
    expect(await page.locator('.funnel li b').allTextContents()).toEqual(['897', '2', '3']);
    expect(await page.locator('.timeline .bar').count()).toBe(vit.report!.layers.length);
    expect(await page.locator('.flow .block.in-groups').count()).toBe(3);
    expect(await page.locator('.icicle .cell').count()).toBeGreaterThan(30);
  });

  test('names groups in full at 800 pixels, rather than part of a name and its share', async () => {
    const shown = await captureData('fusion_zoo', 'tensorrt-10.6.0/fusion_zoo.fp32');
    const titles = shown.report!.foreignNodes.map(({ title = '' }) => title);
    const { page } = await openFusion(shown, undefined, 800);
    const names = await page.locator('.texts.in-groups .label').allTextContents();
    expect(names).toContain('Single-node layers');
    // The content of a ForeignNode may be longer than its block; what it says as a whole is its tooltip.
    const isTitle = (cut: string) => titles.some((title) => title.startsWith(cut.slice(0, -1)));
    expect(names.filter((name) => name.endsWith('…') && !isTitle(name))).toEqual([]);
  });

  test('a click anywhere lights up the same everywhere, and tells the host', async () => {
    const opened = await openFusion(vit);
    const { page } = opened;
    await page.click('[data-id="group:foreign-0"]');
    expect(await selections(opened)).toEqual([{ kind: 'foreignNode', id: 0 }]);
    const kernels = vit.report!.foreignNodes[0]!.layers.length;
    expect(await lit(opened, '.timeline .bar')).toBe(kernels);
    expect(await page.getAttribute('[data-id="group:foreign-0"]', 'aria-pressed')).toBe('true');
    expect(await page.textContent('.details h2')).toBe('blocks.0–11 · Attention ×12 + MLP ×12');
    expect(await lit(opened, '[data-id="group:single"]')).toBe(0);

    await page.locator('.timeline .bar').nth(1).click();
    expect((await selections(opened)).at(-1)).toEqual({ kind: 'layers', ids: [1] });
    expect(await page.textContent('.details .name')).toBe('/patch_embed/proj/Conv');
    expect(await lit(opened, '.flow .block.in-modules')).toBe(1);

    await page.click('.details li button[title="/patch_embed/proj/Conv"]');
    expect((await selections(opened)).at(-1)).toEqual({ kind: 'nodes', ids: [vit.report!.layers[1]!.nodes[0]] });

    await page.locator('.legend [data-fate="folded"]').click();
    expect((await selections(opened)).at(-1)).toEqual({ kind: 'fate', fate: 'folded' });
    await page.locator('.legend [data-fate="folded"]').click();
    expect((await selections(opened)).at(-1)).toEqual({ kind: 'none' });
  });

  test('what the host selects lights up, and is not sent back', async () => {
    const opened = await openFusion(vit);
    await opened.post('select', { kind: 'layers', ids: [5, 6] });
    await opened.page.waitForSelector('.timeline .bar.on');
    expect(await lit(opened, '.timeline .bar')).toBe(2);
    expect(await opened.page.textContent('.details h2')).toBe('2 layers of the engine');
    expect(await selections(opened)).toEqual([]);
  });

  test.each(['hidden', 'without a size'])('draws what came while it was %s, without a complaint', async (how) => {
    const opened = await openPage(views.browser, `${views.server.url}/editor/fusion`, { width: 1200, height: 900 });
    const room = (hidden: boolean) =>
      opened.page.evaluate(
        ([off, gone]) => {
          const root = document.getElementById('root')!;
          root.hidden = off && gone;
          root.style.setProperty('width', off ? '0' : '');
          root.style.setProperty('height', off ? '0' : '');
        },
        [hidden, how === 'hidden'] as const,
      );
    await room(true);
    await opened.post('show', vit, '');
    await opened.page.waitForFunction(() => document.querySelector('.fusion-body:not([hidden])') !== null);
    expect(await opened.page.locator('.flow .block').count()).toBe(0);
    await room(false);
    await opened.page.waitForSelector('.flow .block');
    await opened.page.setViewportSize({ width: 800, height: 700 });
    await opened.page.waitForFunction(() => (document.querySelector('svg.flow')?.clientWidth ?? 999) < 800);
    expect((await opened.sent()).map(({ method }) => method)).toEqual(['ready']);
    expect(await opened.faults()).toEqual([]);
    await opened.close();
  });

  test('what is selected but not there fades nothing', async () => {
    const opened = await openFusion(vit);
    for (const selection of [
      { kind: 'foreignNode', id: 99 },
      { kind: 'nodes', ids: [] },
    ]) {
      await opened.post('select', { kind: 'foreignNode', id: 0 });
      await opened.page.waitForSelector('.flow.selecting');
      await opened.post('select', selection);
      await opened.page.waitForSelector('.flow:not(.selecting)');
      expect(await opened.page.locator('svg.selecting').count()).toBe(0);
    }
  });

  test('a build of a model without nodes, or without time, has shares of nothing', async () => {
    const data = structuredClone(vit);
    data.report!.nodes = [];
    data.report!.accounting = accountingOf([]);
    data.build = { ...data.build!, timeLine: { totalMs: 0, stages: [{ stage: 'parse', ms: 0 }], slowest: [] } };
    const opened = await openFusion(data);
    await opened.page.click('[data-weight="nodes"]');
    expect(await opened.page.textContent('.icicle')).toContain('0 %');
    expect(await opened.page.textContent('.build-time')).toContain('0 %');
    expect(await opened.page.content()).not.toContain('NaN');
  });

  test('a ribbon selects the nodes that flow through it', async () => {
    const opened = await openFusion(vit);
    const box = await opened.page.locator('.flow [data-id="group:single"] .body').boundingBox();
    // Left of the block, on the ribbon into it.
    await opened.page.mouse.click(box!.x - 3, box!.y + box!.height / 2);
    expect(await selections(opened)).toEqual([{ kind: 'nodes', ids: [vit.report!.layers[1]!.nodes[0]] }]);
  });

  test('widths are time or nodes', async () => {
    const opened = await openFusion(vit);
    const { page } = opened;
    const folded = page.locator('.flow [data-id="group:fate-folded"]');
    expect(await folded.count()).toBe(0);
    await page.click('[data-weight="nodes"]');
    expect(await folded.count()).toBe(1);
    expect(await page.getAttribute('[data-weight="nodes"]', 'aria-pressed')).toBe('true');
    expect(await page.textContent('.icicle-section h2')).toContain('Nodes by module');
  });

  test('the keyboard alone: into the flow, along it, select, open, close, clear', async () => {
    const opened = await openFusion(vit);
    const { page } = opened;
    const focused = () => page.evaluate(() => (document.activeElement as HTMLElement | null)?.dataset['id'] ?? '');
    await page.focus('[data-weight="nodes"]');
    await page.keyboard.press('Tab');
    expect(await focused()).toMatch(/^module:/);
    await page.keyboard.press('ArrowRight');
    expect(await focused()).toMatch(/^group:/);
    await page.keyboard.press('ArrowRight');
    expect(await focused()).toMatch(/^(layer|kernels):/);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await selections(opened)).toHaveLength(1);
    await page.keyboard.press('Home');
    expect(await focused()).toMatch(/^module:/);
    for (let step = 0; step < 3; step += 1) await page.keyboard.press('ArrowDown');
    expect(await focused()).toBe('module:blocks/blocks.#*');
    await page.keyboard.press('+');
    expect(await page.locator('[data-id="module:blocks/blocks.7"]').count()).toBe(1);
    expect(await focused()).toMatch(/^module:/);
    await page.keyboard.press('-');
    expect(await page.locator('[data-id="module:blocks/blocks.7"]').count()).toBe(0);
    await page.keyboard.press('Escape');
    expect((await selections(opened)).at(-1)).toEqual({ kind: 'none' });
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.closest('.timeline-section') !== null)).toBe(true);
    await page.focus('.timeline .bar[tabindex="0"]');
    await page.keyboard.press('End');
    await page.keyboard.press(' ');
    expect((await selections(opened)).at(-1)).toEqual({ kind: 'layers', ids: [89] });
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('model');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('+');
    expect(await page.locator('.icicle-section .path button').count()).toBeGreaterThan(0);
  });

  test('keeps what was open when it is hidden and shown again', async () => {
    const opened = await openFusion(vit);
    await opened.page.click('[data-weight="nodes"]');
    const kept = await opened.page.evaluate(() => (window as unknown as { kept: unknown }).kept);
    expect(kept).toMatchObject({ fusion: { weight: 'nodes' } });
  });

  test('without a build it says what to do', async () => {
    const opened = await openFusion(null);
    expect(await opened.page.textContent('.blank')).toContain('No build yet.');
    await opened.page.click('.blank button.primary');
    expect((await opened.sent()).at(-1)).toEqual({ method: 'run', args: ['build', []] });
    expect(await opened.axe()).toEqual([]);
  });

  test('names from a model are text, whatever they contain', async () => {
    const evil = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
    const data = structuredClone(vit);
    for (const layer of data.report!.layers) layer.name = evil;
    for (const node of data.report!.nodes) node.name = `/${evil}/${node.op}`;
    const opened = await openFusion(data);
    await opened.page.locator('.timeline .bar').nth(5).click();
    expect(await opened.page.textContent('.details .name')).toBe(evil);
    expect(await opened.page.evaluate(() => 'hacked' in window)).toBe(false);
  });

  test.each(['vscode-light', 'vscode-dark', 'vscode-high-contrast', 'vscode-high-contrast-light vscode-high-contrast'])(
    'axe finds nothing in %s, with and without a selection',
    async (theme) => {
      const opened = await openFusion(vit, theme);
      expect(await opened.axe()).toEqual([]);
      await opened.page.click('[data-id="group:foreign-0"]');
      expect(await opened.axe()).toEqual([]);
      await opened.shot(`fusion-vit_tiny-${theme.split(' ')[0]!}`);
    },
  );
});

describe('what a stranger sees', () => {
  const builds: [model: string, capture: string, sentence: RegExp][] = [
    ['resnet18', 'tensorrt-10.6.0/resnet18.fp32', /^25 engine layers: 1 ForeignNode \(1 kernel\), 17 fused layers/],
    ['fusion_zoo', 'tensorrt-10.6.0/fusion_zoo.fp32', /^24 engine layers: 3 ForeignNodes \(20 kernels\)/],
    ['deep_encoder_11k', 'tensorrt-10.6.0/deep_encoder_11k.fp32', /^1 engine layer: 1 ForeignNode \(2,321 kernels\)\./],
    ['vit_tiny', 'tensorrt-8.6.1/vit_tiny.fp16', /^3 engine layers: 1 ForeignNode, /],
    ['vit_tiny', 'tensorrt-rtx-1.7.1/vit_tiny', /^1 engine layer: 1 ForeignNode \(209 kernels\)\.$/],
  ];
  test.each(builds)('%s as in %s', async (model, capture, sentence) => {
    const data = await captureData(model, capture);
    for (const theme of ['vscode-light', 'vscode-dark']) {
      const opened = await openFusion(data, theme);
      const { page } = opened;
      expect(await page.locator('[data-figure="layers"]').getAttribute('title')).toMatch(sentence);
      expect(await overlaps(opened)).toEqual([]);
      expect(await page.locator('.flow .block').count()).toBeLessThan(60);
      expect(await page.locator('svg *').count()).toBeLessThan(6000);
      await opened.shot(`fusion-${model}-${capture.split('/')[0]!}-${theme}`);
    }
  });

  test.each([560, 900, 1700])('no text overlaps another at %i pixels', async (width) => {
    const opened = await openFusion(
      await captureData('fusion_zoo', 'tensorrt-10.6.0/fusion_zoo.fp32'),
      'vscode-light',
      width,
    );
    expect(await overlaps(opened)).toEqual([]);
  });
});

/** Pairs of texts of one drawing whose boxes overlap by more than a hair. */
const overlaps = ({ page }: OpenPage): Promise<string[]> =>
  page.evaluate(() => {
    const found: string[] = [];
    for (const svg of document.querySelectorAll('svg')) {
      const texts = [...svg.querySelectorAll('text')]
        .filter((text) => text.textContent !== '')
        .map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }));
      for (const [i, a] of texts.entries()) {
        for (const b of texts.slice(i + 1)) {
          const across = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
          const down = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
          if (across > 2 && down > 4) found.push(`${a.text} × ${b.text}`);
        }
      }
    }
    return found;
  });
