import { describe, expect, it } from 'vitest';
import type { OpenPage } from './support/browserPage.ts';
import { captureData } from './support/captureData.ts';
import { boxOf, openGraphPage, selectionsOf } from './support/graphPage.ts';
import { useViews } from './support/useViews.ts';

const views = useViews();

const results = (view: OpenPage) => view.page.locator('.search-results > [data-at]');
const count = (view: OpenPage) => view.page.locator('.hits').textContent();

describe('search', () => {
  it('shows what it found where the overview does not hide it', async () => {
    const shown = await captureData('fusion_zoo', 'tensorrt-10.6.0/fusion_zoo.fp32');
    const view = await openGraphPage(views, shown);
    await view.page.setViewportSize({ width: 1100, height: 800 });
    await view.still();
    await view.page.keyboard.press('/');
    await view.page.keyboard.type('op:MatMul');
    const found = await results(view).count();
    let shownBeside = 0;
    for (let hit = 0; hit < found; hit++) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await view.page.keyboard.press('Enter');
      // oxlint-disable-next-line no-await-in-loop
      await view.still();
      // oxlint-disable-next-line no-await-in-loop
      const [box, overview] = await Promise.all([
        view.page.locator('[role=treeitem][aria-selected=true]').boundingBox(),
        view.page.locator('.graph-minimap').boundingBox(),
      ]);
      if (overview === null) continue;
      shownBeside += 1;
      expect(box!.x + box!.width < overview.x || box!.y + box!.height < overview.y).toBe(true);
    }
    expect(shownBeside).toBeGreaterThan(3);
    await view.close();
  });

  it('lists type and path of what matches all words, walks through it, and closes with Escape', async () => {
    const shown = await captureData('vit_tiny', 'tensorrt-10.6.0/vit_tiny.fp16');
    const view = await openGraphPage(views, shown);
    const { keyboard } = view.page;
    await keyboard.press('/');
    // One of the tasks: all Softmax nodes of one block.
    await keyboard.type('op:Softmax blocks.3');
    expect(await results(view).allTextContents()).toEqual(['Softmax /blocks/blocks.3/attn/Softmax']);
    await view.page.locator('.graph-search input').fill('op:MatMul dtype:fp16 group:0');
    const found = await count(view);
    expect(found).toMatch(/^\d+ results$/);
    expect(await results(view).count()).toBe(Number(found!.split(' ')[0]));
    await keyboard.press('Enter');
    await keyboard.press('Enter');
    await keyboard.press('Shift+Enter');
    await view.still();
    expect(await count(view)).toMatch(/^1 of /);
    const active = view.page.locator('.search-results [aria-selected=true]');
    const name = (await active.textContent())!.replace('MatMul ', '');
    const node = shown.graph!.nodes.find((one) => one.name === name)!;
    expect((await selectionsOf(view)).at(-1)).toEqual({ kind: 'nodes', ids: [node.id] });
    expect(await boxOf(view, `node:${node.id}`).getAttribute('aria-selected')).toBe('true');
    await view.shot('graph-search');
    expect(await view.axe()).toEqual([]);
    await results(view).nth(2).click();
    await view.still();
    expect(await count(view)).toMatch(/^3 of /);
    await keyboard.press('Escape');
    expect(await view.page.locator('.search-results').isHidden()).toBe(true);
    expect(await view.page.locator('.graph-search input').inputValue()).toBe('');
    expect(await view.page.evaluate(() => document.activeElement?.getAttribute('role'))).toBe('treeitem');
    expect(await view.faults()).toEqual([]);
    await view.close();
  });

  it('lists the first 200 of many results with the true count', async () => {
    const shown = await captureData('deep_encoder_11k', 'tensorrt-10.6.0/deep_encoder_11k.fp32');
    const view = await openGraphPage(views, shown);
    await view.page.keyboard.press('/');
    await view.page.keyboard.type('fate:foreign');
    const foreign = shown.report!.accounting.foreign;
    expect(foreign).toBeGreaterThan(1000);
    const text = foreign.toLocaleString('en-US');
    expect(await count(view)).toBe(`${text} results`);
    expect(await results(view).count()).toBe(200);
    expect(await view.page.locator('.search-results > :last-child').textContent()).toBe(
      `… ${(foreign - 200).toLocaleString('en-US')} more. Add a word to narrow the search.`,
    );
    await view.page.keyboard.press('Shift+Enter');
    await view.still();
    expect(await count(view)).toBe(`${text} of ${text}`);
    expect(await view.faults()).toEqual([]);
    await view.close();
  });
});
