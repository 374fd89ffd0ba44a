import { beforeAll, describe, expect, test } from 'vitest';
import type { ViewData } from '../../src/kernel/picture/graph/viewData.ts';
import type { OpenPage } from './support/browserPage.ts';
import { toEngineView } from '../../src/kernel/node/store/loadEngine.ts';
import { readLayerInfo } from '../../src/kernel/read/tensorrt/readLayerInfo.ts';
import { readNsysTrace } from '../../src/kernel/read/tensorrt/readTrace.ts';
import { createEngineReport } from '../../src/kernel/fusion/createReport.ts';
import { bytesOf } from '../../src/kernel/base/problem.ts';
import { readFixture } from '../support/fixtures.ts';
import { captureData } from './support/captureData.ts';
import { manyLayers } from './support/manyLayers.ts';
import { openInEditor, useViews } from './support/useViews.ts';

const views = useViews();
let vit: ViewData;

beforeAll(async () => {
  vit = await captureData('vit_tiny', 'tensorrt-10.6.0/vit_tiny.fp16');
});

/** The view of an engine with the times of a trace of nsys. */
async function traced(name: string): Promise<ViewData> {
  const [engine] = name.split('/');
  const layers = readLayerInfo(new TextDecoder().decode(readFixture(`traces/${engine}/layers.json.gz`)));
  const trace = await readNsysTrace(bytesOf(readFixture(`traces/${name}.sqlite.gz`)));
  const made = createEngineReport({
    file: 'layers.json',
    log: undefined,
    layerInfo: layers.value,
    profile: trace.value,
    problems: [],
  });
  return toEngineView(made);
}

/** A fusion page in an editor with its timeline in view; checked at the end for faults. */
async function openTimeline(data: ViewData, theme = 'vscode-light', width = 1200, height = 900): Promise<OpenPage> {
  const opened = await openInEditor(views, 'fusion', theme, { width, height });
  await opened.post('show', data, '');
  await opened.page.locator('svg.timeline .bar').first().scrollIntoViewIfNeeded();
  await opened.still();
  return opened;
}

/** Drags along a drawing between two shares of its width. */
async function dragAlong({ page }: OpenPage, drawing: string, from: number, to: number): Promise<void> {
  const box = (await page.locator(drawing).boundingBox())!;
  await page.mouse.move(box.x + from * box.width, box.y + 8);
  await page.mouse.down();
  await page.mouse.move(box.x + ((from + to) / 2) * box.width, box.y + 30, { steps: 3 });
  await page.mouse.move(box.x + to * box.width, box.y + 30, { steps: 3 });
  await page.mouse.up();
}

const bars = ({ page }: OpenPage) => page.locator('svg.timeline .bar').count();
const widest = ({ page }: OpenPage) =>
  page.evaluate(() =>
    Math.max(
      ...[...document.querySelectorAll('svg.timeline .bar .body')].map((bar) => Number(bar.getAttribute('width'))),
    ),
  );

/** Whether the drawing of the flow mentions a module. */
const flowShows = ({ page }: OpenPage, id: string) => page.locator(`.flow [data-id="${id}"]`).count();

describe('the timeline of kernels', () => {
  test('draws the median pass of a trace with its gaps; table and details have percentiles, launches and gaps', async () => {
    const opened = await openTimeline(await traced('vit_tiny.fp16/plain'));
    const { page } = opened;
    await page.waitForSelector('text=The median pass of the trace, with its gaps.');
    // What belongs to no layer, while nothing is selected.
    await page.waitForSelector('text=A pass through the engine, of 3 in the trace');
    await page.waitForSelector('text=5 copies to the device, 12.7 MiB');
    // The layers take 0.3 ms, the pass with its gaps 0.9 ms.
    const last = await page.locator('svg.timeline .axis text').last().textContent();
    expect(Number.parseFloat(last!)).toBeGreaterThan(0.7);
    await page.locator('svg.timeline .bar').first().click();
    await page.waitForSelector('text=p50, p90, p99');
    await page.waitForSelector('text=/3 in the trace, on the host .* each/');
    await page.click('#tab-table');
    await page.waitForSelector('.table-row');
    const titles = await page.locator('.table-sort').allTextContents();
    expect(titles).toEqual(expect.arrayContaining(['p50', 'p90', 'p99', 'Launches', 'Launch', 'Gap Before']));
  });

  test('has an axis in milliseconds, zooms by wheel, keys and buttons, and comes back', async () => {
    const opened = await openTimeline(vit);
    const { page } = opened;
    const ticks = () => page.locator('svg.timeline .axis text').allTextContents();
    expect((await ticks()).at(0)).toBe('0.0 ms');
    expect(await bars(opened)).toBe(90);
    const box = (await page.locator('svg.timeline').boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + 30);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -120);
    await page.keyboard.up('Control');
    await opened.still();
    const closer = await bars(opened);
    expect(closer).toBeLessThan(45);
    expect((await ticks())[0]).not.toBe('0.0 ms');
    await page.locator('svg.timeline .bar').nth(12).focus();
    await page.keyboard.press('+');
    expect(await bars(opened)).toBeLessThan(closer);
    await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.press('0');
    expect(await bars(opened)).toBe(90);
    await page.click('.timeline-section .axis-tools button:text-is("+")');
    expect(await bars(opened)).toBeLessThan(90);
    await page.click('.timeline-section .axis-tools button:text-is("Whole Axis")');
    expect(await bars(opened)).toBe(90);
    expect(await page.isDisabled('.timeline-section .axis-tools button:text-is("Whole Axis")')).toBe(true);
  });

  test('a plain wheel over it scrolls the page', async () => {
    const opened = await openTimeline(vit, 'vscode-light', 1200, 500);
    const top = () => opened.page.evaluate(() => document.querySelector('.charts')!.scrollTop);
    const [before, wide] = [await top(), await widest(opened)];
    await opened.page.hover('svg.timeline');
    await opened.page.mouse.wheel(0, 120);
    await opened.page.waitForFunction((was) => document.querySelector('.charts')!.scrollTop > was, before);
    expect(await widest(opened)).toBe(wide);
  });

  test('a range by dragging: charts and table follow, and Show Whole Run leads back', async () => {
    const opened = await openTimeline(vit);
    const { page } = opened;
    expect(await flowShows(opened, 'group:single')).toBe(1);
    await dragAlong(opened, 'svg.timeline', 0.3, 0.6);
    await page.waitForSelector('.range-bar:not([hidden])');
    expect((await opened.sent()).filter(({ method }) => method === 'selected')).toEqual([]);
    const said = (await page.textContent('.range-bar span'))!;
    const kernels = Number(/^Range of (\d+) layers, /.exec(said)![1]);
    expect(kernels).toBeGreaterThan(15);
    expect(kernels).toBeLessThan(45);
    expect(await flowShows(opened, 'group:single')).toBe(0);
    expect(await page.textContent('.icicle')).not.toContain('patch_embed');
    await page.click('#tab-table');
    expect(await page.textContent('.table-count')).toBe(`${kernels} layers`);
    await page.click('.range-bar button:text-is("Show Whole Run")');
    expect(await page.textContent('.table-count')).toBe('90 layers');
    await page.click('#tab-charts');
    expect(await flowShows(opened, 'group:single')).toBe(1);
    expect(await page.locator('.range-bar:not([hidden])').count()).toBe(0);
  });

  test('a range by keys, zoomed to, and left by Escape', async () => {
    const opened = await openTimeline(vit);
    const { page } = opened;
    await page.locator('svg.timeline .bar').nth(10).focus();
    await page.keyboard.press('[');
    for (let step = 0; step < 4; step += 1) await page.keyboard.press('ArrowRight');
    await page.keyboard.press(']');
    expect(await page.textContent('.range-bar span')).toContain('Range of 5 layers');
    await page.click('.range-bar button:text-is("Zoom to Range")');
    expect(await bars(opened)).toBeLessThan(9);
    await page.focus('.range-bar button');
    await page.keyboard.press('Escape');
    expect(await page.locator('.range-bar:not([hidden])').count()).toBe(0);
  });

  test('a lane a stream', async () => {
    const data = structuredClone(vit);
    for (const layer of data.report!.layers) layer.stream = layer.id % 3 === 0 ? 1 : 0;
    const opened = await openTimeline(data);
    expect(await opened.page.locator('svg.timeline .lane').allTextContents()).toEqual(['Stream 0', 'Stream 1']);
    await opened.shot('timeline-streams');
  });

  test('joins what is too narrow: 25,000 kernels stay drawable, and each can be reached', async () => {
    const opened = await openTimeline(manyLayers(25_000));
    const { page } = opened;
    expect(await bars(opened)).toBeLessThan(400);
    expect(await page.textContent('.timeline-section .note')).toContain('zoom in to see each');
    await page.locator('svg.timeline .bar').first().focus();
    for (let step = 0; step < 16; step += 1) await page.keyboard.press('+');
    expect(await page.getAttribute('svg.timeline .bar', 'aria-label')).toMatch(/^Layer \d+, /);
  });

  test('without times the order is all there is', async () => {
    const data = structuredClone(vit);
    for (const layer of data.report!.layers) layer.averageMs = null;
    for (const foreign of data.report!.foreignNodes) foreign.averageMs = null;
    const opened = await openTimeline(data);
    expect(await opened.page.textContent('.timeline-section .note')).toContain('No timing data');
    expect(await opened.page.locator('svg.timeline .axis text').first().textContent()).toBe('0');
  });

  test.each([
    ['vscode-light', 1200, 900],
    ['vscode-dark', 2560, 1440],
    ['vscode-high-contrast', 800, 600],
  ])('axe finds nothing in %s at %i × %i with a range', async (theme, width, height) => {
    const opened = await openTimeline(vit, theme, width, height);
    await dragAlong(opened, 'svg.timeline', 0.2, 0.5);
    await opened.page.locator('svg.timeline .bar').nth(20).click();
    expect(await opened.axe()).toEqual([]);
    await opened.shot(`timeline-vit_tiny-${theme}-${width}`);
  });
});

describe('the timeline of a build', () => {
  const stages = [
    { stage: 'parse', ms: 2000 },
    { stage: 'optimize', ms: 3000 },
    { stage: 'tactics', ms: 12_000 },
    { stage: 'finalize', ms: 3000 },
  ] as const;
  const built = (): ViewData => {
    const data = structuredClone(vit);
    data.build!.timeLine = { totalMs: 20_000, stages: [...stages], slowest: [] };
    return data;
  };

  test('has an axis in seconds; a stage is shown alone by click or Enter, and Escape leads back', async () => {
    const opened = await openTimeline(built());
    const { page } = opened;
    const rows = async () =>
      (await page.locator('.build-time .stage .value').allTextContents()).map((text) => text.trim());
    expect(await rows()).toEqual(['2.00 s · 10 %', '3.00 s · 15 %', '12.0 s · 60 %', '3.00 s · 15 %']);
    expect(await page.locator('.build-time .axis text').allTextContents()).toContain('10 s');
    await page.locator('.build-time .stage').nth(2).click();
    expect(await rows()).toEqual(['12.0 s · 100 %']);
    expect(await page.textContent('.build-time .note')).toBe('5.00 s to 17.0 s of the build: 12.0 s');
    await page.locator('.build-time .stage').first().focus();
    await page.keyboard.press('Escape');
    expect(await rows()).toHaveLength(4);
    await page.locator('.build-time .stage').first().focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await rows()).toEqual(['3.00 s · 100 %']);
    await page.click('.build-time button:text-is("Show Whole Build")');
    expect(await rows()).toHaveLength(4);
  });

  test('a part by dragging has the shares of its stages, and zooming changes no number', async () => {
    const opened = await openTimeline(built());
    const { page } = opened;
    await page.locator('.build-time svg').scrollIntoViewIfNeeded();
    const [from, to] = await page.evaluate(() => {
      const spans = [...document.querySelectorAll('.build-time .span')].map((span) => span.getBoundingClientRect());
      const { left, width } = document.querySelector('.build-time svg')!.getBoundingClientRect();
      return [(spans[0]!.left - left) / width, (spans[1]!.right - left) / width];
    });
    await dragAlong(opened, '.build-time svg', from!, to!);
    const values = await page.locator('.build-time .stage .value').allTextContents();
    expect(values.slice(0, 2).map((value) => value.split(' · ')[1])).toEqual(['40 %', '60 %']);
    await page.click('.build-time .axis-tools button:text-is("Whole Axis")');
    expect(await page.locator('.build-time .stage .value').allTextContents()).toEqual(values);
    await opened.shot('build-timeline-part');
    expect(await opened.axe()).toEqual([]);
  });
});
