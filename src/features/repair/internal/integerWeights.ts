import { addTo, valueAt } from '../../../kernel/base/addTo.ts';
import type { ByteSource } from '../../../kernel/base/problem.ts';
import { graphPathOf } from '../../../kernel/network/modelGraph.ts';
import type { ModelEdits } from '../../../kernel/read/onnx/editModel.ts';
import type { OnnxModel, OnnxNode, OnnxTensor } from '../../../kernel/read/onnx/onnxModel.ts';
import { type OpenExternal, rawElements, readElements } from '../../../kernel/read/onnx/readElements.ts';

/** Integer products: the places of their weights and of these weights' zero point among the inputs. */
const products: Readonly<Record<string, { weights: number; zero: number; to: 'int8' | 'uint8' }>> = {
  MatMulInteger: { weights: 1, zero: 3, to: 'uint8' },
  QLinearMatMul: { weights: 3, zero: 5, to: 'uint8' },
  'com.microsoft:QGemm': { weights: 3, zero: 5, to: 'uint8' },
  // Its kernel swaps the operands.
  ConvInteger: { weights: 1, zero: 3, to: 'int8' },
  QLinearConv: { weights: 3, zero: 5, to: 'uint8' },
};

/**
 * The edits that shift weights of integer products, and their zero points, by 128 where ONNX Runtime would multiply
 * unsigned by signed numbers: on x86 CPUs without VNNI its sums of two products saturate (measured: version 1.31 on an
 * AMD Milan). The network is the same, its results are those of the standard. null: there are no such weights.
 */
export async function shiftedWeights(
  { graph, nodes }: OnnxModel,
  source: ByteSource,
  open: OpenExternal,
): Promise<ModelEdits | null> {
  const inputs = new Set(graph.inputs.map(({ name }) => name));
  const constants = new Map(
    graph.initializers
      .filter(({ name, sparse }) => !sparse && !inputs.has(name))
      .map((tensor) => [tensor.name, tensor]),
  );
  const readers = new Map<string, OnnxNode[]>();
  for (const node of nodes) for (const name of new Set(node.inputs)) addTo(readers, name, node);
  const edits: Required<Pick<ModelEdits, 'replace' | 'addInitializers' | 'removeInitializers'>> = {
    replace: [],
    addInitializers: [],
    removeInitializers: [],
  };
  const add = (name: string, type: string, shape: readonly number[], values: ArrayLike<number>) =>
    edits.addInitializers.push({
      graph: '',
      tensor: { name, newType: type, shape: [...shape], bytes: rawElements(type, values) },
    });
  for (const node of nodes) {
    const product = productOf(node);
    if (!product) continue;
    const weights = constants.get(node.inputs[product.weights] ?? '');
    const zeroName = node.inputs[product.zero] ?? '';
    const zero = constants.get(zeroName);
    if (!weights || weights.type === product.to || (zeroName !== '' && !zero)) continue;
    const by = product.to === 'uint8' ? 128 : -128;
    const shifted = async (tensor: OnnxTensor) =>
      (await readElements(tensor, source, open))?.map((value) => value + by);
    // oxlint-disable-next-line no-await-in-loop -- one weight in memory at a time
    const [values, zeros] = [await shifted(weights), zero ? await shifted(zero) : [by]];
    if (!values || !zeros) continue;
    const own = (name: string) => `${name}_shifted_${node.id}`;
    const [name, zeroPoint] = [own(weights.name), own(zeroName || weights.name + '_zero')];
    add(name, product.to, weights.shape, values);
    add(zeroPoint, product.to, zero?.shape ?? [], zeros);
    if (readers.get(weights.name)!.length === 1) edits.removeInitializers.push({ graph: '', name: weights.name });
    const renamed = Array.from({ length: Math.max(node.inputs.length, product.zero + 1) }, (_, i) =>
      i === product.weights ? name : i === product.zero ? zeroPoint : (node.inputs[i] ?? ''),
    );
    edits.replace.push({
      node: node.id,
      by: {
        op: node.op,
        domain: node.domain,
        name: node.name,
        inputs: renamed,
        outputs: [...node.outputs],
        like: node,
      },
    });
  }
  return edits.replace.length === 0 ? null : edits;
}

const productOf = ({ id, op, domain }: OnnxNode): (typeof products)[string] | undefined =>
  graphPathOf(id) === '' ? valueAt(products, domain === '' ? op : `${domain}:${op}`) : undefined;
