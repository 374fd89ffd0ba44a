import { writeFile } from 'node:fs/promises';
import type { GraphData } from '../../src/kernel/picture/graph/viewData.ts';
import { concat, int, len, node, packed } from '../../test/support/wire.ts';
import { decoder } from '../layout/syntheticGraph.ts';

/** A synthetic decoder of about `count` nodes as a view gets it, named by block, with a mask that every block reads. */
export function decoderGraph(count: number): GraphData {
  const { count: nodes, from, to } = decoder(count, true);
  const inputs: string[][] = Array.from({ length: nodes }, () => []);
  from.forEach((source, e) => inputs[to[e]!]!.push(`t${source}`));
  return {
    name: 'decoder',
    nodes: inputs.map((own, i) => ({
      id: String(i),
      name: `/model/layers.${Math.floor(i / 127)}/part.${Math.floor((i % 127) / 12)}/Op_${i}`,
      op: ['MatMul', 'Add', 'Mul', 'Softmax', 'Transpose', 'Neg'][(i * 7) % 6]!,
      domain: '',
      inputs: own.length === 0 ? ['x'] : own,
      outputs: [`t${i}`],
      attributes: [],
    })),
    inputs: [{ name: 'x', type: 'float', shape: [1, 128], initializer: false }],
    outputs: [{ name: `t${nodes - 1}`, type: 'float', shape: [1, 128], initializer: false }],
    tensors: [],
  };
}

/** Writes such a graph as an ONNX file. */
export async function writeDecoder(path: string, { nodes, inputs, outputs }: GraphData): Promise<void> {
  const type = len(2, len(1, int(1, 1), len(2, len(1, packed(1, [1])), len(1, packed(1, [128])))));
  const graph = len(
    7,
    ...nodes.map((one) => node(one.op, one.inputs, one.outputs, len(3, one.name))),
    len(2, 'decoder'),
    ...inputs.map(({ name }) => len(11, len(1, name), type)),
    ...outputs.map(({ name }) => len(12, len(1, name), type)),
  );
  await writeFile(path, concat(int(1, 8), len(2, 'benchmark'), graph, len(8, len(1, ''), int(2, 17))));
}
