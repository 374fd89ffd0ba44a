import { describe, expect, it } from 'vitest';
import type { FusionReport } from '../../../../src/kernel/fusion/fusionReport.ts';
import { KernelCandidates, type KnownKernels } from '../../../../src/kernel/fusion/internal/kernelCandidates.ts';
import { createModelGraph, expandFunctions } from '../../../../src/kernel/network/modelGraph.ts';
import { captures, metaOf, modelOf, reportOf } from './loadCapture.ts';
import { randomFrom } from './randomEngine.ts';

/** Captures whose kernels say what they compute. */
async function shownCaptures(): Promise<[string, FusionReport][]> {
  const found: [string, FusionReport][] = [];
  for (const capture of captures()) {
    const report = await reportOf(capture);
    const isShown = report?.layers.some(({ kind, evidence }) => kind === 'kernel' && evidence.includes('metadata'));
    if (report && isShown) found.push([capture, report]);
  }
  return found;
}

async function knownOf(capture: string, { nodes, layers, foreignNodes }: FusionReport): Promise<KnownKernels> {
  const isIn = layers.map(({ kind, foreignNode }) => foreignNode !== null && kind !== 'foreign');
  return {
    graph: createModelGraph(expandFunctions((await modelOf(metaOf(capture).model!))!)),
    nodeLayers: nodes.map((node) => node.layers.filter((layer) => isIn[layer])),
    regionOf: nodes.map(({ foreignNode }) => foreignNode ?? -1),
    layers,
    layerRegion: layers.map(({ foreignNode }, layer) => (isIn[layer] ? foreignNode! : -1)),
    isKernel: (layer) => layers[layer]!.kind === 'kernel',
    isBorder: (region, tensor) => foreignNodes[region]!.outputs.includes(tensor),
    isConstant: (node) => ['folded', 'shape'].includes(nodes[node]!.fate),
    isTransparent: (node) => nodes[node]!.fate === 'removed',
  };
}

describe('kernels of members that none names', () => {
  it(
    'are at most 2 % unknown in each large capture, and at most 3 % of all members have no candidates',
    { timeout: 300_000 },
    async () => {
      let [all, bare] = [0, 0];
      for (const [capture, { nodes, layers }] of await shownCaptures()) {
        const { graph } = await knownOf(capture, (await reportOf(capture))!);
        const members = nodes.filter(({ fate }, index) => fate === 'foreign' && !graph.bodyOutputs.has(index));
        const open = members.filter(
          (node) => !node.within && node.layers.every((layer) => layers[layer]!.kind === 'foreign'),
        );
        const unknown = open.filter(({ view }) => !view).length;
        // RTX names no kernel for what it only moves (Split, Squeeze) or knows before it runs (Sqrt of constants).
        const most = capture.startsWith('tensorrt-rtx-') ? 0.17 : 0.02;
        if (members.length >= 50) expect(unknown / members.length, capture).toBeLessThanOrEqual(most);
        all += members.length;
        bare += open.length;
      }
      expect(all).toBeGreaterThan(30_000);
      expect(bare / all).toBeLessThanOrEqual(0.03);
    },
  );

  it('are among the candidates of every member whose only kernel is hidden', { timeout: 600_000 }, async () => {
    const random = randomFrom(11);
    let hidden = 0;
    for (const [capture, report] of await shownCaptures()) {
      const known = await knownOf(capture, report);
      const nodeLayers = known.nodeLayers.map((layers) => layers);
      const members = report.nodes.flatMap(({ fate }, node) =>
        fate === 'foreign' && nodeLayers[node]!.length === 1 && !known.graph.bodyOutputs.has(node) ? [node] : [],
      );
      // Every member of a small model, some of a large one.
      const chosen = members.length < 100 ? members : members.filter(() => random() < 60 / members.length);
      for (const node of chosen) {
        const [own] = nodeLayers[node]!;
        const written = known.graph.outputs[node]!.map((tensor) => known.graph.tensors[tensor]!.name);
        // What a layer writes under its name in the model is known without metadata.
        if (report.layers[own!]!.outputs.some(({ name }) => written.includes(name))) continue;
        nodeLayers[node] = [];
        const found = new KernelCandidates({ ...known, nodeLayers }).of(node);
        nodeLayers[node] = [own!];
        hidden++;
        if (found.length > 0) expect(found, `${capture} ${report.nodes[node]!.name}`).toContain(own);
      }
    }
    expect(hidden).toBeGreaterThan(1500);
  });
});
