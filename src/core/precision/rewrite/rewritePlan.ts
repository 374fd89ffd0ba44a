import type { DataType } from '../../onnx/onnxModel.ts';
import type { Problem } from '../../text/problem.ts';
import type { RealType } from '../plan/opTyping.ts';

/**
 * What to change in a model so that it computes in the types of a plan, strongly typed. Everything that is not named
 * here stays byte for byte. Graphs are named by path ('' is the main graph), tensors by name.
 */
export interface RewritePlan {
  /** Cast nodes to insert. */
  casts: NewCast[];
  /** Inputs of existing nodes that read another tensor now. */
  inputs: { node: string; index: number; tensor: string }[];
  /** Outputs of existing nodes that write another tensor now: a Cast then writes the old name. */
  outputs: { node: string; index: number; tensor: string }[];
  /**
   * Names for nodes that have none and whose first output is renamed: TensorRT would call them after that, and no rule,
   * log or engine would know them any more.
   */
  names: { node: string; name: string }[];
  /** Ids of the Q/DQ nodes that nothing reads any more, because rules take their readers out of INT8. No other edit names them. */
  remove: string[];
  /** Initializers whose type and bytes change. */
  initializers: { graph: string; name: string; from: RealType; to: RealType }[];
  /** Constant and ConstantOfShape nodes whose `value` tensor or `value_float` changes its type and bytes. */
  constants: { node: string; from: RealType; to: RealType }[];
  /** Declared types to change: entries of value_info, and graph inputs and outputs where `io` is `follow`. */
  values: { graph: string; name: string; to: DataType }[];
  /** Compute type of every node that was free to choose. */
  nodes: { id: string; name: string; type: RealType; asked: boolean }[];
  counts: RewriteCounts;
  problems: Problem[];
}

export interface NewCast {
  graph: string;
  name: string;
  input: string;
  output: string;
  to: RealType;
  /** Id of the node right after which it goes; null: at the start of the graph. */
  after: string | null;
}

export interface RewriteCounts {
  casts: number;
  /** Nodes moved into an FP32 island in addition to those requested, and the Casts that this saved. */
  grown: number;
  castsSaved: number;
  byType: Record<RealType, number>;
}
