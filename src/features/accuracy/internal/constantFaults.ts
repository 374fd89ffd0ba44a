// Constants that a low precision cannot represent, and what they could be instead.
import type { ConstantFault } from '../../../kernel/simulation/simulated.ts';
import type { LowType } from '../../../kernel/simulation/simulated.ts';
import type { OnnxTensor } from '../../../kernel/read/onnx/onnxModel.ts';
import type { Network } from '../../../kernel/network/network.ts';
import { isQuantized, type ReducedPrecisionModel } from './reducedPrecisionModel.ts';

/** A constant that nodes read, and where its elements are. */
export interface ReadConstant {
  tensor: string;
  type: LowType;
  nodes: string[];
  stored: OnnxTensor | number;
}

/** From this magnitude on, and up to this one, a type holds numbers. */
const rangeOf: Readonly<Record<LowType, { most: number; overflow: number; vanish: number }>> = {
  float16: { most: 65504, overflow: 65520, vanish: 2 ** -25 },
  bfloat16: { most: (2 - 2 ** -7) * 2 ** 127, overflow: (2 - 2 ** -8) * 2 ** 127, vanish: 2 ** -134 },
};

/** The constants of the main graph that some of the low nodes read themselves. */
export function constantsRead(
  { low }: ReducedPrecisionModel,
  network: Network,
  ids: ReadonlySet<string>,
): ReadConstant[] {
  const found = new Map<string, ReadConstant>();
  for (const one of low) {
    if (isQuantized(one) || one.graph !== '' || !ids.has(one.node.id)) continue;
    for (const at of one.inputs) {
      const tensor = one.node.inputs[at]!;
      const known = found.get(tensor);
      const stored = known?.stored ?? storedAt(network, tensor);
      if (stored === null) continue;
      if (known) known.nodes.push(one.node.id);
      else found.set(tensor, { tensor, type: one.type, nodes: [one.node.id], stored });
    }
  }
  return [...found.values()];
}

/** An initializer, or what a Constant holds; null: neither. */
function storedAt(network: Network, name: string): OnnxTensor | number | null {
  const { tensors, nodes } = network;
  const { stored, producer = -1 } = tensors[network.tensorAt('', name)] ?? {};
  if (stored) return stored;
  const attribute = nodes[producer]?.op === 'Constant' ? nodes[producer].attributes[0] : undefined;
  if (attribute?.kind === 'tensor') return (attribute.value as OnnxTensor | null) ?? null;
  return attribute?.name === 'value_float' && typeof attribute.value === 'number' ? attribute.value : null;
}

/** What rounding does to a constant; null: nothing but rounding. Tiny elements of weights among others do no harm. */
export function constantFault(values: ArrayLike<number>, constant: ReadConstant): ConstantFault | null {
  const { tensor, type, nodes } = constant;
  const { overflow, vanish } = rangeOf[type];
  const sizes = Float64Array.from(values, Math.abs);
  const infinite = sizes.filter((size) => size >= overflow && Number.isFinite(size)).length;
  const gone = sizes.filter((size) => size > 0 && size <= vanish).length;
  const found = { tensor, type, nodes, of: sizes.length };
  if (infinite > 0) {
    const at = sizes.reduce((best, size, i) => (Number.isFinite(size) && size > (sizes[best] ?? 0) ? i : best), 0);
    return { ...found, kind: 'overflow', value: values[at]!, elements: infinite };
  }
  if (gone === 0 || gone * 2 < sizes.length) return null;
  const at = sizes.findIndex((size) => size > 0 && size <= vanish);
  return { ...found, kind: 'underflow', value: values[at]!, elements: gone };
}

/** Ends to clamp to, the one that changes least first. Sums with the largest number of a type can leave its range. */
export function clampEnds({ type, kind }: Pick<ConstantFault, 'type' | 'kind'>): number[] {
  if (kind === 'underflow') return type === 'float16' ? [2 ** -24, 2 ** -14] : [2 ** -126];
  return type === 'float16' ? [65504, 30000] : [rangeOf.bfloat16.most, 1e38];
}

/** A constant with what does not fit moved to an end of the range; zeros stay. */
export function clamped(values: ArrayLike<number>, { type, kind }: ConstantFault, end: number): Float64Array {
  const { vanish } = rangeOf[type];
  return Float64Array.from(values, (value) => {
    if (kind === 'overflow') return Math.min(end, Math.max(-end, value));
    return value !== 0 && Math.abs(value) <= vanish ? Math.sign(value) * end : value;
  });
}
