// What the nodes of a model read in place of constants that a remedy changes.
import type { RemedyTensor } from '../../../kernel/simulation/simulated.ts';
import type { DataType, OnnxModel } from '../../../kernel/read/onnx/onnxModel.ts';
import { rawElements } from '../../../kernel/read/onnx/readElements.ts';
import type { NewNode } from '../../../kernel/read/onnx/writeModel.ts';
import type { ModelEdits } from '../../../kernel/read/onnx/editModel.ts';
import type { Replacement } from './reducedPrecisionModel.ts';

/** Scales with their zero points: the nodes read them at inputs 1 and 2. `zeroType`: of the zero point of a node; null: it has none. */
export function scaleInputs(
  { tensor, to, at, scales, axis }: RemedyTensor,
  zeroType: (node: string) => DataType | null,
): Replacement[] {
  const shape = scales ? [scales.length] : [];
  const bytes = rawElements('float', scales ?? [to]);
  return at.flatMap(({ node, index }): Replacement[] => {
    const own = { node, index, tensor: { name: `${tensor}_scale`, newType: 'float' as const, shape, bytes } };
    const type = scales ? zeroType(node) : null;
    if (type === null) return [{ ...own, ...(axis !== undefined && { axis }) }];
    const zeros = {
      name: `${tensor}_zero`,
      newType: type,
      shape,
      bytes: rawElements(type, new Float64Array(shape[0]!)),
    };
    return [
      { ...own, ...(axis !== undefined && { axis }) },
      { node, index: 2, tensor: zeros },
    ];
  });
}

/** The edits that write replacements into a model. What nothing reads any more stays: it changes nothing. */
export function replacementEdits(model: OnnxModel, replaced: readonly Replacement[]): ModelEdits {
  const taken = new Set(model.nodes.flatMap(({ inputs, outputs }) => [...inputs, ...outputs]));
  for (const { name } of model.graph.initializers) taken.add(name);
  const names = new Map<string, string>();
  const addInitializers: NonNullable<ModelEdits['addInitializers']> = [];
  for (const { tensor } of replaced) {
    if (names.has(tensor.name)) continue;
    let name = tensor.name;
    for (let n = 1; taken.has(name); n++) name = `${tensor.name}_${n}`;
    taken.add(name);
    names.set(tensor.name, name);
    addInitializers.push({ graph: '', tensor: { ...tensor, name } });
  }
  const axes = new Map(replaced.flatMap(({ node, axis }) => (axis === undefined ? [] : [[node, axis] as const])));
  const replace = model.graph.nodes.flatMap((node) => {
    const axis = axes.get(node.id);
    if (axis === undefined) return [];
    const inputs = node.inputs.map((input, index) => {
      const own = replaced.find((one) => one.node === node.id && one.index === index);
      return own ? names.get(own.tensor.name)! : input;
    });
    const { op, name, outputs } = node;
    const by: NewNode = { op, name, inputs, outputs, attributes: { axis: { int: axis } }, like: node };
    return [{ node: node.id, by }];
  });
  const inputs = replaced
    .filter(({ node }) => !axes.has(node))
    .map(({ node, index, tensor }) => ({ node, index, tensor: names.get(tensor.name)! }));
  return { addInitializers, inputs, replace };
}
