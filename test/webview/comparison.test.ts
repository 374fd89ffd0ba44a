import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { toChangeGroups } from '../../src/features/diff/changeRows.ts';
import type { MarkedComparison } from '../../src/kernel/report/buildDiff.ts';
import type { ViewData } from '../../src/kernel/picture/graph/viewData.ts';
import { modelPath } from '../support/fixtures.ts';
import { openPage, type OpenPage } from './support/browserPage.ts';
import { comparisonData } from './support/comparisonData.ts';
import { openInEditor, useViews } from './support/useViews.ts';

const views = useViews();
let vit: ViewData;

beforeAll(async () => {
  vit = await comparisonData('vit_tiny', 'tensorrt-10.6.0/vit_tiny.fp32', 'tensorrt-10.6.0/vit_tiny.fp16');
});

/** The page of two builds in an editor; checked at the end for faults. */
async function openComparison(data: ViewData, theme = 'vscode-light', width = 1280, height = 900): Promise<OpenPage> {
  const opened = await openInEditor(views, 'compare', theme, { width, height });
  await opened.post('show', data, '');
  await opened.page.waitForSelector('.change-list li');
  await opened.page.waitForFunction(() => performance.getEntriesByName('graph-painted').length > 0);
  await opened.still();
  return opened;
}

const pressed = ({ page }: OpenPage) => page.locator('.change[aria-pressed="true"]').count();

describe('the comparison as one file', () => {
  test('is what trtlens diff --html writes: opens from disk under its own policy, with nothing beside it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'trtlens-diff-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const [a, b, output] = ['a.json', 'b.json', 'diff.html'].map((file) => join(folder, file)) as [
      string,
      string,
      string,
    ];
    await writeFile(a, JSON.stringify(vit.comparison!.before));
    await writeFile(b, JSON.stringify(vit.report));
    const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
    const said = execFileSync(process.execPath, [cli, 'diff', a, b, '--onnx', modelPath('vit_tiny'), '--html', output]);
    const { verdict } = vit.comparison!.diff;
    expect(verdict).toBe('36 % faster: 12 attentions fused, 12 × MatMul + GELU fused');
    expect(said.toString().split('\n')[1]).toBe(`${verdict}.`);
    const opened = await openPage(views.browser, pathToFileURL(output).href, { width: 1280, height: 900 });
    const { page } = opened;
    await page.waitForFunction(() => performance.getEntriesByName('graph-painted').length > 0);
    expect(await page.locator('meta[http-equiv="Content-Security-Policy"]').count()).toBe(1);
    expect(await page.textContent('.compare-sides')).toContain('a.json');
    await page.locator('.change').first().click();
    expect(await pressed(opened)).toBe(1);
    await page.locator('.change-evidence button').first().click();
    await page.waitForFunction(() => document.querySelector('.toast')?.textContent.includes('build log of A'));
    expect(await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name))).toEqual([]);
    expect(await opened.axe()).toEqual([]);
    expect(await opened.faults()).toEqual([]);
    await opened.close();
  });
});

describe('the page of two builds', () => {
  test('names both sides, and ranks the changes by what they cost', async () => {
    const opened = await openComparison(vit);
    const { page } = opened;
    expect((await opened.sent()).map(({ method }) => method)).toContain('ready');
    expect(await page.textContent('.compare-sides')).toContain('vit_tiny.fp32');
    const { changes, time } = vit.comparison!.diff;
    expect(time.aMs).toBeGreaterThan(time.bMs!);
    expect(await page.textContent('.compare-verdict')).toBe(`${vit.comparison!.diff.verdict}.`);
    const figures = await page.locator('.compare-main-figures > div').allTextContents();
    expect(figures[0]).toMatch(/^Time0\.\d+ ms → 0\.\d+ ms \(−0?\.?\d+/);
    expect(figures).toContain('Kernels125 → 89 (−36)');
    // The same on both sides, and shown nevertheless.
    expect(figures).toContain('ForeignNodes1');
    const groups = toChangeGroups(vit.comparison!);
    expect(groups.reduce((sum, group) => sum + group.changes.length, 0)).toBe(changes.length);
    const texts = await page.locator('.change .sentence').allTextContents();
    expect(texts[0]).toContain(groups[0]!.sentence);
    const deltas = groups.map(({ deltaMs }) => Math.abs(deltaMs ?? 0));
    expect(deltas).toEqual(deltas.toSorted((a, b) => b - a));
    await page.click('.compare-figures > summary');
    expect(await page.textContent('.compare-figures table')).toMatch(/Layers and kernels listed\s*\d+/);

    // Of a change that marks outputs, the page says which fusions it cost.
    const marked: MarkedComparison = {
      side: 'b',
      outputs: ['x'],
      debug: [],
      all: false,
      survived: 8,
      dissolved: [{ kernel: 'k', nodes: ['1', '2'], kernels: 2 }],
      unknown: 0,
      fused: 8,
      example: null,
      deltaMs: null,
    };
    const diff = { ...vit.comparison!.diff, marked };
    await opened.post('show', { ...vit, comparison: { ...vit.comparison!, diff } }, '');
    await page.locator('.compare-sentence', { hasText: '8 survived, 1 dissolved' }).waitFor();
  });

  test('the graph shows the changes in color and sign, and is linked with list, timeline and table', async () => {
    const opened = await openComparison(vit);
    const { page } = opened;
    expect(await page.inputValue('.graph-legend select')).toBe('comparison');
    const lines = await page.locator('.legend-line').allTextContents();
    expect(lines.some((line) => line.startsWith('± Fused differently'))).toBe(true);
    await page.locator('.change').first().click();
    expect(await pressed(opened)).toBe(1);
    expect(await page.locator('.change-evidence li .badge').allTextContents()).toContain('A');
    expect(await page.locator('.change-evidence li .badge').allTextContents()).toContain('B');
    const lit = await page.locator('.compare-timeline .bar.on').count();
    expect(lit).toBeGreaterThanOrEqual(2);
    await page.click('#tab-table');
    await page.waitForSelector('.table-row');
    // Alike changes are one row here, too.
    expect(await page.textContent('.table-copy')).toBe('Copy 1 Row as CSV');
    expect(await page.locator('.table-row[aria-selected="true"]').textContent()).toMatch(/12/);
    await page.keyboard.press('Escape');
    await page.focus('.change');
    await page.keyboard.press('Escape');
    expect(await pressed(opened)).toBe(0);
    await page.locator('.table-row').nth(1).click();
    expect(await pressed(opened)).toBe(1);
    await page.click('#tab-graph');
    await opened.still();
    await page.locator('.compare-timeline .bar').nth(3).click();
    expect(await pressed(opened)).toBeGreaterThan(0);
  });

  test('draws the nodes that only the older model has, and says what became of them', async () => {
    const data = await comparisonData(
      'fp16_overflow_mixed',
      'tensorrt-10.6.0/fp16_overflow_mixed.typed',
      'tensorrt-10.6.0/fp16_overflow.fp16',
      'fp16_overflow',
    );
    const opened = await openComparison(data);
    const { page } = opened;
    const lines = await page.locator('.legend-line').allTextContents();
    expect(await page.textContent('.compare-head h1')).toMatch(/^fp16_overflow_mixed\.onnx → fp16_overflow\.onnx/);
    expect(lines.some((line) => /^− (?:Only|Computed) in A/.test(line))).toBe(true);
    const { diff } = data.comparison!;
    const gone = toChangeGroups(data.comparison!).findIndex(
      ({ first }) =>
        first.nodesB.length + first.nodesA.length > 0 && first.nodesA.every((id) => diff.matched.onlyA.includes(id)),
    );
    expect(gone).toBeGreaterThanOrEqual(0);
    await page.locator('.change').nth(gone).click();
    await page.waitForFunction(() => document.querySelector('.graph-inspector:not([hidden])') !== null);
    await opened.still();
    expect(await page.textContent('.graph-inspector')).toMatch(/Only in A: |nodes selected/);
    await opened.shot('comparison-removed-nodes');
  });

  test('opens the logs of either side', async () => {
    const opened = await openComparison(vit);
    const { page } = opened;
    await page.locator('.change').first().click();
    for (const side of ['A', 'B']) {
      await page
        .locator('.change-evidence li', { has: page.locator(`.badge:text-is("${side}")`) })
        .locator('button')
        .first()
        .click();
    }
    const opens = (await opened.sent()).filter(({ method }) => method === 'openLine').map(({ args }) => args[0]);
    expect(opens).toEqual(['logBefore', 'log']);
  });

  test('a build compared with itself has no changes', async () => {
    const same = await comparisonData('vit_tiny', 'tensorrt-10.6.0/vit_tiny.fp16', 'tensorrt-10.6.0/vit_tiny.fp16');
    const opened = await openComparison(same);
    expect(await opened.page.textContent('.change-list')).toContain('No differences');
    expect(await opened.axe()).toEqual([]);
  });

  test('without times the timelines are hidden, and the rest is there', async () => {
    const opened = await openComparison(
      await comparisonData(
        'deep_encoder_11k',
        'tensorrt-8.6.1/deep_encoder_11k.fp32',
        'tensorrt-10.6.0/deep_encoder_11k.fp32',
      ),
    );
    expect(await opened.page.locator('.compare-sentence').textContent()).toContain('no profile');
    expect(await opened.page.locator('.compare-timeline svg').isVisible()).toBe(false);
    // The graph gets their room, down to the end of the page.
    const { y, height } = (await opened.page.locator('.graph-root').boundingBox())!;
    expect(y + height).toBe(900);
    expect(await opened.page.textContent('.compare-list h2')).toMatch(/^\d+ kinds? of change$/);
    // Columns of which no change has a value are absent.
    await opened.page.click('#tab-table');
    const heads = await opened.page.locator('.table-head .table-cell').allTextContents();
    expect(heads).not.toContain('Time A');
    expect(heads).not.toContain('Delta');
    await opened.shot('comparison-deep-encoder');
  });

  test('says what is wrong when there is nothing to compare', async () => {
    const opened = await openPage(views.browser, `${views.server.url}/editor/compare?theme=vscode-light`, {});
    await opened.post('show', null, 'The builds cannot be compared: the model is gone.');
    expect(await opened.page.textContent('.compare .blank')).toContain('the model is gone');
    expect(await opened.faults()).toEqual([]);
    await opened.close();
  });

  test('names from a model are text', async () => {
    const evil = '<img src=x onerror="window.hacked=1">';
    const data = structuredClone(vit);
    for (const change of data.comparison!.diff.changes) change.message = `${evil}${change.message}`;
    data.comparison!.names.a = evil;
    const opened = await openComparison(data);
    await opened.page.locator('.change').first().click();
    expect(await opened.page.evaluate(() => 'hacked' in window)).toBe(false);
    expect(await opened.page.textContent('.compare-sides')).toContain(evil);
  });

  test.each([
    ['vscode-light', 1280, 900],
    ['vscode-dark', 2560, 1440],
    ['vscode-high-contrast', 800, 600],
    ['vscode-high-contrast-light vscode-high-contrast', 1280, 900],
  ])('axe finds nothing in %s at %i × %i', async (theme, width, height) => {
    const opened = await openComparison(vit, theme, width, height);
    expect(await opened.axe()).toEqual([]);
    await opened.page.locator('.change').first().click();
    await opened.still();
    expect(await opened.axe()).toEqual([]);
    await opened.shot(`comparison-vit_tiny-${theme.split(' ')[0]!}-${width}`);
    await opened.page.click('#tab-table');
    await opened.still();
    expect(await opened.axe()).toEqual([]);
    await opened.shot(`comparison-table-vit_tiny-${theme.split(' ')[0]!}-${width}`);
  });
});
