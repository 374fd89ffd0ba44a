import { describe, expect, it } from 'vitest';
import { graphKeys, keyText } from '../../src/kernel/protocol/graphActions.ts';
import type { GraphMenuContext } from '../../src/kernel/protocol/graphMenu.ts';
import type { OpenPage } from './support/browserPage.ts';
import { captureData, modelData } from './support/captureData.ts';
import { boxOf, openGraphPage, selectionsOf } from './support/graphPage.ts';
import { useViews } from './support/useViews.ts';

const views = useViews();

const vit = () => captureData('vit_tiny', 'tensorrt-10.6.0/vit_tiny.fp16');
const perform = async (view: OpenPage, action: string): Promise<void> => {
  await view.post('perform', action);
  await view.still();
};
const keys = (view: OpenPage): Promise<string[]> =>
  view.page.locator('[role=treeitem]').evaluateAll((all) => all.map((one) => one.dataset['key'] ?? '').sort());
const place = (view: OpenPage) => view.page.locator('.graph-place');

describe('a part of the graph', () => {
  it('is the selection with its neighbors, in more steps or fewer, and leads back to where one was', async () => {
    const view = await openGraphPage(views, await vit());
    const whole = await keys(view);
    await perform(view, 'isolate');
    expect(await place(view).textContent()).toContain('Select a node, a module or an edge first.');
    expect(await keys(view)).toEqual(whole);
    const conv = whole.find((key) => key.startsWith('node:'))!;
    await view.page.getByRole('treeitem', { name: /^Conv,/ }).click();
    await view.still();
    const before = await keys(view);
    const [selection] = await selectionsOf(view);
    await perform(view, 'isolate');
    expect(await place(view).textContent()).toContain('3 of 636 nodes: the selection and 1 step around it');
    expect(await view.page.locator('.graph-inspector h2').textContent()).toBe('Conv');
    const near = await keys(view);
    expect(near).toContain('input:input');
    await view.shot('graph-isolated');
    expect(await view.axe()).toEqual([]);
    // Ctrl+A selects the nodes of the part, for a command that is to act on all of it.
    await perform(view, 'selectAll');
    const all = (await selectionsOf(view)).at(-1)!;
    const nodesNear = near.filter((key) => key.startsWith('node:')).map((key) => key.slice('node:'.length));
    expect(all.kind === 'nodes' && all.ids.toSorted()).toEqual(expect.arrayContaining(nodesNear));
    expect(all.kind === 'nodes' && all.ids.length).toBe(3);
    const search = view.page.getByLabel('Search nodes');
    await search.fill('conv');
    await perform(view, 'selectAll');
    expect(await search.evaluate((field: HTMLInputElement) => field.selectionEnd! - field.selectionStart!)).toBe(4);
    expect((await selectionsOf(view)).at(-1)).toEqual(all);
    await search.fill('');
    await view.page.keyboard.press('Escape');
    await view.page.getByRole('button', { name: 'More Steps' }).click();
    await view.still();
    expect((await keys(view)).length).toBeGreaterThan(near.length);
    await view.page.getByRole('button', { name: 'Show Whole Graph' }).click();
    await view.still();
    expect(await keys(view)).toEqual(before);
    expect(selection).toMatchObject({ kind: 'nodes' });
    expect(conv).not.toBe('');
    expect(await view.faults()).toEqual([]);
    await view.close();
  });

  it('is the paths between two nodes that are selected with Ctrl', async () => {
    const shown = await vit();
    const view = await openGraphPage(views, shown);
    const idOf = (name: string) => shown.graph!.nodes.find((node) => node.name === name)!.id;
    const [reshape, add] = [idOf('/patch_embed/Reshape'), idOf('/Add')];
    await boxOf(view, `node:${reshape}`).click();
    await perform(view, 'isolatePaths');
    expect(await place(view).textContent()).toContain('Select two nodes first');
    await boxOf(view, `node:${add}`).click({ modifiers: ['Control'] });
    expect((await selectionsOf(view)).at(-1)).toEqual({ kind: 'nodes', ids: [reshape, add] });
    await perform(view, 'isolatePaths');
    const names = ['/patch_embed/Reshape', '/patch_embed/Transpose', '/Concat', '/Add'];
    expect((await keys(view)).filter((key) => key.startsWith('node:'))).toEqual(
      names.map((name) => `node:${idOf(name)}`).sort(),
    );
    await view.shot('graph-paths');
    // A part of the graph has a part of the group, and says so.
    await view.post('select', { kind: 'foreignNode', id: 0 });
    expect(await view.page.locator('.graph-inspector').textContent()).toContain('Contents4 of 367 nodes');
    await boxOf(view, `node:${reshape}`).click();
    await boxOf(view, `node:${add}`).click({ modifiers: ['Control'] });
    await perform(view, 'showAll');
    // The same without the mouse: Ctrl+Space adds to the selection.
    await boxOf(view, `node:${idOf('/Concat')}`).focus();
    await view.page.keyboard.press('Control+Space');
    expect((await selectionsOf(view)).at(-1)).toEqual({ kind: 'nodes', ids: [reshape, add, idOf('/Concat')] });
    expect(await view.faults()).toEqual([]);
    await view.close();
  });

  it('stays when a new build of the model arrives, and says so when no path connects two nodes', async () => {
    const shown = await vit();
    const view = await openGraphPage(views, shown);
    await view.page.getByRole('treeitem', { name: /^Conv,/ }).click();
    await perform(view, 'isolate');
    const part = await keys(view);
    await view.post('show', { ...shown, report: null, build: null }, '');
    await view.still();
    expect(await keys(view)).toEqual(part);
    await perform(view, 'showAll');
    await view.page.getByRole('treeitem', { name: 'Graph input input' }).click();
    await view.page
      .getByRole('treeitem', { name: /^Constant/ })
      .first()
      .click({ modifiers: ['Control'] });
    await perform(view, 'isolatePaths');
    expect(await place(view).textContent()).toContain('No path connects the two nodes.');
    expect(await view.faults()).toEqual([]);
    await view.close();
  });
});

describe('the place of the selection', () => {
  it('is a way of modules that lead there, and selections lead back and forward', async () => {
    const shown = await vit();
    const view = await openGraphPage(views, shown);
    const node = shown.graph!.nodes.find(({ name }) => name === '/blocks/blocks.0/attn/Softmax')!;
    await view.post('select', { kind: 'nodes', ids: [node.id] });
    await view.still();
    const crumbs = () => view.page.locator('.crumbs > li').allTextContents();
    expect(await crumbs()).toEqual(['vit_tiny.onnx', 'blocks', 'blocks.0', 'attn', 'Softmax']);
    await view.page.locator('.crumbs').getByRole('button', { name: 'blocks.0' }).click();
    await view.still();
    expect(await crumbs()).toEqual(['vit_tiny.onnx', 'blocks', 'blocks.0']);
    expect(await view.page.locator('.graph-inspector h2').textContent()).toBe('blocks.0 /blocks/blocks.0');
    await view.shot('graph-crumbs');
    expect(await view.axe()).toEqual([]);
    await perform(view, 'back');
    expect(await crumbs()).toEqual(['vit_tiny.onnx', 'blocks', 'blocks.0', 'attn', 'Softmax']);
    expect((await selectionsOf(view)).at(-1)).toEqual({ kind: 'nodes', ids: [node.id] });
    await perform(view, 'back');
    await perform(view, 'forward');
    expect((await crumbs()).at(-1)).toBe('blocks.0');
    // The side buttons of a mouse do the same.
    await view.page.evaluate(() => document.dispatchEvent(new MouseEvent('mouseup', { button: 3 })));
    expect((await crumbs()).at(-1)).toBe('Softmax');
    expect(await view.faults()).toEqual([]);
    await view.close();
  });
});

describe('a rectangle', () => {
  it('selects the nodes in it, adds with Ctrl, and neither moves the picture nor selects what it only touches', async () => {
    const shown = await vit();
    const view = await openGraphPage(views, shown);
    const { mouse, keyboard } = view.page;
    const box = async (key: string) => (await boxOf(view, key).boundingBox())!;
    const idOf = (name: string) => shown.graph!.nodes.find((node) => node.name === name)!.id;
    const [reshape, transpose, add] = ['/patch_embed/Reshape', '/patch_embed/Transpose', '/Add'].map(idOf);
    const notice = view.page.locator('.graph-place [role=status]').first();
    /** Drags with Shift from the upper left of one box to the lower right of another. */
    const drag = async (from: string, to: string, margin = 3): Promise<void> => {
      const [a, b] = [await box(from), await box(to)];
      await mouse.move(Math.min(a.x, b.x) - margin, a.y - margin);
      await keyboard.down('Shift');
      await mouse.down();
      await mouse.move(Math.max(a.x + a.width, b.x + b.width) + margin, b.y + b.height + margin, { steps: 3 });
    };
    const drop = async (): Promise<void> => {
      await mouse.up();
      await keyboard.up('Shift');
    };
    const before = await box(`node:${reshape}`);
    await drag(`node:${reshape}`, `node:${transpose}`);
    await view.shot('graph-rectangle');
    await drop();
    const two = { kind: 'nodes', ids: [reshape, transpose] };
    expect(await selectionsOf(view)).toEqual([two]);
    expect(await notice.textContent()).toBe('2 nodes in the rectangle');
    expect(await box(`node:${reshape}`)).toEqual(before);
    expect(await view.page.locator('.rubber-band').isHidden()).toBe(true);

    // A click on one of them with the other button keeps them selected: menus are about both.
    await boxOf(view, `node:${reshape}`).click({ button: 'right' });
    const context = await view.page
      .locator('.graph-stage')
      .evaluate((stage) => JSON.parse((stage as HTMLElement).dataset['vscodeContext']!) as GraphMenuContext);
    expect(context).toMatchObject({ webviewSection: 'node', selection: two });

    await drag(`node:${add}`, `node:${add}`);
    await keyboard.press('Escape');
    await drop();
    expect((await selectionsOf(view)).at(-1)).toEqual(two);

    await keyboard.down('Control');
    await drag(`node:${add}`, `node:${add}`);
    await drop();
    await keyboard.up('Control');
    expect((await selectionsOf(view)).at(-1)).toEqual({ kind: 'nodes', ids: [reshape, transpose, add] });
    expect(await view.page.locator('.graph-inspector h2').textContent()).toBe('3 nodes selected');

    // A closed module brings all of its nodes along.
    await drag('module:/blocks/blocks.0/attn', 'module:/blocks/blocks.0/attn');
    await drop();
    const inside = shown
      .graph!.nodes.filter(({ name }) => name.startsWith('/blocks/blocks.0/attn/'))
      .map(({ id }) => id);
    const last = (await selectionsOf(view)).at(-1)!;
    expect(last.kind === 'nodes' && last.ids.toSorted()).toEqual(inside.toSorted());

    await drag(`node:${add}`, `node:${add}`, -3);
    await drop();
    expect((await selectionsOf(view)).at(-1)).toEqual({ kind: 'none' });
    expect(await notice.textContent()).toBe('No node is entirely in the rectangle.');
    // A click with Shift is a click.
    await boxOf(view, `node:${add}`).click({ modifiers: ['Shift'] });
    expect((await selectionsOf(view)).at(-1)).toEqual({ kind: 'nodes', ids: [add] });
    expect(await view.faults()).toEqual([]);
    await view.close();
  });
});

describe('menus and keys', () => {
  it('offer no type for an engine that ONNX Runtime keeps in a model', async () => {
    const shown = await modelData('vit_tiny');
    const conv = shown.graph!.nodes.find(({ op }) => op === 'Conv')!;
    Object.assign(conv, { op: 'EPContext', domain: 'com.microsoft' });
    const view = await openGraphPage(views, shown);
    const offers = async (key: string) => {
      await boxOf(view, key).click({ button: 'right' });
      const context = await view.page
        .locator('.graph-stage')
        .evaluate((stage) => JSON.parse((stage as HTMLElement).dataset['vscodeContext']!) as GraphMenuContext);
      return [context.takesType, await view.page.locator('.inspector-actions button').allTextContents()];
    };
    expect(await offers(`node:${conv.id}`)).toEqual([false, []]);
    expect(await offers('module:/blocks/blocks.0/attn')).toEqual([true, ['Keep in FP32', 'FP16', 'BF16']]);
    expect(await view.page.locator('.inspector-actions').count()).toBe(1);
    expect(await view.faults()).toEqual([]);
    await view.close();
  });

  it('tell the editor what its menu is about', async () => {
    const shown = await vit();
    const view = await openGraphPage(views, shown);
    const context = (): Promise<GraphMenuContext> =>
      view.page
        .locator('.graph-stage')
        .evaluate((stage) => JSON.parse((stage as HTMLElement).dataset['vscodeContext']!) as GraphMenuContext);
    const conv = shown.graph!.nodes.find(({ op }) => op === 'Conv')!;
    await boxOf(view, `node:${conv.id}`).click({ button: 'right' });
    const preventDefaultContextMenuItems = true;
    const selection = { kind: 'nodes', ids: [conv.id] };
    expect(await context()).toEqual({
      webviewSection: 'node',
      preventDefaultContextMenuItems,
      selection,
      takesType: true,
    });
    expect(await selectionsOf(view)).toEqual([selection]);
    await boxOf(view, 'module:/blocks/blocks.0/attn').click({ button: 'right' });
    expect(await context()).toMatchObject({ webviewSection: 'module', module: '/blocks/blocks.0/attn' });
    const [reshape, transpose] = ['Reshape', 'Transpose'].map(
      (op) => `node:${shown.graph!.nodes.find(({ name }) => name === `/patch_embed/${op}`)!.id}`,
    );
    // Just above its reader, where an edge is upright.
    const reader = (await boxOf(view, transpose!).boundingBox())!;
    await view.page.mouse.click(reader.x + reader.width / 2, reader.y - 5, { button: 'right' });
    expect(await context()).toMatchObject({
      webviewSection: 'tensor',
      tensor: { name: '/patch_embed/Reshape_output_0', producer: reshape!.replace('node:', '') },
    });
    const floor = (await view.page.locator('.graph-floor').boundingBox())!;
    await view.page.mouse.click(floor.x + 20, floor.y + floor.height - 20, { button: 'right' });
    expect(await context()).toMatchObject({ webviewSection: 'canvas', selection: { kind: 'none' } });
    await boxOf(view, `node:${conv.id}`).focus();
    await view.page.keyboard.press('Shift+F10');
    expect(await context()).toMatchObject({ webviewSection: 'node', selection });
    await view.close();
  });

  it('list every contributed key in the help', async () => {
    const view = await openGraphPage(views, await vit());
    await view.page.keyboard.press('?');
    const listed = await view.page.locator('dialog dt').allTextContents();
    for (const { key } of graphKeys) expect(listed).toContain(keyText(key));
    await view.close();
  });
});
