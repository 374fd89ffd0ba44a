import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Fate, FusionReport, LayerKind, ReportLayer } from '../../../../../src/kernel/fusion/fusionReport.ts';
import {
  flowDefaults,
  type FusionFlow,
  type IcicleCell,
  openedParts,
  toFusionFlow,
  toFusionIcicle,
} from '../../../../../src/kernel/picture/page/fusionFlow.ts';
import {
  kernelPattern,
  opsLabel,
  sumOf,
  toFusionUnits,
  unitMatcher,
  type Weight,
} from '../../../../../src/kernel/picture/page/layerRows.ts';
import { modulePaths } from '../../../../../src/kernel/picture/graph/hierarchy.ts';
import { blocksReport, handLayer, handReport } from './handReport.ts';

function flowOf(
  report: FusionReport,
  weight: Weight,
  open: [string, number][] = [],
  limits = flowDefaults,
): FusionFlow {
  const paths = modulePaths(report, null);
  return toFusionFlow(report, toFusionUnits(report), paths, { ...limits, weight, open: new Map(open) });
}

const labels = (items: { label: string; detail: string }[]): string[] =>
  items.map(({ label, detail }) => (detail === '' ? label : `${label} | ${detail}`));

describe('the flow from modules to kernels', () => {
  test('by time: only what takes time', () => {
    const { columns, total } = flowOf(blocksReport(), 'time');
    expect(total).toBeCloseTo(10);
    expect(labels(columns.modules)).toEqual([
      'stem',
      'blocks.0/attn',
      'blocks.1/attn',
      'blocks.2/attn',
      'blocks.3/attn',
      'Added by TensorRT | computes no node',
    ]);
    expect(labels(columns.groups)).toEqual(['Reformats', 'Single-node layers', 'ForeignNode 0']);
    expect(labels(columns.kernels)).toEqual([
      'Reformat | Reformat: Input Tensor 0 to /stem/Conv',
      'Conv | /stem/Conv',
      '4× MatMul + Add | gemm',
      '4× Softmax | softmax',
    ]);
  });

  test('by nodes: the whole model, what is not computed included', () => {
    const { columns, total } = flowOf(blocksReport(), 'nodes');
    expect(total).toBeCloseTo(16);
    expect(labels(columns.groups)).toEqual(['Single-node layers', 'ForeignNode 0', 'Folded', 'Removed', 'Unknown']);
  });

  test('a family too many for the room is one block, which opens', () => {
    const report = blocksReport();
    const few = { ...flowDefaults, modules: 4 };
    const closed = flowOf(report, 'time', [], few).columns.modules;
    const family = closed.find(({ opens }) => opens !== null);
    expect(labels(closed)).toContain('blocks.0/attn … 3 | ×4, all alike');
    const opened = flowOf(report, 'time', [[family?.opens ?? '', 2]], few).columns.modules;
    expect(labels(opened)).toEqual([
      'stem',
      'blocks.0/attn',
      'blocks.1/attn',
      '2 more | blocks.0/attn … 3',
      'Added by TensorRT | computes no node',
    ]);
  });

  test('a family of kernels opens to each of them', () => {
    const report = blocksReport();
    const family = flowOf(report, 'time').columns.kernels.find(({ label }) => label === '4× Softmax');
    const { columns } = flowOf(report, 'time', [[family?.opens ?? '', openedParts]]);
    expect(columns.kernels.filter(({ label }) => label === 'Softmax').map(({ detail }) => detail)).toEqual([
      'softmax_myl2_1',
      'softmax_myl2_3',
      'softmax_myl2_5',
      'softmax_myl2_7',
    ]);
  });

  test('many ForeignNodes: the largest ones, and how many more', () => {
    const layers = Array.from({ length: 30 }, (_, i) =>
      handLayer(i, 'kernel', [String(i)], { foreignNode: i, averageMs: i + 1 }),
    );
    const report = handReport(
      layers.map((_, i) => [`/n${i}`, 'Add', 'foreign']),
      layers,
    );
    const { groups } = flowOf(report, 'time').columns;
    expect(groups).toHaveLength(flowDefaults.groups + 1);
    expect(groups.at(-1)?.label).toBe('21 more ForeignNodes');
    expect(groups.map(({ label }) => label)).toContain('ForeignNode 29');
    expect(flowOf(report, 'time', [['foreign', 40]]).columns.groups).toHaveLength(30);
  });

  test('a ForeignNode that was measured as a whole shares its time among its nodes, and invents no kernel', () => {
    const report = blocksReport({ timed: false });
    for (const foreign of report.foreignNodes) foreign.averageMs = 6;
    const { columns, total } = flowOf(report, 'time');
    expect(total).toBeCloseTo(6);
    expect(labels(columns.kernels)).toEqual(['ForeignNode 0 as a whole | its kernels are not listed']);
  });

  test('says how much of a ribbon is derived', () => {
    const report = blocksReport();
    for (const node of report.nodes) if (node.name.startsWith('/blocks/blocks.1/')) node.exact = false;
    const { links } = flowOf(report, 'nodes');
    const derived = links.filter((link) => link.derived > 0).map(({ from, derived: part }) => [from, part]);
    expect(derived).toContainEqual(['module:blocks/blocks.1/attn', 3]);
    expect(derived).not.toContainEqual(['module:blocks/blocks.0/attn', expect.anything()]);
  });

  test('an empty report gives an empty flow', () => {
    expect(flowOf(handReport([], []), 'nodes')).toMatchObject({ links: [], total: 0 });
  });
});

describe('units', () => {
  test('a selection means exactly itself', () => {
    const report = blocksReport();
    const { units } = toFusionUnits(report);
    const picked = (selection: Parameters<typeof unitMatcher>[1]) => units.filter(unitMatcher(report, selection));
    expect(picked({ kind: 'none' })).toEqual([]);
    expect(picked({ kind: 'nodes', ids: ['1'] })).toHaveLength(1);
    expect(picked({ kind: 'layers', ids: [2] })).toHaveLength(2);
    expect(picked({ kind: 'foreignNode', id: 0 })).toHaveLength(12);
    expect(picked({ kind: 'fate', fate: 'unknown' })).toHaveLength(1);
  });

  test('kernels are told apart by what they do, not by their numbers', () => {
    expect(kernelPattern('__mye137767+__mye137755_myl2_2')).toBe('__mye#+__mye#');
    expect(opsLabel(['MatMul', 'Add', 'MatMul'])).toBe('MatMul + Add');
    expect(opsLabel(['A', 'B', 'C', 'D', 'E', 'F'])).toBe('A + B + C + D + 2 more');
  });
});

/** Any report that hangs together: nodes of all fates, layers over some of them, with or without times. */
const anyReport = fc
  .record({
    nodes: fc.array(
      fc.tuple(
        fc.constantFrom('/a/Add', '/b.0/x/Mul', '/b.1/x/Mul', '/b.2/x/Mul', '', 'c.0.d', '/b.3/y/z/Add'),
        fc.constantFrom('Add', 'Mul'),
        fc.constantFrom<Fate>('foreign', 'fused', 'single', 'folded', 'removed', 'shape', 'unknown'),
      ),
      { maxLength: 30 },
    ),
    layers: fc.array(
      fc.record({
        kind: fc.constantFrom<LayerKind>('single', 'fused', 'kernel', 'foreign', 'reformat', 'shape', 'other'),
        of: fc.array(fc.nat(29), { maxLength: 5 }),
        foreignNode: fc.option(fc.nat(12)),
        averageMs: fc.option(fc.double({ min: 0, max: 5, noNaN: true })),
      }),
      { maxLength: 20 },
    ),
  })
  .map(({ nodes, layers }) =>
    handReport(
      nodes,
      layers.map(({ kind, of, foreignNode, averageMs }, id): ReportLayer =>
        handLayer(id, kind, [...new Set(of)].filter((node) => node < nodes.length).map(String), {
          foreignNode,
          averageMs,
        }),
      ),
    ),
  );

describe('whatever the report', () => {
  test('units sum to the model’s nodes and the engine’s time', () => {
    fc.assert(
      fc.property(anyReport, (report) => {
        const { units } = toFusionUnits(report);
        expect(sumOf(units, 'nodes')).toBeCloseTo(report.nodes.length);
        expect(sumOf(units, 'time')).toBeCloseTo(
          report.layers.reduce((sum, { averageMs }) => sum + (averageMs ?? 0), 0),
        );
      }),
    );
  });

  const clicks = fc.array(fc.record({ at: fc.nat(), parts: fc.integer({ min: 1, max: 4 }) }), { maxLength: 6 });

  test('each column of the flow sums to the whole, and every ribbon has two ends', () => {
    fc.assert(
      fc.property(
        anyReport,
        fc.constantFrom<Weight>('time', 'nodes'),
        fc.nat(8),
        clicks,
        (report, weight, most, clicked) => {
          const limits = { modules: most, groups: most, kernels: most };
          // A person opens what can be opened, also what was opened before and shows more then.
          const open = new Map<string, number>();
          let flow = flowOf(report, weight, [], limits);
          for (const { at, parts } of clicked) {
            const handles = Object.values(flow.columns).flatMap((column) => column.flatMap(({ opens }) => opens ?? []));
            const id = handles[at % Math.max(1, handles.length)];
            if (id !== undefined) open.set(id, (open.get(id) ?? 0) + parts);
            flow = flowOf(report, weight, [...open], limits);
          }
          const sum = (items: { weight: number }[]) => items.reduce((total, item) => total + item.weight, 0);
          expect(sum(flow.columns.modules)).toBeCloseTo(flow.total);
          expect(sum(flow.columns.groups)).toBeCloseTo(flow.total);
          const items = Object.values(flow.columns).flat();
          const ids = new Set(items.map(({ id }) => id));
          expect(ids.size).toBe(items.length);
          for (const { from, to, weight: wide } of flow.links) {
            expect(ids.has(from) && ids.has(to)).toBe(true);
            expect(wide).toBeGreaterThan(0);
          }
          for (const item of flow.columns.kernels) {
            const into = flow.links.filter(({ to }) => to === item.id);
            expect(sum(into)).toBeCloseTo(item.weight);
          }
        },
      ),
    );
  });

  test('children of an icicle’s cell sum to it', () => {
    fc.assert(
      fc.property(anyReport, fc.constantFrom<Weight>('time', 'nodes'), (report, weight) => {
        const check = (cell: IcicleCell): void => {
          if (cell.children.length === 0) return;
          const sum = cell.children.reduce((total, child) => total + child.weight, 0);
          // Nodes that no kernel names have no cell of their own below their group.
          expect(sum).toBeLessThanOrEqual(cell.weight + 1e-6);
          cell.children.forEach(check);
        };
        const root = toFusionIcicle(report, toFusionUnits(report), modulePaths(report, null), weight);
        check(root);
        expect(root.children.reduce((total, child) => total + child.weight, 0)).toBeCloseTo(root.weight);
      }),
    );
  });
});
