import { describe, expect, test } from 'vitest';
import {
  locate,
  type PanelItem,
  shareFirst,
  toFusionPanel,
} from '../../../../../src/kernel/picture/page/fusionPanel.ts';
import { summarySentence } from '../../../../../src/kernel/report/words.ts';
import { blocksReport, handLayer, handReport } from './handReport.ts';

const lines = (items: PanelItem[]): string[] => items.map(({ label, description }) => `${label} | ${description}`);

function everything(items: PanelItem[]): PanelItem[] {
  return items.flatMap((item) => [item, ...everything(item.children())]);
}

describe('the tree of the side bar', () => {
  test('shows ForeignNodes, native layers, reformats, what is not computed, and unknown', () => {
    expect(lines(toFusionPanel(blocksReport()).items)).toEqual([
      'ForeignNode 0 | 80 % · 12 nodes · 8 kernels',
      '/stem/Conv | 15 % · 1 node',
      'Reformats (1) | 5.0 %',
      'Not computed | 2 nodes',
      'Unknown | 1 node',
    ]);
  });

  test('puts the share before the name where the end of a line is cut off', () => {
    const shown = toFusionPanel(blocksReport()).items.map((item) => shareFirst(item));
    expect(shown.map(({ label, description }) => `${label} | ${description}`)).toEqual([
      '80 %  ForeignNode 0 | 12 nodes · 8 kernels',
      '15 %  /stem/Conv | 1 node',
      '5.0 %  Reformats (1) | ',
      'Not computed | 2 nodes',
      'Unknown | 1 node',
    ]);
  });

  test('shows repeated blocks as one line that says whether they are alike', () => {
    const [foreign] = toFusionPanel(blocksReport()).items;
    expect(lines(foreign?.children() ?? [])).toEqual([
      'blocks.0/attn … blocks.3/attn | 3 each · all alike',
      'Kernels (8) | 80 % · 12 nodes',
    ]);
  });

  test('says so when one of the repeated blocks is fused in another way', () => {
    const report = blocksReport();
    const odd = report.nodes.find(({ name }) => name === '/blocks/blocks.2/attn/Add');
    odd?.layers.push(99);
    const [foreign] = toFusionPanel(report).items;
    expect(lines(foreign?.children() ?? [])[0]).toBe('blocks.0/attn … blocks.3/attn | 3 each · fused differently');
  });

  test('leads from every item back to the root, with ids that are unique', () => {
    const all = everything(toFusionPanel(blocksReport()).items);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    for (const item of all) {
      for (const child of item.children()) expect(child.parent).toBe(item);
      expect(item.hasChildren).toBe(item.children().length > 0);
    }
  });

  test('reaches every node of the model exactly once below its fate', () => {
    const report = blocksReport();
    const { items } = toFusionPanel(report);
    const nodes = everything(items)
      .filter(({ kind, id }) => kind === 'node' && !id.startsWith('layer-') && !/\/layer-\d+\/node/.test(id))
      .map(({ selection }) => (selection.kind === 'nodes' ? selection.ids[0] : undefined));
    const inSingles = report.layers.filter(({ foreignNode }) => foreignNode === null).flatMap((layer) => layer.nodes);
    expect([...nodes, ...inSingles].map(Number).toSorted((a, b) => a - b)).toEqual(
      report.nodes.map((_, index) => index),
    );
  });

  test('sorts by time, by size and by order', () => {
    const layers = [
      handLayer(0, 'fused', ['0', '1'], { averageMs: 1, name: 'first' }),
      handLayer(1, 'fused', ['2', '3', '4'], { averageMs: 2, name: 'second' }),
      handLayer(2, 'fused', ['5', '6'], { averageMs: 3, name: 'third' }),
    ];
    const report = handReport(
      Array.from({ length: 7 }, (_, i) => [`/n${i}`, 'Add', 'fused']),
      layers,
    );
    const names = (sort: 'time' | 'size' | 'order') =>
      toFusionPanel(report, { sort })
        .items.filter(({ kind }) => kind === 'layer')
        .map(({ label }) => label);
    expect(names('time')).toEqual(['third', 'second', 'first']);
    expect(names('size')).toEqual(['second', 'first', 'third']);
    expect(names('order')).toEqual(['first', 'second', 'third']);
  });

  test('keeps what the search finds, and counts it', () => {
    const panel = toFusionPanel(blocksReport(), { search: 'SOFTMAX' });
    expect(panel.hits).toEqual({ nodes: 4, layers: 4 });
    expect(panel.items.map(({ label }) => label)).toEqual(['ForeignNode 0', 'Unknown']);
    const nodes = everything(panel.items).filter(({ kind }) => kind === 'node');
    expect(new Set(nodes.map(({ label }) => label))).toEqual(new Set(['Softmax']));
  });

  test('leaves time out where nothing was measured', () => {
    const panel = toFusionPanel(blocksReport({ timed: false }));
    expect(lines(panel.items)[0]).toBe('ForeignNode 0 | 12 nodes · 8 kernels');
    expect(panel.items[0]?.share).toBeNull();
  });

  test('says derived where TensorRT did not name the members', () => {
    const report = blocksReport();
    for (const foreign of report.foreignNodes) foreign.exact = false;
    const [item] = toFusionPanel(report).items;
    expect(item?.exact).toBe(false);
    expect(item?.description).toMatch(/ · derived$/);
    expect(item?.tooltip).toContain('Derived');
  });

  test('an empty report gives the line of the unknown and its figures', () => {
    const panel = toFusionPanel(handReport([], []));
    expect(lines(panel.items)).toEqual(['Unknown | 0 nodes']);
    expect(panel.figures).toBe('0 layers · 0 unknown');
  });
});

describe('the sentence', () => {
  test('counts a ForeignNode as one layer, and adds up', () => {
    expect(summarySentence(blocksReport())).toBe(
      '3 engine layers: 1 ForeignNode (8 kernels), 1 single-node layer, 1 reformat. ' +
        'Of 16 nodes, 12 are in the ForeignNode (80 % of the time), 1 is in a single-node layer, 1 was folded, 1 was removed, 1 is unknown.',
    );
  });

  test('a net without ForeignNodes', () => {
    const report = handReport(
      [
        ['/a', 'Conv', 'fused'],
        ['/b', 'Relu', 'fused'],
        ['/c', 'Gemm', 'single'],
      ],
      [handLayer(0, 'fused', ['0', '1']), handLayer(1, 'single', ['2'])],
    );
    expect(summarySentence(report)).toBe(
      '2 engine layers: 1 fused layer, 1 single-node layer. Of 3 nodes, 2 are in fused layers, 1 is in a single-node layer, 0 are unknown.',
    );
  });

  test('a net that is one ForeignNode', () => {
    const report = handReport([['/a', 'Add', 'foreign']], [handLayer(0, 'foreign', ['0'], { foreignNode: 0 })]);
    expect(summarySentence(report)).toBe('1 engine layer: 1 ForeignNode. The only node is in the ForeignNode.');
  });
});

describe('locating a selection', () => {
  test('finds a node below its ForeignNode, through its modules', () => {
    const path = locate(toFusionPanel(blocksReport()), { kind: 'nodes', ids: ['5'] });
    expect(path.map(({ label }) => label)).toEqual([
      'ForeignNode 0',
      'blocks.0/attn … blocks.3/attn',
      'blocks.1/attn',
      'Add',
    ]);
  });

  test('finds a kernel, a ForeignNode and a fate', () => {
    const panel = toFusionPanel(blocksReport());
    const last = (selection: Parameters<typeof locate>[1]) => locate(panel, selection).at(-1)?.label;
    expect(last({ kind: 'layers', ids: [2] })).toBe('gemm_myl2_0');
    expect(last({ kind: 'foreignNode', id: 0 })).toBe('ForeignNode 0');
    expect(last({ kind: 'fate', fate: 'removed' })).toBe('Removed');
    expect(locate(panel, { kind: 'none' })).toEqual([]);
    expect(locate(panel, { kind: 'nodes', ids: ['999'] })).toEqual([]);
  });

  test('finds what is most like a selection that is no item', () => {
    const panel = toFusionPanel(blocksReport());
    const last = (selection: Parameters<typeof locate>[1]) => locate(panel, selection).at(-1)?.label;
    expect(last({ kind: 'layers', ids: [2, 4, 6, 8] })).toBe('Kernels (8)');
    const blocks = Array.from({ length: 12 }, (_, i) => String(i + 1));
    expect(last({ kind: 'nodes', ids: blocks })).toBe('blocks.0/attn … blocks.3/attn');
    expect(last({ kind: 'nodes', ids: [...blocks, '14'] })).toBe('blocks.0/attn … blocks.3/attn');
  });

  test('finds the narrowest module that holds several nodes', () => {
    const path = locate(toFusionPanel(blocksReport()), { kind: 'nodes', ids: ['4', '5', '6'] });
    expect(path.at(-1)?.label).toBe('blocks.1/attn');
  });
});
