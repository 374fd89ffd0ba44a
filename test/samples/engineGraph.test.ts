import { describe, expect, it } from 'vitest';
import { readLayerInfo } from '../../src/kernel/read/tensorrt/readLayerInfo.ts';
import { createEngineReport } from '../../src/kernel/fusion/createReport.ts';
import { engineGraph } from '../../src/kernel/picture/graph/fusionGroups.ts';
import { buildHierarchy } from '../../src/kernel/picture/graph/hierarchy.ts';
import { indexGraph } from '../../src/kernel/picture/graph/graphIndex.ts';
import { samplesIn, sampleText } from '../support/samples.ts';

const graphOf = (file: string) => {
  const layerInfo = readLayerInfo(sampleText(`layerinfo/${file}`)).value!;
  return { layerInfo, ...engineGraph(createEngineReport({ file, layerInfo })) };
};
const files = samplesIn('layerinfo').filter((file) => !file.includes('.schema.'));

describe('the graphs of other people’s engines', () => {
  it.each(files)('%s: every layer and every binding, joined by its tensors', (file) => {
    const { layerInfo, graph, report } = graphOf(file);
    expect(graph.nodes.map(({ name }) => name)).toEqual(layerInfo.layers.map(({ name }) => name));
    expect(report.accounting.total).toBe(layerInfo.layers.length);
    if (layerInfo.detail === 'names') return;
    expect([...graph.inputs, ...graph.outputs].map(({ name }) => name).toSorted()).toEqual(
      [...layerInfo.bindings].toSorted(),
    );
    const index = indexGraph(graph);
    // Each output of the engine has an edge into it, each input one out of it.
    for (let point = graph.nodes.length; point < index.points; point++) {
      expect(
        index.inStart[point + 1]! - index.inStart[point]! + index.outStart[point + 1]! - index.outStart[point]!,
      ).toBeGreaterThan(0);
    }
  });

  it('Torch-TensorRT: the modules of the PyTorch model', () => {
    const { graph } = graphOf('fuzzylabs_torchtrt_resnet18.engine_info.json');
    const modules = buildHierarchy(indexGraph(graph)).modules.map(({ id }) => id);
    expect(modules).toEqual(expect.arrayContaining(['/layer1', '/layer2', '/layer3', '/layer4', '/layer4/1']));
    // Each residual block is within one module.
    const blocks = graph.nodes.filter(({ name }) => name.includes('/layer2/0/'));
    expect(blocks.length).toBeGreaterThan(2);
    expect(blocks.every(({ scope }) => scope?.startsWith('layer2/0'))).toBe(true);
  });
});
