import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { GraphNode, ViewData } from '../../src/kernel/picture/graph/viewData.ts';
import type { Message } from '../../src/kernel/protocol/rpc.ts';
import type { Selection } from '../../src/kernel/protocol/views.ts';
import type { KeptState } from '../../webview/graph/view/internal/keptState.ts';
import { postedData } from '../../src/kernel/vscode/workspace/postedData.ts';
import { openPage, type OpenPage } from './support/browserPage.ts';
import { captureData } from './support/captureData.ts';
import { differingShare } from './support/comparePictures.ts';
import { manyGroups } from './support/manyGroups.ts';
import { useViews } from './support/useViews.ts';

const captures = {
  resnet18: 'tensorrt-10.6.0/resnet18.fp32',
  vit_tiny: 'tensorrt-10.6.0/vit_tiny.fp16',
  fusion_zoo: 'tensorrt-10.6.0/fusion_zoo.fp32',
  deep_encoder_11k: 'tensorrt-10.6.0/deep_encoder_11k.fp32',
} as const;
type Model = keyof typeof captures;

const views = useViews();
const loaded = new Map<Model, Promise<ViewData>>();
const data = (model: Model): Promise<ViewData> => {
  const known = loaded.get(model) ?? captureData(model, captures[model]);
  loaded.set(model, known);
  return known;
};

type Theme = 'light' | 'dark' | 'high-contrast' | 'high-contrast-light';

/** Opens the graph as an editor does. */
async function open(theme: Theme = 'light'): Promise<OpenPage> {
  const classes =
    theme === 'high-contrast-light' ? 'vscode-high-contrast vscode-high-contrast-light' : `vscode-${theme}`;
  const system = theme === 'dark' || theme === 'high-contrast' ? 'dark' : 'light';
  return openPage(views.browser, `${views.server.url}/editor/graph?theme=${encodeURIComponent(classes)}`, {
    theme: system,
  });
}

/** Sends data and waits for the picture and for the elements over it. */
async function show(view: OpenPage, shown: ViewData): Promise<void> {
  const before = await view.page.evaluate(() => performance.getEntriesByName('graph-painted').length);
  await view.post('show', shown, '');
  await settled(view, before);
}
async function settled(view: OpenPage, before: number): Promise<void> {
  await view.page.waitForFunction((count) => performance.getEntriesByName('graph-painted').length > count, before);
  await view.still();
}

interface HeldLayouts {
  /** Layouts that are done and not handed to the view; undefined: each is handed over at once. */
  held?: (() => void)[] | undefined;
}

/** Reloads the page so that its layouts can be held back with `holdLayouts`. */
async function controlLayouts(view: OpenPage): Promise<void> {
  await view.page.addInitScript(() => {
    const own = window as HeldLayouts;
    const { onmessage } = Object.getOwnPropertyDescriptors(Worker.prototype);
    Object.defineProperty(Worker.prototype, 'onmessage', {
      set(answer: (event: MessageEvent) => void) {
        onmessage.set!.call(this, (event: MessageEvent) =>
          own.held ? own.held.push(() => answer(event)) : answer(event),
        );
      },
    });
  });
  await view.page.reload();
}

/** From now on no layout arrives, until the function that this gives is called. */
async function holdLayouts(view: OpenPage): Promise<() => Promise<void>> {
  await view.page.evaluate(() => ((window as HeldLayouts).held = []));
  return () =>
    view.page.evaluate(() => {
      const own = window as HeldLayouts;
      const held = own.held ?? [];
      own.held = undefined;
      for (const hand of held) hand();
    });
}

/** Selections that the host was told, in order. */
const selections = async (view: OpenPage): Promise<Selection[]> =>
  (await view.sent()).filter(({ method }) => method === 'selected').map(({ args }) => args[0] as Selection);

/** How many pixels of the picture have about this color. */
const pixels = (view: OpenPage, color: [number, number, number]): Promise<number> =>
  view.page.evaluate(([red, green, blue]) => {
    const canvas = document.querySelector<HTMLCanvasElement>('.graph-stage > canvas')!;
    const { data: bytes } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let i = 0; i < bytes.length; i += 4) {
      if (Math.abs(bytes[i]! - red) + Math.abs(bytes[i + 1]! - green) + Math.abs(bytes[i + 2]! - blue) < 12) count += 1;
    }
    return count;
  }, color);

const item = (view: OpenPage, key: string) => view.page.locator(`[role=treeitem][data-key="${key}"]`);

describe('the pictures', () => {
  const themes: Theme[] = ['light', 'dark'];
  for (const model of Object.keys(captures) as Model[]) {
    it.each(themes)(`show ${model} in %s, without a fault`, async (theme) => {
      const view = await open(theme);
      await show(view, await data(model));
      const shot = await view.shot(`graph-${model}-${theme}`);
      expect(existsSync(shot)).toBe(true);
      // The first ForeignNode's color is on the picture.
      expect(await pixels(view, theme === 'light' ? [0, 114, 178] : [77, 176, 238])).toBeGreaterThan(50);
      expect(await view.axe()).toEqual([]);
      expect(await view.faults()).toEqual([]);
      await view.close();
    });
  }

  it.each<Theme>(['high-contrast', 'high-contrast-light'])('have thick lines and no fills in %s', async (theme) => {
    const view = await open(theme);
    const shown = await data('fusion_zoo');
    await show(view, shown);
    await view.shot(`graph-fusion_zoo-${theme}`);
    expect(await view.axe()).toEqual([]);
    const { id } = shown.graph!.nodes.find(({ op }) => op === 'LayerNormalization')!;
    await view.post('select', { kind: 'nodes', ids: [id] });
    await view.still();
    await item(view, `node:${id}`).click();
    expect(await view.axe()).toEqual([]);
    expect(await view.faults()).toEqual([]);
    await view.close();
  });

  it('fit again on every resize until the graph is moved, with what is selected in sight', async () => {
    const view = await open();
    await show(view, await data('fusion_zoo'));
    const overview = view.page.locator('.graph-minimap');
    const first = view.page.locator('[role=treeitem]').first();
    await first.click();
    for (const size of [
      { width: 1000, height: 760 },
      { width: 1280, height: 800 },
      { width: 1500, height: 900 },
    ]) {
      await view.page.setViewportSize(size);
      await view.still();
      expect(await overview.isHidden()).toBe(true);
      const box = (await first.boundingBox())!;
      const panel = (await view.page.locator('.graph-inspector').boundingBox())!;
      expect(box.x + box.width <= panel.x || box.y + box.height <= panel.y).toBe(true);
    }
    for (let i = 0; i < 6; i++) await view.page.keyboard.press('+');
    await view.still();
    await view.page.setViewportSize({ width: 1280, height: 800 });
    await view.still();
    expect(await overview.isVisible()).toBe(true);
    await view.close();
  });

  it('say what TensorRT did in figures that select what they count, and what is missing', async () => {
    const view = await open();
    await show(view, { ...(await data('vit_tiny')), hints: ['No profile.'] });
    const figures = view.page.locator('.figure');
    expect(await figures.allTextContents()).toEqual([
      '3 layers',
      '1 ForeignNode 95 %',
      '1 single',
      '256 folded',
      '12 lost?',
      '0 unknown',
      'FP16 97 %',
      '0.548 ms',
    ]);
    const folded = figures.filter({ hasText: 'folded' });
    expect(await folded.getAttribute('title')).toBe('Folded: 256 of 636 nodes, 104 derived from the graph.');
    await folded.click();
    expect(await folded.getAttribute('aria-pressed')).toBe('true');
    expect((await selections(view)).at(-1)).toEqual({ kind: 'fate', fate: 'folded' });
    expect(await view.page.locator('.inspector-body').textContent()).toContain('256 nodes selected');
    await folded.click();
    expect((await selections(view)).at(-1)).toEqual({ kind: 'none' });
    // What to look at next, by what it is about.
    const slowest = view.page.getByRole('button', { name: /^Slowest kernel: / });
    await slowest.click();
    expect(await slowest.getAttribute('aria-pressed')).toBe('true');
    expect((await selections(view)).at(-1)?.kind).toBe('layers');
    await view.page.getByText('1 note').click();
    expect(await view.page.locator('.figure-notes li').allTextContents()).toEqual(['No profile.']);
    expect(await view.axe()).toEqual([]);
    expect(await view.faults()).toEqual([]);
    await view.close();
  });
});

describe('little room', () => {
  it('puts the details below, and nothing over anything', async () => {
    const view = await open();
    await view.page.setViewportSize({ width: 480, height: 900 });
    await show(view, await data('fusion_zoo'));
    await view.page.locator('[role=treeitem][data-key^="node:"], [role=treeitem][data-key^="input:"]').first().click();
    await view.still();
    await view.shot('graph-narrow');
    const box = async (selector: string) => (await view.page.locator(selector).boundingBox())!;
    const [floor, panel] = [await box('.graph-floor'), await box('.graph-inspector')];
    expect(panel.y).toBeGreaterThanOrEqual(floor.y + floor.height);
    expect(panel.width).toBe(480);
    expect(await view.page.locator('.graph-minimap').isHidden()).toBe(true);
    const legend = await box('.graph-legend');
    expect(legend.y).toBeGreaterThanOrEqual(floor.y + floor.height);
    expect(legend.height).toBeLessThan(floor.height * 0.6);
    expect(await view.axe()).toEqual([]);
    expect(await view.faults()).toEqual([]);
    await view.close();
  });
});

describe('the header and the legend', () => {
  it('take three lines and one at 800 pixels, cover no graph, and lead to every group', async () => {
    const view = await open();
    await view.page.setViewportSize({ width: 800, height: 600 });
    await show(view, await data('vit_tiny'));
    const box = async (selector: string) => (await view.page.locator(selector).boundingBox())!;
    const [line, next, header, floor, legend] = [
      await box('.figure-line:not(.next)'),
      await box('.figure-line.next'),
      await box('.graph-header'),
      await box('.graph-floor'),
      await box('.graph-legend'),
    ];
    expect(line.height).toBeLessThan(30);
    expect(next.height).toBeLessThan(30);
    expect(header.height).toBeLessThan(100);
    expect(floor.y).toBeGreaterThanOrEqual(header.y + header.height);
    expect(legend.y).toBeGreaterThanOrEqual(floor.y + floor.height);
    await view.page.getByRole('button', { name: 'Legend' }).click();
    await view.still();
    expect((await box('.graph-legend')).height).toBeLessThan(legend.height);
    await view.page.locator('.legend-groups summary').click();
    const [groups, list] = [await box('.legend-groups'), await box('.legend-entries')];
    expect(list.x).toBeLessThan(groups.x + groups.width);
    expect(list.x + list.width).toBeGreaterThan(groups.x);
    expect(await view.axe()).toEqual([]);
    await view.page.getByRole('button', { name: 'blocks.0–11 · Attention ×12' }).click();
    await view.still();
    expect((await selections(view)).at(-1)).toEqual({ kind: 'foreignNode', id: 0 });
    expect(await view.faults()).toEqual([]);
    await view.close();
  });
});

describe('the legend of many categories', () => {
  it('takes two lines at most at 800 pixels, whatever the colors show', async () => {
    const view = await open();
    await view.page.setViewportSize({ width: 800, height: 600 });
    for (const shown of [
      await captureData('resnet18_qdq', 'tensorrt-10.6.0/resnet18_qdq.fp32'),
      await data('fusion_zoo'),
    ]) {
      await show(view, shown);
      const choice = view.page.locator('.graph-legend select');
      const one = (await choice.boundingBox())!.height;
      for (const kind of await choice
        .locator('option:enabled')
        .evaluateAll((all) => all.map((o) => (o as HTMLOptionElement).value))) {
        await choice.selectOption(kind);
        await view.still();
        const { height } = (await view.page.locator('.graph-legend').boundingBox())!;
        expect(height, `${shown.title}: ${kind}`).toBeLessThan(3 * one);
      }
      // Next to the inspector there is little more than half the room.
      await choice.selectOption('fusion');
      await view.page.getByRole('treeitem').nth(1).click();
      await view.still();
      const [legend, floor] = await Promise.all(
        ['.graph-legend', '.graph-floor'].map(async (part) => (await view.page.locator(part).boundingBox())!),
      );
      expect(legend!.height, `${shown.title}, next to the inspector`).toBeLessThan(3 * one);
      expect(legend!.y).toBeGreaterThanOrEqual(floor!.y + floor!.height);
      await view.page.keyboard.press('Escape');
    }
    expect(await view.axe()).toEqual([]);
    expect(await view.faults()).toEqual([]);
    await view.close();
  });
});

describe('selection', () => {
  it('says which precision was asked for and what came of it, and leads to the rule', async () => {
    const view = await open();
    const shown = await data('vit_tiny');
    const conv = shown.graph!.nodes.find(({ op }) => op === 'Conv')!;
    const reason = 'Layer 1 writes Half.';
    await show(view, {
      ...shown,
      asked: [{ node: conv.id, type: 'fp32', line: 7, verdict: 'disobeyed', certain: true, reason }],
    });
    await item(view, `node:${conv.id}`).click();
    const facts = view.page.locator('.graph-inspector .facts').first();
    expect(await facts.textContent()).toMatch(
      /Precision as builtFP16Requested precisionFP32 override: line 7DisobeyedLayer 1 writes Half\./,
    );
    await facts.getByRole('button', { name: 'override: line 7' }).click();
    expect((await view.sent()).at(-1)).toEqual({ method: 'openLine', args: ['overrides', 7] });
    const raw = view.page.locator('.graph-inspector .layers details').first();
    await raw.locator('summary').click();
    expect(await raw.locator('pre').textContent()).toContain('[ONNX Layer: /patch_embed/proj/Conv]');
    expect(await view.axe()).toEqual([]);
    expect(await view.faults()).toEqual([]);
    await view.close();
  });

  it('tells the host what is clicked, and shows everything about it', async () => {
    const view = await open();
    const shown = await data('vit_tiny');
    await show(view, shown);
    const conv = shown.graph!.nodes.find(({ op }) => op === 'Conv')!;
    await item(view, `node:${conv.id}`).click();
    expect(await selections(view)).toEqual([{ kind: 'nodes', ids: [conv.id] }]);
    const panel = view.page.locator('.graph-inspector');
    expect(await panel.locator('h2').textContent()).toBe('Conv');
    expect(await panel.locator('.fate').textContent()).toMatch(/^Computed by layer \d+ .*which computes nothing else/);
    expect(await panel.textContent()).toContain('patch_embed');
    // What it asks of the editor: a type for the node, and the other views.
    for (const [name, command] of [
      ['Keep in FP32', 'keepFp32'],
      ['Keep in BF16', 'keepBf16'],
      ['Show in Table', 'showInTable'],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- one click after the other
      await panel.getByRole('button', { name }).click();
      // oxlint-disable-next-line no-await-in-loop -- as above
      expect((await view.sent()).at(-1)).toEqual({ method: 'run', args: [command, [conv.id]] });
    }
    await view.shot('graph-selected-node');
    // On along an edge.
    await panel
      .getByRole('button', { name: /^read by/ })
      .first()
      .click();
    await view.still();
    const [, next] = await selections(view);
    expect(next).toMatchObject({ kind: 'nodes' });
    expect(await view.axe()).toEqual([]);
    expect(await view.faults()).toEqual([]);
    await view.close();
  });

  it('selects a ForeignNode by its label, and asks for its log line', async () => {
    const view = await open();
    const shown = await data('fusion_zoo');
    await show(view, shown);
    const layernorm = shown.graph!.nodes.find(({ op }) => op === 'LayerNormalization')!;
    await view.post('select', { kind: 'nodes', ids: [layernorm.id] });
    await view.still();
    await item(view, `node:${layernorm.id}`).focus();
    await view.page.keyboard.press('g');
    expect((await selections(view)).at(-1)).toEqual({ kind: 'foreignNode', id: 0 });
    const panel = view.page.locator('.graph-inspector');
    expect(await panel.locator('h2').textContent()).toBe(shown.report!.foreignNodes[0]!.title);
    await view.shot('graph-selected-foreign-node');
    // The kernels come first, the slowest at the top; what proves it is one line that unfolds.
    const titles = await panel.locator('h3, summary, .inspector-actions').allTextContents();
    expect(titles).toEqual([
      'Kernels',
      'Keep in FP32FP16BF16Show in TimelineShow in Table',
      'Where time goes',
      'What holds it back',
      'Contents',
      'Evidence: derived',
      expect.stringMatching(/^Boundary: \d+ reasons?$/),
    ]);
    const kernels = await panel.locator('.layers > li > .muted').allTextContents();
    const times = kernels.map((text) => Number.parseFloat(text));
    expect(times.length).toBeGreaterThan(3);
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    await panel.getByText('Evidence: derived').click();
    await panel
      .getByRole('button', { name: /^log: line/ })
      .first()
      .click();
    const opened = (await view.sent()).find(({ method }) => method === 'openLine');
    expect(opened?.args[0]).toBe('log');
    expect(opened?.args[1]).toBeGreaterThan(0);
    await view.close();
  });

  it('expands what hides a group, dims everything else, and ends that with Escape', async () => {
    const view = await open();
    await view.page.setViewportSize({ width: 1440, height: 1000 });
    const shown = await data('vit_tiny');
    await show(view, shown);
    await view.page.getByRole('button', { name: 'Collapse All' }).click();
    await view.still();
    const reshape = shown.graph!.nodes.find(({ name }) => name === '/patch_embed/Reshape')!;
    const isThere = async () => (await item(view, `node:${reshape.id}`).count()) === 1;
    // The brown of the layer that computes the only other node.
    const brown: [number, number, number] = [125, 86, 64];
    expect(await isThere()).toBe(false);
    await view.post('select', { kind: 'foreignNode', id: 0 });
    await view.still();
    // It holds the one node of another layer.
    expect(await isThere()).toBe(true);
    const blocks = view.page.locator('[role=treeitem][aria-label^="blocks, 612 nodes"]');
    // Its blocks hold nodes of another fate, too: those that are lost.
    expect(await blocks.getAttribute('aria-expanded')).toBe('true');
    // All of it in the window: the picture has grown.
    await view.page.getByRole('button', { name: /^Fit/ }).first().click();
    await view.still();
    const dimmed = await pixels(view, brown);
    await view.shot('graph-selected-group');
    await view.page.keyboard.press('Escape');
    await view.still();
    expect(await pixels(view, brown)).toBeGreaterThan(dimmed);
    expect((await selections(view)).at(-1)).toEqual({ kind: 'none' });
    expect(await view.page.locator('.graph-inspector').isHidden()).toBe(true);
    expect(await view.faults()).toEqual([]);
    await view.close();
  });

  it('follows the host without an echo, and opens the modules around a node', async () => {
    const view = await open();
    const shown = await data('vit_tiny');
    await show(view, shown);
    const softmax = shown.graph!.nodes.filter(({ op }) => op === 'Softmax')[7]!;
    const before = await view.page.evaluate(() => performance.getEntriesByName('graph-painted').length);
    await view.post('select', { kind: 'nodes', ids: [softmax.id] });
    await settled(view, before);
    const element = item(view, `node:${softmax.id}`);
    expect(await element.getAttribute('aria-selected')).toBe('true');
    expect(await element.isVisible()).toBe(true);
    const box = (await element.boundingBox())!;
    expect(box.y).toBeGreaterThan(40);
    expect(box.y + box.height).toBeLessThan(900);
    await view.post('select', { kind: 'foreignNode', id: 0 });
    await view.post('select', { kind: 'layers', ids: [1] });
    await view.post('select', { kind: 'fate', fate: 'folded' });
    await view.post('select', { kind: 'nodes', ids: ['no such node'] });
    await view.post('select', { kind: 'none' });
    await view.still();
    expect(await view.page.locator('.graph-inspector').isHidden()).toBe(true);
    expect(await selections(view)).toEqual([]);
    expect(await view.faults()).toEqual([]);
    await view.close();
  });
});

describe('the keyboard alone', () => {
  it('walks along edges, opens modules, searches and leaves', async () => {
    const view = await open();
    const shown = await data('vit_tiny');
    await show(view, shown);
    const { keyboard } = view.page;
    const focused = () => view.page.evaluate(() => document.activeElement?.getAttribute('data-key') ?? '');
    await view.page.locator('[role=treeitem][tabindex="0"]').focus();
    await keyboard.press('Home');
    expect(await focused()).toBe('input:input');
    const walked = [await focused()];
    for (let i = 0; i < 6; i++) {
      await keyboard.press('ArrowDown');
      walked.push(await focused());
    }
    expect(new Set(walked).size).toBe(7);
    await keyboard.press('ArrowUp');
    expect(await focused()).toBe(walked.at(-2));

    // A module opens with Enter and closes again; the focus stays on it.
    const blocks = item(view, 'module:/blocks/blocks.0');
    await blocks.focus();
    const openBefore = await blocks.getAttribute('aria-expanded');
    await keyboard.press('Enter');
    await view.still();
    expect(await focused()).toBe('module:/blocks/blocks.0');
    expect(await blocks.getAttribute('aria-expanded')).not.toBe(openBefore);
    await keyboard.press('Enter');
    await view.still();
    expect(await blocks.getAttribute('aria-expanded')).toBe(openBefore);

    // Search: every MatMul, then the first of them in the middle, selected.
    await keyboard.press('/');
    await keyboard.type('op:MatMul');
    expect(await view.page.locator('.hits').textContent()).toBe('72 results');
    await keyboard.press('Enter');
    await view.still();
    expect(await view.page.locator('.hits').textContent()).toBe('1 of 72');
    const first = shown.graph!.nodes.find(({ op }) => op === 'MatMul')!;
    expect((await selections(view)).at(-1)).toEqual({ kind: 'nodes', ids: [first.id] });
    await keyboard.press('Enter');
    await view.still();
    expect(await view.page.locator('.hits').textContent()).toBe('2 of 72');
    await keyboard.press('Shift+Enter');
    await view.still();
    await keyboard.press('Escape');
    await view.still();
    expect(await focused()).toBe(`node:${first.id}`);

    // Help opens and closes, and Escape leads out to the top and clears the selection.
    await keyboard.press('?');
    expect(await view.page.locator('dialog[open]').count()).toBe(1);
    expect(await view.axe()).toEqual([]);
    await keyboard.press('Escape');
    expect(await view.page.locator('dialog[open]').count()).toBe(0);
    for (let i = 0; i < 6; i++) await keyboard.press('Escape');
    expect((await selections(view)).at(-1)).toEqual({ kind: 'none' });
    await keyboard.press('f');
    await view.still();
    expect(await view.faults()).toEqual([]);
    await view.close();
  });

  it('says in words what each box is', async () => {
    const view = await open();
    await show(view, await data('vit_tiny'));
    const names = await view.page
      .locator('[role=treeitem]')
      .evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
    expect(names).toContain('Graph input input');
    expect(names).toContain('Conv, proj, single, layer 1');

    expect(
      names.some((name) =>
        /^blocks\.1 … 11, 561 nodes, × 11, 330 blocks\.0–11 · Attention ×12 \+ MLP ×12, 220 Folded, 11 Lost\?$/.test(
          name ?? '',
        ),
      ),
    ).toBe(true);
    // Folded, removed and shape are one gray, but three lines of the legend; fused layers have many colors and one line.
    const shown = structuredClone(await data('vit_tiny'));
    const folded = shown.report!.nodes.filter(
      ({ fate, name }) => fate === 'folded' && name.startsWith('/patch_embed/'),
    );
    expect(folded).toHaveLength(7);
    for (const [i, node] of folded.entries()) node.fate = i < 3 ? 'removed' : 'folded';
    await show(view, shown);
    expect(await item(view, 'module:/patch_embed').getAttribute('aria-label')).toMatch(/, 4 Folded, 3 Removed$/);
    await view.close();
  });

  it('reports what is wrong with a search', async () => {
    const view = await open();
    await show(view, await data('resnet18'));
    await view.page.keyboard.press('/');
    await view.page.keyboard.type('op:/(/');
    expect(await view.page.locator('.hits').textContent()).toBe('/(/ is not a regular expression');
    await view.close();
  });
});

describe('overlays and the legend', () => {
  it('colors by precision, time and evidence, and switches off what is clicked in the legend', async () => {
    const view = await open();
    await show(view, await data('vit_tiny'));
    const legend = view.page.locator('.graph-legend');
    const lines = () => legend.locator('.legend-label').allTextContents();
    expect(await lines()).toEqual([
      'blocks.0–11 · Attention ×12 + MLP ×12',
      'In single-node layers',
      'Folded',
      'Lost?',
    ]);
    const blue = await pixels(view, [0, 114, 178]);
    await legend.getByRole('button', { name: 'Attention ×12' }).first().click();
    await view.still();
    expect(await pixels(view, [0, 114, 178])).toBeLessThan(blue * 0.98);
    for (const kind of ['precision', 'time', 'evidence', 'none']) {
      await legend.locator('select').selectOption(kind);
      await view.still();
      await view.shot(`graph-vit_tiny-${kind}`);
      const all = await legend.locator('.legend-count').allTextContents();
      expect(all.reduce((sum, text) => sum + Number(text.replace(',', '')), 0)).toBe(636);
    }
    expect(await view.faults()).toEqual([]);
    await view.close();
  });
});

describe('precision overrides on the graph', () => {
  it('shows which nodes obey, offers that only where something was asked, and falls back when a build had no rules', async () => {
    const view = await open();
    const shown = await data('vit_tiny');
    const legend = view.page.locator('.graph-legend');
    const option = legend.locator('option[value=overrides]');
    await show(view, shown);
    expect(await option.isDisabled()).toBe(true);
    const attention = shown.graph!.nodes.filter(({ name }) => name.startsWith('/blocks/blocks.0/attn/'));
    const verdicts = ['obeyed', 'unseen', 'disobeyed'] as const;
    const asked = attention.map(({ id }, i) => ({
      node: id,
      type: 'fp32',
      line: 1,
      verdict: verdicts[i % 3]!,
      certain: i % 2 === 0,
      reason: 'A kernel says so.',
    }));
    await show(view, { ...shown, asked });
    expect(await option.isDisabled()).toBe(false);
    await legend.locator('select').selectOption('overrides');
    await item(view, 'module:/blocks/blocks.0').dblclick();
    await view.still();
    await view.shot('graph-vit_tiny-overrides');
    const lines = await legend.locator('.legend-label').allTextContents();
    expect(lines).toEqual(['Disobeyed', 'Unverifiable', 'Probably obeyed', 'Obeyed', 'No rule', 'Folded', 'Lost?']);
    expect(await view.axe()).toEqual([]);
    await show(view, shown);
    expect(await legend.locator('select').inputValue()).toBe('fusion');
    expect(await view.faults()).toEqual([]);
    await view.close();
  });
});

describe('data as they arrive', () => {
  const paintings = (view: OpenPage) => view.page.evaluate(() => performance.getEntriesByName('graph-painted').length);

  /** Posts what an editor posts: packed data as bytes, which a test cannot hand to a page as they are. */
  const post = (view: OpenPage, shown: ViewData, then: Message[]) =>
    view.page.evaluate(
      ([packed, others]) => {
        window.postMessage({ method: 'show', args: [Uint8Array.from(packed), ''] }, '*');
        for (const message of others) window.postMessage(message, '*');
      },
      [[...(postedData(shown) as Uint8Array)], then] as const,
    );

  /** Whether the page, when it is loaded, says that data have come; `early`: some are posted as an editor does it. */
  const saysShown = async (early: boolean): Promise<unknown> => {
    const view = await open();
    await view.page.addInitScript((posting) => {
      // The editor listens for `load` when it has written the page, so after the page's own script.
      document.addEventListener('DOMContentLoaded', () =>
        window.addEventListener('load', () => {
          if (posting) window.postMessage({ method: 'show', args: [null, 'Reading the model …'] }, '*');
        }),
      );
    }, early);
    await view.page.reload();
    await view.page.waitForFunction(() => (window as unknown as { sent: Message[] }).sent.length > 0);
    const [first] = await view.sent();
    await view.close();
    expect(first!.method).toBe('ready');
    return first!.args[0];
  };

  it('need not be sent again, if they were posted while the page loaded', async () => {
    expect(await saysShown(true)).toBe(true);
  });

  it('are asked for, if none came while the page loaded', async () => {
    expect(await saysShown(false)).toBe(false);
  });

  it('are unpacked and shown', async () => {
    const view = await open();
    await post(view, await data('vit_tiny'), []);
    await settled(view, 0);
    expect(await item(view, 'module:/blocks/blocks.0').isVisible()).toBe(true);
    expect(await view.faults()).toEqual([]);
    await view.close();
  });

  it('are shown before what is posted after them, also while they are unpacked', async () => {
    const view = await open();
    await post(view, await data('vit_tiny'), [{ method: 'show', args: [null, 'The model was closed.'] }]);
    await settled(view, 0);
    await view.page.getByText('The model was closed.').waitFor();
    expect(await view.page.locator('.graph-main').isHidden()).toBe(true);
    await view.close();
  });

  it('say in an error that they cannot be unpacked, and what comes later is shown', async () => {
    const view = await open();
    await view.page.evaluate(() => window.postMessage({ method: 'show', args: [new Uint8Array([1, 2]), ''] }, '*'));
    await show(view, await data('resnet18'));
    const failed = (await view.sent()).filter(({ method }) => method === 'failed');
    expect(failed).toHaveLength(1);
    expect((await view.faults()).length).toBeGreaterThan(0);
    await view.close();
  });

  it('have their first picture at once and drawn once where the layout is small, without a worker, also for what opens', async () => {
    const view = await open();
    await view.page.evaluate(() => {
      const own = window as unknown as { cleared: number; workers: number };
      own.cleared = own.workers = 0;
      const { fillRect } = Object.getOwnPropertyDescriptors(CanvasRenderingContext2D.prototype);
      CanvasRenderingContext2D.prototype.fillRect = function (...box) {
        const { canvas } = this;
        if (canvas.matches('.graph-stage > canvas') && box[2] === canvas.clientWidth) own.cleared += 1;
        fillRect.value!.apply(this, box);
      };
      window.Worker = class extends Worker {
        constructor(url: string | URL) {
          super(url);
          own.workers += 1;
        }
      };
    });
    await view.post('show', await data('fusion_zoo'), '');
    expect(await paintings(view)).toBe(1);
    await view.still();
    const counts = () =>
      view.page.evaluate(() => {
        const { cleared, workers } = window as unknown as { cleared: number; workers: number };
        return { cleared, workers };
      });
    expect(await counts()).toEqual({ cleared: 1, workers: 0 });
    await view.page.locator('[role=treeitem][aria-expanded=false]').first().dblclick();
    await view.still();
    expect(await paintings(view)).toBe(2);
    expect((await counts()).workers).toBe(0);
    await view.close();
  });

  it('stay in the tree when a panel takes all of the room before they stand still, and gives it back', async () => {
    const view = await open();
    const shown = await data('resnet18');
    await view.post('show', shown, '');
    await view.still();
    const first = view.page.locator('[role=treeitem][aria-selected=true]');
    await view.post('select', { kind: 'nodes', ids: [shown.graph!.nodes[0]!.id] });
    await view.still();
    expect(await first.count()).toBe(1);
    await view.page.evaluate(async () => {
      const frames = async (count: number) => {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        for (let drawn = 0; drawn < count; drawn += 1) await new Promise(requestAnimationFrame);
      };
      // Drawn once more, and the room is gone before the picture is read out.
      const wheel = new WheelEvent('wheel', { deltaY: 1, bubbles: true });
      document.querySelector<HTMLElement>('.graph-stage')!.dispatchEvent(wheel);
      await frames(2);
      document.body.style.display = 'none';
      await frames(20);
      document.body.style.display = '';
      await frames(2);
    });
    await view.still();
    expect(await first.count()).toBe(1);
    await view.close();
  });
});

describe('flat', () => {
  it('shows the picture that there is until every node has its place', async () => {
    const view = await open();
    await controlLayouts(view);
    await show(view, { ...manyGroups(60, 25), report: null });
    const before = await view.page.evaluate(() => performance.getEntriesByName('graph-painted').length);
    const release = await holdLayouts(view);
    await view.page.getByRole('button', { name: 'Flat' }).click();
    await view.page.getByRole('button', { name: 'Zoom in' }).click();
    await release();
    await settled(view, before);
    expect(await view.page.locator('.graph-legend .legend-count').allTextContents()).toEqual(['1,500']);
    expect(await view.faults()).toEqual([]);
    await view.close();
  });
});

describe('what comes while a layout is on its way', () => {
  const shown = manyGroups(40, 125);
  /** Two nodes of a stage, of which all but the first are closed. */
  const pair = (stage: number) =>
    shown.graph!.nodes.filter(({ name }) => name.startsWith(`/stage.${stage}/block_a/`)).slice(0, 2) as [
      GraphNode,
      GraphNode,
    ];

  /** Opens all of one stage: so many boxes are laid out in a worker. */
  async function openLarge(): Promise<OpenPage> {
    const view = await open();
    await controlLayouts(view);
    await show(view, shown);
    await item(view, 'module:/stage.0').click();
    await view.post('perform', 'expandAll');
    await view.still();
    await view.post('select', { kind: 'none' });
    await view.page.evaluate(() => ((window as unknown as { sent: Message[] }).sent = []));
    return view;
  }

  it('a later selection stays, be it of the host or of a person', async () => {
    const view = await openLarge();
    const heading = view.page.locator('.graph-inspector h2');
    const [first, second] = pair(1);
    let release = await holdLayouts(view);
    await view.post('select', { kind: 'nodes', ids: [first.id] });
    await view.post('select', { kind: 'nodes', ids: [second.id] });
    await release();
    await view.still();
    expect(await item(view, `node:${second.id}`).getAttribute('aria-selected')).toBe('true');
    expect(await item(view, `node:${first.id}`).getAttribute('aria-selected')).toBe('false');
    expect(await view.page.locator('.graph-inspector').textContent()).toContain(second.name);
    release = await holdLayouts(view);
    await view.post('select', { kind: 'nodes', ids: [pair(2)[0].id] });
    await view.post('select', { kind: 'foreignNode', id: 0 });
    await release();
    await view.still();
    expect(await heading.textContent()).toBe('ForeignNode 0');
    release = await holdLayouts(view);
    await view.post('select', { kind: 'nodes', ids: [pair(3)[0].id] });
    await view.page.keyboard.press('/');
    await view.page.getByRole('button', { name: /close/i }).first().click();
    await release();
    await view.still();
    expect(await view.page.locator('.graph-inspector').isHidden()).toBe(true);
    expect(await selections(view)).toEqual([{ kind: 'none' }]);
    expect(await view.faults()).toEqual([]);
    await view.close();
  });

  it('the next hit of a search is that hit, not the module that still hides it', async () => {
    const view = await openLarge();
    const release = await holdLayouts(view);
    await view.page.keyboard.press('/');
    await view.page.keyboard.type('/stage.1/block_a/');
    await view.page.keyboard.press('Enter');
    await view.page.keyboard.press('Enter');
    await release();
    await view.still();
    expect(await view.page.locator('.hits').textContent()).toMatch(/^2 of /);
    expect((await selections(view)).at(-1)).toEqual({ kind: 'nodes', ids: [pair(1)[1].id] });
    await view.close();
  });

  it('a module that is opened while it is made flat leaves something to look at', async () => {
    const view = await open();
    await controlLayouts(view);
    await show(view, manyGroups(60, 25));
    const module = view.page.locator('[role=treeitem][aria-expanded=false]').first();
    await module.click();
    await view.still();
    const release = await holdLayouts(view);
    await view.page.getByRole('button', { name: 'Flat' }).click();
    await module.dblclick();
    await release();
    await view.still();
    const { camera, flat } = await view.page.evaluate(
      () => (window as unknown as { kept: { graph: KeptState } }).kept.graph,
    );
    expect(flat).toBe(true);
    expect(Object.values(camera).every(Number.isFinite)).toBe(true);
    expect(await view.page.locator('[role=treeitem]').count()).toBeGreaterThan(5);
    expect(await view.faults()).toEqual([]);
    await view.close();
  });
});

describe('flat and a selected module', () => {
  it('keeps saying what is in the module, also when data comes again', async () => {
    const view = await open();
    const shown = await data('vit_tiny');
    await show(view, shown);
    await item(view, 'module:/blocks/blocks.0').click();
    const panel = view.page.locator('.graph-inspector');
    const said = await panel.textContent();
    expect(said).toContain('blocks.0');
    const before = await view.page.evaluate(() => performance.getEntriesByName('graph-painted').length);
    await view.page.getByRole('button', { name: 'Flat' }).click();
    await settled(view, before);
    expect(await panel.textContent()).toBe(said);
    await show(view, shown);
    expect(await panel.textContent()).toBe(said);
    expect(await view.faults()).toEqual([]);
    await view.close();
  });
});

describe('what survives', () => {
  it('keeps place, selection and open modules when data comes again', async () => {
    const view = await open();
    const shown = await data('vit_tiny');
    await show(view, shown);
    await item(view, 'module:/blocks/blocks.0').dblclick();
    await view.still();
    const keys = () =>
      view.page.locator('[role=treeitem]').evaluateAll((all) =>
        all.map((one) => {
          // In the stage, which is lower below a longer sentence.
          const [box, stage] = [one, one.closest('.graph-stage')!].map((part) => part.getBoundingClientRect());
          return `${one.getAttribute('data-key')} ${Math.round(box!.x - stage!.x)} ${Math.round(box!.y - stage!.y)}`;
        }),
      );
    const before = await keys();
    await show(view, { ...shown, report: { ...shown.report!, foreignNodes: [] } });
    expect(await keys()).toEqual(before);
    await show(view, shown);
    expect(await keys()).toEqual(before);
    await view.close();
  });

  it('keeps place, open modules and selection by name when the file is edited', async () => {
    const view = await open();
    const shown = await data('vit_tiny');
    await show(view, shown);
    const softmax = shown.graph!.nodes.filter(({ op }) => op === 'Softmax')[7]!;
    const before = await view.page.evaluate(() => performance.getEntriesByName('graph-painted').length);
    await view.post('select', { kind: 'nodes', ids: [softmax.id] });
    await settled(view, before);
    const box = (await item(view, `node:${softmax.id}`).boundingBox())!;
    // Two nodes more at the beginning of the file: every id is another one, and what follows moves down.
    const graph = structuredClone(shown.graph!);
    const [input] = graph.inputs;
    const added = ['Relu', 'Neg'].map((op, i) => ({
      id: String(i),
      name: `/added_${op}`,
      op,
      domain: '',
      attributes: [],
      inputs: [i === 0 ? input!.name : 'added_0'],
      outputs: [`added_${i}`],
    }));
    for (const node of graph.nodes) {
      node.id = String(Number(node.id) + added.length);
      node.inputs = node.inputs.map((name) => (name === input!.name ? 'added_1' : name));
    }
    graph.nodes.unshift(...added);
    await show(view, { ...shown, graph, report: null, build: null });
    const moved = item(view, `node:${Number(softmax.id) + added.length}`);
    expect(await moved.getAttribute('aria-selected')).toBe('true');
    const after = (await moved.boundingBox())!;
    expect(Math.abs(after.x - box.x)).toBeLessThan(60);
    expect(Math.abs(after.y - box.y)).toBeLessThan(60);
    expect(await view.page.locator('.graph-inspector').textContent()).toContain(softmax.name);
    expect(await view.faults()).toEqual([]);
    // Another model under the same name begins anew.
    await show(view, { ...(await data('resnet18')), title: shown.title });
    expect(await view.page.locator('.graph-inspector').isHidden()).toBe(true);
    expect(await item(view, 'input:input').isVisible()).toBe(true);
    await view.close();
  });

  it('comes back as it was after being hidden', async () => {
    const view = await open();
    await show(view, await data('vit_tiny'));
    await view.page.locator('.graph-legend select').selectOption('time');
    await item(view, 'module:/blocks/blocks.0').dblclick();
    await view.still();
    const kept = await view.page.evaluate(
      () => (window as unknown as { kept: { graph: { overlay: string; open: string[] } } }).kept.graph,
    );
    expect(kept.overlay).toBe('time');
    await view.page.addInitScript((state) => {
      (window as unknown as { kept: unknown }).kept = { graph: state };
    }, kept);
    await view.page.reload();
    await show(view, await data('vit_tiny'));
    expect(await view.page.locator('.graph-legend select').inputValue()).toBe('time');
    const again = await view.page.evaluate(() => (window as unknown as { kept: { graph: unknown } }).kept.graph);
    expect(again).toEqual({ ...kept, selection: JSON.stringify({ kind: 'none' }) });
    await view.close();
  });

  it('cannot be panned away from', async () => {
    const view = await open();
    await show(view, await data('fusion_zoo'));
    const stage = view.page.locator('.graph-stage');
    await stage.hover({ position: { x: 8, y: 8 } });
    const { x: left, y: top, width, height } = (await stage.boundingBox())!;
    for (const way of [-1, 1]) {
      for (let i = 0; i < 5; i++) await view.page.mouse.wheel(way * 3000, way * 3000);
      await view.still();
      // A corner of the picture is in the middle, with the box in it on the screen.
      const boxes = await view.page
        .getByRole('treeitem')
        .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON() as DOMRect));
      const seen = boxes.filter(
        (box) => box.right > left && box.left < left + width && box.bottom > top && box.top < top + height,
      );
      expect(seen.length, way < 0 ? 'up and left' : 'down and right').toBeGreaterThan(0);
    }
    await view.close();
  });

  it('moves a picture without drawing its boxes again, and what was moved looks like what was drawn', async () => {
    const view = await open();
    await show(view, await data('fusion_zoo'));
    // Beside everything, of which a card would be shown.
    await view.page.locator('.graph-stage').hover({ position: { x: 8, y: 8 } });
    const move = async (x: number, y: number) => {
      await view.page.mouse.wheel(x, y);
      await view.still();
    };
    const pixels = () => view.page.locator('.graph-stage canvas').first().screenshot();
    const boxes = () =>
      view.page.evaluate(() => {
        const own = window as unknown as { boxes?: number };
        const drawn = own.boxes;
        if (drawn === undefined) {
          const { prototype } = CanvasRenderingContext2D;
          const roundRect = Object.getOwnPropertyDescriptor(prototype, 'roundRect')!.value as (
            ...args: unknown[]
          ) => void;
          prototype.roundRect = function count(...args) {
            own.boxes! += 1;
            roundRect.apply(this, args);
          };
        }
        own.boxes = 0;
        return drawn ?? 0;
      });
    const drawn = await pixels();
    await boxes();
    // So little that no name leaves the screen.
    await move(0, -12);
    const first = await boxes();
    for (const [x, y] of [
      [8, 4],
      [-8, 4],
      [0, 4],
    ] as const)
      await move(x, y);
    // Labels and the marks over the picture are still drawn in each frame.
    expect(await boxes()).toBeLessThan(first);
    expect(await differingShare(views.browser, 'moved-fusion-zoo', drawn, await pixels())).toBeLessThan(0.002);
    expect(await view.faults()).toEqual([]);
    await view.close();
  });

  it('comes back to the same place with something selected, also when the data comes twice before the picture', async () => {
    const view = await open();
    const shown = await data('vit_tiny');
    await show(view, shown);
    const before = await view.page.evaluate(() => performance.getEntriesByName('graph-painted').length);
    const selection = { kind: 'nodes', ids: [shown.graph!.nodes.find(({ op }) => op === 'Softmax')!.id] };
    await view.post('select', selection);
    await settled(view, before);
    await view.page.locator('.graph-stage').hover();
    await view.page.mouse.wheel(0, 900);
    await view.still();
    const state = () => view.page.evaluate(() => (window as unknown as { kept: { graph: KeptState } }).kept.graph);
    const kept = await state();
    await view.page.addInitScript((graph) => {
      (window as unknown as { kept: unknown }).kept = { graph };
    }, kept);
    for (const times of [1, 2]) {
      await view.page.reload();
      await view.page.evaluate(
        ([sent, chosen, count]) => {
          for (let i = 0; i < count; i++) window.postMessage({ method: 'show', args: [sent, ''] }, '*');
          window.postMessage({ method: 'select', args: [chosen] }, '*');
        },
        [shown, selection, times] as const,
      );
      await settled(view, 0);
      expect(await state()).toEqual(kept);
      expect(await view.page.locator('.graph-inspector h2').textContent()).toBe('Softmax');
    }
    // What is selected in the meantime is shown nevertheless.
    await view.page.reload();
    await view.post('select', { kind: 'nodes', ids: [shown.graph!.nodes[0]!.id] });
    await show(view, shown);
    await view.still();
    expect(await item(view, `node:${shown.graph!.nodes[0]!.id}`).getAttribute('aria-selected')).toBe('true');
    expect((await state()).camera).not.toEqual(kept.camera);
    expect(await view.faults()).toEqual([]);
    await view.close();
  });

  it('fits the graph to the screen when data comes twice, a button is pressed early, or there was no room at first', async () => {
    const shown = await data('vit_tiny');
    const places: unknown[] = [];
    for (const way of ['once', 'twice', 'pressed', 'hidden'] as const) {
      const view = await open();
      await view.page.evaluate(
        ([sent, how]) => {
          const [root] = document.querySelectorAll<HTMLElement>('#root');
          root!.hidden = how === 'hidden';
          window.postMessage({ method: 'show', args: [sent, ''] }, '*');
          if (how === 'twice') window.postMessage({ method: 'show', args: [sent, ''] }, '*');
          if (how === 'pressed')
            window.addEventListener('message', () =>
              [...document.querySelectorAll<HTMLButtonElement>('.graph-tools button')]
                .filter(({ textContent }) => ['Fit', 'SVG', '+', '−'].includes(textContent))
                .forEach((button) => button.click()),
            );
        },
        [shown, way] as const,
      );
      if (way === 'hidden') {
        await view.still();
        await view.page.evaluate(() => (document.querySelector<HTMLElement>('#root')!.hidden = false));
      }
      await settled(view, 0);
      await view.page.waitForFunction(() => (window as unknown as { kept?: object }).kept !== undefined);
      places.push(await view.page.evaluate(() => (window as unknown as { kept: { graph: unknown } }).kept.graph));
      expect(await view.faults()).toEqual([]);
      await view.close();
    }
    expect(places).toEqual(places.map(() => places[0]));
  });

  it('says what a running build does also after data came meanwhile', async () => {
    const view = await open();
    const shown = await data('vit_tiny');
    await show(view, shown);
    await view.post('building', { text: 'Building: timing tactics …', nodes: [shown.graph!.nodes[0]!.id] });
    await show(view, { ...shown, hints: ['A hint.'] });
    const running = view.page.locator('.state-running');
    expect(await running.textContent()).toContain('Building: timing tactics …');
    await running.getByRole('button', { name: 'Cancel Build' }).click();
    expect((await view.sent()).at(-1)).toEqual({ method: 'run', args: ['cancel', []] });
    await view.post('building', null);
    expect(await running.isVisible()).toBe(false);
    expect(await view.page.locator('.figure-notes li').textContent()).toBe('A hint.');
    await view.close();
  });
});

describe('without everything', () => {
  it('shows why there is no graph, and the ways to one', async () => {
    const view = await open();
    await view.post('show', null, 'model.onnx cannot be read: byte 12 is cut off.');
    expect(await view.page.locator('.graph-empty').textContent()).toContain('byte 12 is cut off');
    // Nothing can be built from a file that cannot be read.
    expect(await view.page.locator('.graph-empty button').count()).toBe(0);
    expect(await view.axe()).toEqual([]);
    await view.post('show', null, '');
    expect(await view.axe()).toEqual([]);
    await view.page.getByRole('button', { name: 'Open Build Log' }).click();
    expect((await view.sent()).at(-1)).toEqual({ method: 'run', args: ['attach', []] });
    await view.close();
  });

  it('shows a model without a build, an empty model, and names that look like markup', async () => {
    const view = await open();
    const shown = await data('resnet18');
    await show(view, { ...shown, report: null, build: null });
    expect(await view.page.locator('.figure').allTextContents()).toEqual(['49 nodes', 'no build']);
    await view.page.getByRole('button', { name: 'Check Model' }).click();
    expect((await view.sent()).at(-1)).toEqual({ method: 'run', args: ['check', []] });
    expect(await view.page.locator('.graph-legend select').inputValue()).toBe('none');
    await show(view, { ...shown, report: null, graph: { name: '', nodes: [], inputs: [], outputs: [], tensors: [] } });
    const evil = '<img src=x onerror=alert(1)>\u0000';
    const node = {
      id: '0',
      name: evil,
      op: evil,
      domain: '',
      inputs: ['x'],
      outputs: ['y'],
      attributes: [{ name: evil, value: evil }],
    };
    await show(view, {
      ...shown,
      title: evil,
      report: null,
      graph: { name: '', nodes: [node], inputs: [], outputs: [], tensors: [] },
    });
    await item(view, 'node:0').click();
    expect(await view.page.locator('.graph-inspector h2').textContent()).toBe(evil);
    expect(await view.page.locator('img').count()).toBe(0);
    expect(await view.faults()).toEqual([]);
    await view.close();
  });
});

describe('export', () => {
  it('gives the whole graph as SVG and as PNG', async () => {
    const view = await open();
    const shown = await data('fusion_zoo');
    await show(view, shown);
    await view.page.getByRole('button', { name: 'SVG' }).click();
    await view.page.getByRole('button', { name: 'PNG' }).click();
    // What is selected, and from how far one looks, is not part of the picture.
    await view.post('select', { kind: 'foreignNode', id: 0 });
    for (let i = 0; i < 5; i++) await view.page.keyboard.press('-');
    await view.still();
    await view.page.getByRole('button', { name: 'SVG' }).click();
    const [svg, png, again] = (await view.sent()).filter(({ method }) => method === 'exportPicture');
    expect(again?.args).toEqual(svg?.args);
    expect(svg?.args.slice(0, 1)).toEqual(['svg']);
    expect(svg?.args[2]).toBe('fusion_zoo.svg');
    const text = String(svg?.args[1]);
    const parsed = await view.page.evaluate((source) => {
      const parsedSvg = new DOMParser().parseFromString(source, 'image/svg+xml');
      return {
        errors: parsedSvg.querySelectorAll('parsererror').length,
        texts: [...parsedSvg.querySelectorAll('text')].map((one) => one.textContent),
      };
    }, text);
    expect(parsed.errors).toBe(0);
    expect(parsed.texts.some((label) => /^[▸▾] pointwise_swish$/.test(label))).toBe(true);
    expect(parsed.texts).toContain('▸ to_tokens … to_map');
    // Who gets the picture can read it: the legend is part of it, with what occurs and nothing else.
    expect(parsed.texts).toContain('Color by: Fusion groups');
    const legend = view.page.locator('.graph-legend');
    const lines = await legend.locator('.legend-label').allTextContents();
    const at = parsed.texts.indexOf(lines[0]!, parsed.texts.indexOf('Color by: Fusion groups'));
    const next = (label: string, from: number) => parsed.texts.indexOf(label, from);
    expect(lines.reduce((from, label) => next(label, from), at)).toBeGreaterThan(at);
    expect(parsed.texts).not.toContain('Unknown');
    expect(parsed.texts).toContain('Double line');
    expect(parsed.texts).toContain('Thick line');
    for (const swatch of await legend.locator('.swatch').all())
      expect(text).toContain(await swatch.evaluate((one) => getComputedStyle(one).getPropertyValue('--swatch')));
    // With other colors another legend; what is switched off is said to be.
    await legend.locator('select').selectOption('evidence');
    await legend.getByRole('button', { name: /^Folded/ }).click();
    await view.page.getByRole('button', { name: 'SVG' }).click();
    const other = String((await view.sent()).findLast(({ method }) => method === 'exportPicture')?.args[1]);
    expect(other).toContain('>Color by: Evidence<');
    expect(other).toContain('>hidden: drawn without color in this picture<');
    expect(other).not.toContain('>Fused layers<');
    expect(Buffer.from(String(png?.args[1]), 'base64').subarray(1, 4).toString()).toBe('PNG');
    expect(await view.faults()).toEqual([]);
    await view.close();
  });
});
