import type { DataType, OnnxNode } from '../../onnx/onnxModel.ts';
import { sharesOneType } from '../../model/oneType.ts';
import { isSingleInput } from './opTypes.ts';

/** Types that a rewrite moves between; all others stay as they are. */
export type RealType = 'float' | 'float16' | 'bfloat16';

export function isRealType(type: DataType | null): type is RealType {
  return type === 'float' || type === 'float16' || type === 'bfloat16';
}

/**
 * How a node's types hang together: `free`: all floating-point inputs and outputs share one type, which a rewrite may
 * choose; `inputs`: the same for its inputs, while its outputs are no floating-point numbers; `fixed`: it stays as it
 * is (its types are written into it, or are not known here).
 */
export type Typing = 'free' | 'inputs' | 'fixed';

/** How a node's types hang together. `calls` are local functions (`domain` newline `name`), whose bodies stay as they are. */
export function typingOf(node: OnnxNode, types: (DataType | null)[], calls: ReadonlySet<string>): Typing {
  if (node.subgraphs.length > 0 || calls.has(`${node.domain}\n${node.op}`)) return 'fixed';
  if (!sharesOneType(node)) return 'fixed';
  return types.some((type) => isRealType(type) || type === 'double') ? 'free' : 'inputs';
}

/** Whether an input follows the node's type. The others keep the type that they have in the model. */
export function followsType(node: OnnxNode, input: number): boolean {
  if (isSingleInput(node.op, node.domain, input)) return false;
  if (node.op === 'Resize') return input === 0;
  if (node.op === 'Dropout') return input === 0;
  // Its indices and depth are whole numbers, whatever their type.
  if (node.op === 'OneHot') return input === 2;
  return true;
}

/** Whether an output follows the node's type: statistics of a normalisation have a type of their own. */
export function outputFollows({ op }: OnnxNode, output: number): boolean {
  const statistics = /^(Skip)?(?:Simplified)?LayerNormalization$/.exec(op);
  // What skips also gives the sum, after the statistics.
  return !statistics || output === 0 || (statistics[1] !== undefined && output === 3);
}

/** Operators that read any type and give nothing that depends on their input's values' type. */
export function readsAnyType(node: OnnxNode): boolean {
  return node.op === 'Shape' || node.op === 'Size';
}

/** Operators that only move data: cheap to run in any type. */
const moving: ReadonlySet<string> = new Set([
  'Concat',
  'DepthToSpace',
  'Expand',
  'Flatten',
  'Gather',
  'GatherElements',
  'GatherND',
  'Identity',
  'Pad',
  'Reshape',
  'Slice',
  'SpaceToDepth',
  'Split',
  'Squeeze',
  'Tile',
  'Transpose',
  'Unsqueeze',
]);

/** Operators of one step an element, which cost little next to a product. */
const pointwise: ReadonlySet<string> = new Set([
  'Abs',
  'Add',
  'Clip',
  'Div',
  'Mul',
  'Neg',
  'Pow',
  'Reciprocal',
  'Relu',
  'Sqrt',
  'Sub',
  'Where',
]);

/** Whether running a node in another type costs little. */
export function isCheap(node: OnnxNode): boolean {
  return node.domain === '' && (moving.has(node.op) || pointwise.has(node.op));
}
