// A copy of a model that computes in FP64 where operators allow: how exact FP32 results are at all.
import { isStandardDomain } from '../../kernel/network/modelGraph.ts';
import type { Network } from '../../kernel/network/network.ts';
import type { ModelEdits } from '../../kernel/read/onnx/editModel.ts';

/** Operators that name the type of what they make, or read tensors that are float in any case. */
const typed =
  /^(?:Bernoulli|Cast|CastLike|Constant|ConstantOfShape|(?:Dynamic)?(?:Q|Deq)uantizeLinear|EyeLike|HannWindow|HammingWindow|BlackmanWindow|MelWeightMatrix|Multinomial|RandomNormal|RandomNormalLike|RandomUniform|RandomUniformLike|Resize|Upsample)$/;

/**
 * The edits of such a copy: its inputs, constants and outputs stay float, and Cast nodes lie between what computes in
 * double and what does not: nodes with subgraphs, of other domains, and of the operators `inFloat`.
 * @returns null: nothing would compute in double
 */
export function doubleEdits(network: Network, inFloat: ReadonlySet<string>): ModelEdits | null {
  const { nodes, tensors, inferred, graphOutputs } = network;
  const isFloat = (tensor: number) => tensor >= 0 && inferred.types[tensor] === 'float';
  const isDouble = nodes.map(
    ({ op, domain, subgraphs }, node) =>
      network.owner[node]! < 0 &&
      isStandardDomain(domain) &&
      subgraphs.length === 0 &&
      !typed.test(op) &&
      !inFloat.has(op) &&
      [...network.inputs[node]!, ...network.outputs[node]!].some(isFloat),
  );
  if (!isDouble.includes(true) || network.model.functions.length > 0) return null;
  const names = new Set(tensors.map(({ name }) => name));
  const nameOf = (tensor: number) => {
    let name = `${tensors[tensor]!.name}/double`;
    while (names.has(name)) name += '_';
    return name;
  };
  const edits = { casts: [], inputs: [], outputs: [] } as Required<Pick<ModelEdits, 'casts' | 'inputs' | 'outputs'>>;
  for (const [node, { id }] of nodes.entries()) {
    if (!isDouble[node]) continue;
    for (const list of ['inputs', 'outputs'] as const)
      for (const [index, tensor] of network[list][node]!.entries())
        if (isFloat(tensor)) edits[list].push({ node: id, index, tensor: nameOf(tensor) });
  }
  for (const [tensor, { name, producer, consumers, owner }] of tensors.entries()) {
    if (!isFloat(tensor) || owner >= 0) continue;
    const made = producer >= 0 && isDouble[producer]!;
    const after = producer >= 0 ? nodes[producer]!.id : null;
    const asked = new Set(consumers.map((node) => isDouble[node]!));
    if (graphOutputs.includes(tensor)) asked.add(false);
    const [float, double] = [name, nameOf(tensor)];
    if (made && asked.has(false))
      edits.casts.push({ graph: '', name: `${double}/float`, input: double, output: float, to: 'float', after });
    if (!made && asked.has(true))
      edits.casts.push({ graph: '', name: double, input: float, output: double, to: 'double', after });
  }
  return edits;
}
