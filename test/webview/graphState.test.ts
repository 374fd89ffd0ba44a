import { describe, expect, it } from 'vitest';
import { buildState } from '../../src/kernel/build/diagnosis.ts';
import type { ViewData } from '../../src/kernel/picture/graph/viewData.ts';
import { openPage, type OpenPage } from './support/browserPage.ts';
import { captureData, failedData, modelData } from './support/captureData.ts';
import { useViews } from './support/useViews.ts';

const views = useViews();

const open = (theme: string): Promise<OpenPage> =>
  openPage(views.browser, `${views.server.url}/editor/graph?theme=${encodeURIComponent(theme)}`, {
    theme: theme === 'vscode-light' ? 'light' : 'dark',
  });

async function painted(view: OpenPage, data: object): Promise<void> {
  await view.post('show', data, '');
  await view.page.waitForFunction(() => performance.getEntriesByName('graph-painted').length > 0);
  await view.still();
}

it.each(['vscode-light', 'vscode-dark', 'vscode-high-contrast'])(
  'a failed build names its cause, marks the node and offers the next steps in %s',
  async (theme) => {
    const view = await open(theme);
    await painted(view, await failedData('unsupported_op', 'tensorrt-10.6.0/unsupported_op.fp32'));
    const notice = view.page.locator('.graph-state').getByRole('status');
    expect(await notice.textContent()).toMatch(/Build failed\. .*operator MyCustomOp of node "\/custom\/MyCustomOp"/);
    const node = view.page.getByRole('treeitem', { name: /MyCustomOp.*error: .*no importer/ });
    await notice.getByRole('button', { name: 'Show Node' }).click();
    await view.still();
    expect(await node.getAttribute('aria-selected')).toBe('true');
    const fault = view.page.locator('.graph-inspector .fault');
    expect(await fault.textContent()).toMatch(/no importer for the operator MyCustomOp.*Replace the node/s);
    await fault.getByRole('button', { name: /log: line \d+/ }).click();
    expect((await view.sent()).at(-1)).toMatchObject({ method: 'openLine', args: ['failedLog', expect.any(Number)] });
    await notice.getByRole('button', { name: 'Open Log' }).click();
    expect((await view.sent()).at(-1)).toEqual({ method: 'run', args: ['log', []] });
    expect(await view.axe()).toEqual([]);
    expect(await view.faults()).toEqual([]);
    await view.shot(`graph-failed-${theme}`);
    await notice.getByRole('button', { name: 'Dismiss' }).click();
    expect(await view.page.locator('.graph-state').isVisible()).toBe(false);
    await view.close();
  },
);

describe('the first picture of a failed build', () => {
  /** As if the build had failed at the last node of a block, which is in a closed module. */
  async function deepFailure(): Promise<ViewData> {
    const shown = await modelData('vit_tiny');
    const { id, name } = shown.graph!.nodes.findLast((node) => node.name.includes('/blocks.9/'))!;
    const failed = await failedData('unsupported_op', 'tensorrt-10.6.0/unsupported_op.fp32');
    const state = failed.state!;
    return {
      ...shown,
      state: { ...state, faults: [{ ...state.faults[0]!, message: `Failed at ${name}.`, nodes: [id] }] },
    };
  }
  const models = {
    'an unsupported operator': () => failedData('unsupported_op', 'tensorrt-10.6.0/unsupported_op.fp32'),
    'a node within modules': deepFailure,
  };

  it.each(
    Object.entries(models).flatMap(([what, made]) =>
      [
        [800, 600],
        [1280, 800],
      ].map(([width, height]) => ({ what, made, width: width!, height: height! })),
    ),
  )('has all of $what and its mark in sight at $width×$height', async ({ made, width, height }) => {
    const view = await open('vscode-light');
    await view.page.setViewportSize({ width, height });
    await painted(view, await made());
    const node = (await view.page
      .getByRole('treeitem', { name: /, error: / })
      .last()
      .boundingBox())!;
    const floor = (await view.page.locator('.graph-floor').boundingBox())!;
    const minimap = await view.page.locator('.graph-minimap').boundingBox();
    const mark = 10;
    expect(node.x).toBeGreaterThan(floor.x + mark);
    expect(node.y).toBeGreaterThan(floor.y + mark);
    expect(node.x + node.width).toBeLessThan(floor.x + floor.width - mark);
    expect(node.y + node.height).toBeLessThan(floor.y + floor.height - mark);
    expect(minimap !== null && node.x + node.width > minimap.x && node.y + node.height > minimap.y).toBe(false);
    await view.close();
  });
});

it('a node that the inspector would cover moves aside', async () => {
  const view = await open('vscode-light');
  await view.page.setViewportSize({ width: 800, height: 600 });
  await painted(view, await captureData('fusion_zoo', 'tensorrt-10.6.0/fusion_zoo.fp32'));
  const node = view.page.getByRole('treeitem', { name: /^MaxPool/ });
  await node.click();
  await view.still();
  const [box, inspector] = [(await node.boundingBox())!, (await view.page.locator('.graph-inspector').boundingBox())!];
  expect(box.x + box.width).toBeLessThan(inspector.x - 10);
  await view.close();
});

it('a build without a profile says under Time how to get one', async () => {
  const view = await open('vscode-light');
  const shown = await captureData('fusion_zoo', 'tensorrt-10.6.0/fusion_zoo.none');
  await painted(view, { ...shown, build: { ...shown.build, origin: 'built', backend: 'trtexec' } });
  expect(await view.page.locator('.graph-state').isVisible()).toBe(false);
  await view.page.locator('.graph-legend select').selectOption('time');
  const notice = view.page.locator('.graph-state').getByRole('status');
  if (shown.report!.layers.some(({ averageMs }) => averageMs !== null)) throw new Error('The capture has times.');
  expect(await notice.textContent()).toContain('No profile, so the times of nodes are unknown.');
  await notice.getByRole('button', { name: 'Build and Time Layers' }).click();
  expect((await view.sent()).at(-1)).toEqual({ method: 'run', args: ['profile', []] });
  await view.page.locator('.graph-legend select').selectOption('fusion');
  expect(await view.page.locator('.graph-state').isVisible()).toBe(false);
  await view.close();
});

it('a picture of an older model says so, also at 800 pixels', async () => {
  const view = await open('vscode-light');
  await view.page.setViewportSize({ width: 800, height: 600 });
  const shown = await captureData('resnet18', 'tensorrt-10.6.0/resnet18.fp32');
  const state = buildState({ unsuccessful: null, pictured: { ...shown.build!, origin: 'built' }, changed: true });
  await painted(view, { ...shown, state });
  const notice = view.page.locator('.graph-state').getByRole('status');
  expect(await notice.textContent()).toContain('The model changed after this build');
  await notice.getByRole('button', { name: 'Build Again' }).click();
  expect((await view.sent()).at(-1)).toEqual({ method: 'run', args: ['build', []] });
  expect(await view.axe()).toEqual([]);
  await view.shot('graph-stale');
  await view.close();
});

it('nodes of a module that are selected elsewhere show the module', async () => {
  const view = await open('vscode-light');
  const shown = await captureData('resnet18', 'tensorrt-10.6.0/resnet18.fp32');
  await painted(view, shown);
  const ids = shown.graph!.nodes.filter(({ name }) => name.startsWith('/layer1/')).map(({ id }) => id);
  await view.post('select', { kind: 'nodes', ids });
  await view.still();
  const inspector = view.page.locator('.graph-inspector');
  expect(await inspector.getByRole('heading').first().textContent()).toContain('layer1');
  // One node less is not the module.
  await view.post('select', { kind: 'nodes', ids: ids.slice(1) });
  await view.still();
  expect(await inspector.getByRole('heading').first().textContent()).toContain('selected');

  // The side bar has the nodes of a module that the engine computes in one place, and those that were folded in another.
  const vit = await captureData('vit_tiny', 'tensorrt-10.6.0/vit_tiny.fp16');
  await painted(view, vit);
  const attention = vit.report!.nodes.filter(({ name }) => name.startsWith('/blocks/blocks.3/attn/'));
  const computed = attention.filter(({ fate }) => fate === 'foreign').map(({ id }) => id);
  expect(computed.length).toBeLessThan(attention.length);
  await view.post('select', { kind: 'nodes', ids: computed });
  await view.still();
  expect(await inspector.getByRole('heading').first().textContent()).toBe('attn /blocks/blocks.3/attn');
  await view.post('select', { kind: 'nodes', ids: computed.slice(1) });
  await view.still();
  expect(await inspector.getByRole('heading').first().textContent()).toContain('selected');
  await view.close();
});

it('a group says why its boundary is where it is', async () => {
  const view = await open('vscode-light');
  const shown = await captureData('fusion_zoo', 'tensorrt-10.6.0/fusion_zoo.fp32');
  for (const remark of shown.report!.remarks) remark.message += ` "${'/stages/blocks.0'.repeat(4)}"`;
  await painted(view, shown);
  await view.post('select', { kind: 'foreignNode', id: 0 });
  await view.still();
  const inspector = view.page.locator('.graph-inspector');
  expect(await inspector.textContent()).toContain(
    'ForeignNode 0 ends at "/to_map/Reshape_output_0": "/conv_transpose/ConvTranspose" runs as a native layer',
  );
  expect(await inspector.textContent()).not.toContain('ForeignNode 2 ends');
  // Names of tensors have no blanks, and end where the inspector ends.
  const beyond = ({ scrollWidth, clientWidth }: Element) => scrollWidth - clientWidth;
  expect(await view.page.locator('.inspector-body').evaluate(beyond)).toBe(0);
  await view.close();
});
