import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onnx } from 'onnx-proto';

const value = (name: string, dims: (string | number)[]) => ({
  name,
  type: {
    tensorType: {
      elemType: 1,
      shape: { dim: dims.map((dim) => (typeof dim === 'string' ? { dimParam: dim } : { dimValue: dim })) },
    },
  },
});

/**
 * Writes a chain of nodes, of which the one at `at` is the planted one; every fifth also reads an earlier tensor.
 * @returns its path
 */
export function plantedChain(
  folder: string,
  name: string,
  length: number,
  at: number,
  planted: onnx.INodeProto,
  weights: onnx.ITensorProto[],
): string {
  const ops = ['Relu', 'Sigmoid', 'Tanh', 'Neg', 'Add'];
  const node = Array.from({ length }, (_, index): onnx.INodeProto => {
    const [input, output] = [`t${index}`, [`t${index + 1}`]];
    if (index === at) return { ...planted, name: 'planted', input: [input, ...(planted.input ?? [])], output };
    const opType = ops[index % ops.length]!;
    const other = index - 3 === at + 1 ? input : `t${Math.max(0, index - 3)}`;
    return { opType, name: `n${index}`, input: opType === 'Add' ? [input, other] : [input], output };
  });
  const graph = {
    name: 'g',
    node,
    input: [value('t0', ['batch', 8])],
    output: [value(`t${length}`, ['batch', 8])],
    initializer: weights,
  };
  const opsetImport = [
    { domain: '', version: 17 },
    { domain: 'com.acme', version: 1 },
  ];
  const path = join(folder, `${name}.onnx`);
  writeFileSync(path, onnx.ModelProto.encode({ irVersion: 9, opsetImport, graph } as onnx.IModelProto).finish());
  return path;
}
