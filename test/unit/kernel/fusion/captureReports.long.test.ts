import { describe, expect, it } from 'vitest';
import type { Fate, FusionReport, LayerKind, ReportInput } from '../../../../src/kernel/fusion/fusionReport.ts';
import { captures, inputOf, metaOf, modelOf, reportOf } from './loadCapture.ts';

const fates: Fate[] = ['foreign', 'fused', 'single', 'folded', 'removed', 'shape', 'unaccounted', 'unknown'];
const kinds: LayerKind[] = ['single', 'fused', 'foreign', 'kernel', 'reformat', 'shape', 'constant', 'other'];

/** Everything that the contract promises of any report. */
function checkContract(report: FusionReport, nodes: number): void {
  expect(report.schema).toBe(1);
  expect(report.model.nodes).toBe(nodes);
  expect(report.nodes).toHaveLength(nodes);
  expect(new Set(report.nodes.map(({ id }) => id)).size).toBe(nodes);
  const { total, ...sums } = report.accounting;
  expect(total).toBe(nodes);
  expect(Object.values(sums).reduce((sum, count) => sum + count, 0)).toBe(total);
  const ids = new Set(report.nodes.map(({ id }) => id));
  const wrong: string[] = [];
  const check = (ok: boolean, what: string) => ok || wrong.push(what);
  report.layers.forEach((layer, index) => {
    check(layer.id === index, `layer ${index} has id ${layer.id}`);
    check(kinds.includes(layer.kind), `layer ${index} is ${layer.kind}`);
    check(
      layer.nodes.every((id) => ids.has(id)),
      `layer ${index} names a node that is not there`,
    );
    check(
      layer.foreignNode === null
        ? layer.kind !== 'kernel' && layer.kind !== 'foreign'
        : ['kernel', 'foreign', 'shape', 'other'].includes(layer.kind),
      `layer ${index} ${layer.kind} ${layer.foreignNode}`,
    );
    check(layer.nodes.length === 0 || layer.evidence.length > 0, `layer ${index} has nodes but no evidence`);
    if (layer.foreignNode !== null)
      check(report.foreignNodes[layer.foreignNode]!.layers.includes(index), `ForeignNode lacks layer ${index}`);
  });
  const layerNodes = report.layers.map((layer) => new Set(layer.nodes));
  const members = report.foreignNodes.map((foreign) => new Set(foreign.nodes));
  for (const node of report.nodes) {
    check(fates.includes(node.fate), `${node.id} is ${node.fate}`);
    check(node.reason.length > 10 && /[.!?]$/.test(node.reason), `${node.id} has no sentence: ${node.reason}`);
    check((node.fate === 'foreign') === (node.foreignNode !== null), `${node.id} ${node.fate} ${node.foreignNode}`);
    if (node.foreignNode !== null)
      check(members[node.foreignNode]!.has(node.id), `ForeignNode ${node.foreignNode} lacks ${node.id}`);
    check(
      node.layers.every((layer) => layerNodes[layer]!.has(node.id)),
      `${node.id} is not in its layers`,
    );
    if (node.fate === 'single' || node.fate === 'fused') check(node.layers.length > 0, `${node.id} has no layer`);
    if (node.fate === 'single')
      check(
        node.layers.every((layer) => layerNodes[layer]!.size === 1),
        `${node.id} is not alone`,
      );
    if (node.fate === 'unknown') check(!node.exact, `${node.id} is unknown for sure`);
    if (node.fate === 'unaccounted')
      check(!node.exact && node.layers.length === 0, `${node.id} is lost for sure or has a layer`);
  }
  expect(wrong.slice(0, 10)).toEqual([]);
}

describe('reports of the captured builds', () => {
  it.each(captures())('%s follows the contract', { timeout: 30_000 }, async (capture) => {
    const report = await reportOf(capture);
    // Help texts and engine files that are none come without a model or without a build.
    if (!report) {
      expect(metaOf(capture).model ?? '', capture).toSatisfy(
        (model: string) => model === '' || capture.endsWith('bad_engine'),
      );
      return;
    }
    checkContract(report, (await modelOf(metaOf(capture).model!))!.nodes.length);
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  });

  it('know what became of nearly every node of every engine', { timeout: 60_000 }, async () => {
    const table: string[] = [];
    for (const capture of captures()) {
      const report = await reportOf(capture);
      if (!report || report.accounting.unknown === 0) continue;
      const input = (await inputOf(capture))!;
      table.push(...unknownRows(capture, report));
      // Without metadata nothing names what TensorRT folded.
      if (capture.endsWith('names_only')) {
        expect(report.accounting.unknown / report.accounting.total, capture).toBeLessThanOrEqual(0.5);
        continue;
      }
      expect(report.accounting.unknown / report.accounting.total, capture).toBeLessThanOrEqual(mostUnknown(input));
      // What remains is of builds without an engine: failed, or cut off while TensorRT was still timing layers.
      const codes = report.problems.map(({ code }) => code);
      expect(codes.includes('planned-layers') || codes.includes('no-layers'), capture).toBe(true);
    }
    console.log(`Nodes that remain unknown\n${table.join('\n')}`);
  });

  it('name exactly what TensorRT-RTX lists, besides the owners of bodies', { timeout: 60_000 }, async () => {
    for (const capture of captures().filter(
      (name) => name.startsWith('tensorrt-rtx-') || name.startsWith('tensorrt-11'),
    )) {
      const input = await inputOf(capture);
      if (!input?.log?.phases.at(-1)?.foreignNodes.length) continue;
      const report = (await reportOf(capture))!;
      const byId = new Map(report.nodes.map((node) => [node.id, node]));
      for (const foreign of report.foreignNodes) {
        const line = input.log.phases.at(-1)!.foreignNodes.find(({ name }) => name === foreign.name)!;
        const names = (line.metadata!.match(/\[ONNX Layer: [^\]]*\]/g) ?? []).map(
          (token) => token.slice(13, -1).split(' | ')[0]!,
        );
        const nodes = foreign.nodes.map((id) => byId.get(id)!);
        const listed = nodes.filter(({ exact }) => exact);
        expect(foreign.exact, capture).toBe(true);
        expect(listed.map(({ name, id }) => name || `node_of_${outputOf(input.model.nodes, id)}`).toSorted()).toEqual(
          [...new Set(names)].toSorted(),
        );
        expect(nodes.filter(({ exact, op }) => !exact && op !== 'Loop' && op !== 'If' && op !== 'Scan')).toEqual([]);
      }
    }
  });
});

const outputOf = (nodes: { id: string; outputs: string[] }[], id: string): string =>
  nodes.find((node) => node.id === id)!.outputs[0]!;

function unknownRows(capture: string, { nodes, accounting }: FusionReport): string[] {
  const reasons = new Map<string, number>();
  for (const { fate, reason } of nodes) {
    if (fate === 'unknown') reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  return [...reasons].map(([reason, count]) => `${capture.padEnd(52)} ${count} of ${accounting.total}: ${reason}`);
}

/** The share of nodes that may remain unknown: 0 for RTX builds, 1 % for engines with details. */
function mostUnknown({ layerInfo, log }: ReportInput): number {
  if (log?.product === 'tensorrt-rtx' && log.outcome !== 'failed') return 0;
  const hasEngine = (layerInfo?.layers.length ?? 0) > 0 || (log?.engineLayers.length ?? 0) > 0;
  return hasEngine ? 0.01 : 1;
}
