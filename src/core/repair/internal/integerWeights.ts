import type { ByteSource } from '../../base/problem.ts';
import { graphPathOf } from '../../network/modelGraph.ts';
import type { ModelEdits } from '../../formats/onnx/editModel.ts';
import type { OnnxModel, OnnxNode, OnnxTensor } from '../../formats/onnx/onnxModel.ts';
import { type OpenExternal, rawElements, readElements } from '../../formats/onnx/readElements.ts';

/** Integer products: the places of their weights and of these weights' zero point among the inputs. */
const products: Readonly<Record<string, { weights: number; zero: number; to: 'int8' | 'uint8' }>> = {
  MatMulInteger: { weights: 1, zero: 3, to: 'uint8' },
  QLinearMatMul: { weights: 3, zero: 5, to: 'uint8' },
  'com.microsoft:QGemm': { weights: 3, zero: 5, to: 'uint8' },
  QLinearConv: { weights: 3, zero: 5, to: 'uint8' },
  // Its kernel swaps the operands.
  ConvInteger: { weights: 1, zero: 3, to: 'int8' },
};

interface WeightPlace {
  node: OnnxNode;
  places: (typeof products)[string];
  weights: OnnxTensor;
  /** null: not given, so zero. */
  zero: OnnxTensor | null;
}

/** Integer products whose weights are constants of the type that saturates. */
function weightPlaces({ graph, nodes }: OnnxModel): WeightPlace[] {
  const inputs = new Set(graph.inputs.map(({ name }) => name));
  const constants = new Map(
    graph.initializers
      .filter(({ name, sparse }) => !sparse && !inputs.has(name))
      .map((tensor) => [tensor.name, tensor]),
  );
  return nodes.flatMap((node) => {
    const op = node.domain === '' ? node.op : `${node.domain}:${node.op}`;
    const places = graphPathOf(node.id) === '' ? products[op] : undefined;
    if (!places) return [];
    const weights = constants.get(node.inputs[places.weights] ?? '');
    const zeroName = node.inputs[places.zero] ?? '';
    const zero = constants.get(zeroName) ?? null;
    if (!weights || weights.type === places.to || (zeroName !== '' && !zero)) return [];
    return [{ node, places, weights, zero }];
  });
}

/**
 * The edits that shift weights of integer products, and their zero points, by 128 where ONNX Runtime would multiply
 * unsigned by signed numbers: on x86 CPUs without VNNI its sums of two products saturate (measured: version 1.31 on an
 * AMD Milan). The network is the same, its results are those of the standard. null: there are no such weights.
 */
export async function shiftedWeights(
  model: OnnxModel,
  source: ByteSource,
  open: OpenExternal,
): Promise<ModelEdits | null> {
  const edits: Required<Pick<ModelEdits, 'replace' | 'addInitializers' | 'removeInitializers'>> = {
    replace: [],
    addInitializers: [],
    removeInitializers: [],
  };
  const readers = (name: string) => model.nodes.filter(({ inputs }) => inputs.includes(name)).length;
  const add = (name: string, newType: string, shape: readonly number[], values: ArrayLike<number>): string => {
    edits.addInitializers.push({
      graph: '',
      tensor: { name, newType, shape: [...shape], bytes: rawElements(newType, values) },
    });
    return name;
  };
  for (const { node, places, weights, zero } of weightPlaces(model)) {
    const by = places.to === 'uint8' ? 128 : -128;
    const shifted = async (tensor: OnnxTensor) =>
      (await readElements(tensor, source, open))?.map((value) => value + by);
    // oxlint-disable-next-line no-await-in-loop -- one weight in memory at a time
    const [values, zeros] = [await shifted(weights), zero ? await shifted(zero) : [by]];
    if (!values || !zeros) continue;
    const inputs = Array.from(
      { length: Math.max(node.inputs.length, places.zero + 1) },
      (_, i) => node.inputs[i] ?? '',
    );
    inputs[places.weights] = add(`${weights.name}_shifted_${node.id}`, places.to, weights.shape, values);
    inputs[places.zero] = add(`${weights.name}_zero_${node.id}`, places.to, zero?.shape ?? [], zeros);
    if (readers(weights.name) === 1) edits.removeInitializers.push({ graph: '', name: weights.name });
    const { op, domain, name, outputs } = node;
    edits.replace.push({ node: node.id, by: { op, domain, name, inputs, outputs: [...outputs], like: node } });
  }
  return edits.replace.length === 0 ? null : edits;
}
