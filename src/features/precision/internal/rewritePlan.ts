// Which types a typed copy of the model gets.
import { quantizedNodes } from '../../../kernel/rules/quantizedNodes.ts';
import type { Problem } from '../../../kernel/base/problem.ts';
import { counted } from '../../../kernel/base/text.ts';
import type { ModelEdits } from '../../../kernel/read/onnx/editModel.ts';
import type { DataType, OnnxGraph, OnnxModel, OnnxNode } from '../../../kernel/read/onnx/onnxModel.ts';
import { graphPathOf, type ModelGraph, standardOpset } from '../../../kernel/network/modelGraph.ts';
import { type Network, networkOf } from '../../../kernel/network/network.ts';
import { parserName } from '../../../kernel/network/nodeNames.ts';
import { isDequantize, isQuantize } from '../../../kernel/quantization/quantization.ts';
import { type Exemption, modelFacts } from '../../../kernel/rules/buildFacts.ts';
import { computesHalf, halfSince } from '../../../kernel/rules/opTypes.ts';
import { onnxTypeOf, type PrecisionType } from '../../../kernel/rules/overrideFile.ts';
import {
  followsType,
  isRealType,
  outputFollows,
  type PlannedNode,
  type PrecisionPlan,
  type RealType,
  type Typing,
  typingOf,
} from '../../../kernel/rules/precisionPlan.ts';

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

/**
 * The edits of a rewrite with Q/DQ pairs for the nodes that compute in INT8. A pair quantizes what its node reads after
 * the rewrite: behind a Cast, if there is one.
 */
export function withPairs(rewrite: RewritePlan, pairs: ModelEdits | null): ModelEdits {
  if (pairs === null) return rewrite;
  const reads = new Map(rewrite.inputs.map((edit) => [placeOf(edit), edit.tensor]));
  const placed = new Set((pairs.inputs ?? []).map(placeOf));
  /** What a Cast makes for a node, by the name of the dequantized tensor that the node reads in its place. */
  const cast = new Map<string, string>();
  for (const edit of pairs.inputs ?? []) {
    const tensor = reads.get(placeOf(edit));
    if (tensor !== undefined) cast.set(edit.tensor, tensor);
  }
  const made = new Map((pairs.insert ?? []).map(({ node }) => [node.outputs[0]!, node]));
  const sources = new Map<string, string>();
  for (const [dequantized, tensor] of cast) sources.set(made.get(dequantized)!.inputs[0]!, tensor);
  return {
    ...rewrite,
    inputs: [...rewrite.inputs.filter((edit) => !placed.has(placeOf(edit))), ...(pairs.inputs ?? [])],
    insert: (pairs.insert ?? []).map((insertion) => {
      const source = sources.get(insertion.node.outputs[0]!);
      if (source === undefined) return insertion;
      return { ...insertion, node: { ...insertion.node, inputs: [source, ...insertion.node.inputs.slice(1)] } };
    }),
    addInitializers: pairs.addInitializers ?? [],
  };
}

/**
 * The main graph as it is with pairs, for looking at what is between them. What dequantizes is at its beginning, and what
 * quantizes at its end: both are found before what reads or makes their tensors.
 */
export function graphWithPairs(graph: OnnxGraph, pairs: ModelEdits): OnnxGraph {
  const reads = new Map((pairs.inputs ?? []).map((edit) => [placeOf(edit), edit.tensor]));
  const nodes = graph.nodes.map((node) => ({
    ...node,
    inputs: node.inputs.map((name, index) => reads.get(placeOf({ node: node.id, index })) ?? name),
  }));
  const made = (pairs.insert ?? []).map(({ node: { op, name, inputs, outputs } }): OnnxNode => ({
    id: name,
    name,
    op,
    domain: '',
    inputs,
    outputs,
    attributes: [],
    subgraphs: [],
    metadata: [],
  }));
  const [first, last] = [made.filter(({ op }) => isDequantize(op)), made.filter(({ op }) => isQuantize(op))];
  return { ...graph, nodes: [...first, ...nodes, ...last] };
}

/** One input of one node. */
export const placeOf = ({ node, index }: { node: string; index: number }): string => `${node}:${index}`;

/**
 * Operators next to the cheap ones that TensorRT runs within the kernel of the quantized product before them: of a
 * maximum, it makes no difference whether it is quantized before or after.
 */

/** Operators over which a node can be said to read a pair, although it cannot read around them. */
const views: ReadonlySet<string> = new Set(['Reshape', 'Transpose', 'Identity', 'Squeeze', 'Unsqueeze', 'Flatten']);

/** What a node reads behind DequantizeLinear, and how it can read the values as they were before. */
export interface QuantizedReads {
  /** By input: the tensor that QuantizeLinear read before the pair. */
  around: Map<number, string>;
  /** Operators that only move dequantized values and are between the pair and the node: it cannot read around these. */
  movedBy: OnnxNode[];
  /** Inputs that are dequantized constants, of which the model has no other values. */
  constants: number[];
}

/** By id, the nodes that read dequantized values; `constant`: the tensor is known before the build. */
export function quantizedReads(graph: OnnxGraph, constant: (tensor: string) => boolean): Map<string, QuantizedReads> {
  const found = new Map<string, QuantizedReads>();
  collectReads(graph, new Map(), constant, found);
  return found;
}

function collectReads(
  graph: OnnxGraph,
  around: ReadonlyMap<string, OnnxNode>,
  constant: (tensor: string) => boolean,
  found: Map<string, QuantizedReads>,
): void {
  const makers = new Map(around);
  for (const node of graph.nodes) {
    for (const name of node.outputs) if (name !== '') makers.set(name, node);
    const reads: QuantizedReads = { around: new Map(), movedBy: [], constants: [] };
    node.inputs.forEach((name, index) => {
      const read = readOf(name, makers, constant);
      if (read.around !== undefined) reads.around.set(index, read.around);
      if (read.fixed) reads.constants.push(index);
      reads.movedBy.push(...read.movedBy);
    });
    if (reads.around.size + reads.movedBy.length + reads.constants.length > 0) found.set(node.id, reads);
    for (const { graph: body } of node.subgraphs) collectReads(body, makers, constant, found);
  }
}

/** Where one tensor comes from, seen through pair after pair. */
function readOf(
  name: string,
  makers: ReadonlyMap<string, OnnxNode>,
  constant: (tensor: string) => boolean,
): { around?: string; movedBy: OnnxNode[]; fixed?: true } {
  const moved: OnnxNode[] = [];
  let maker = makers.get(name);
  while (maker && views.has(maker.op) && maker.inputs[0] !== undefined) {
    moved.push(maker);
    maker = makers.get(maker.inputs[0]);
  }
  if (maker?.op !== 'DequantizeLinear') return { movedBy: [] };
  const quantize = makers.get(maker.inputs[0] ?? '');
  const source = quantize?.op === 'QuantizeLinear' ? quantize.inputs[0] : undefined;
  if (source === undefined) return constant(name) ? { movedBy: [], fixed: true } : { movedBy: [maker] };
  if (moved.length > 0) return { movedBy: constant(name) ? [] : moved };
  const before = readOf(source, makers, constant);
  return { around: before.around ?? source, movedBy: before.movedBy };
}

/** The type of every node after the rewrite, with what the edits need to know of the model. */
export interface TypeChoice {
  model: OnnxModel;
  network: Network;
  /** By node id, every node of the model in its order. */
  nodes: Map<string, ChosenType>;
  problems: Problem[];
}

export interface ChosenType {
  node: OnnxNode;
  typing: Typing;
  /** Compute type; for `fixed` nodes the type is not used. */
  type: RealType;
  /** A rule asked for it. */
  asked: boolean;
  /** TensorRT computes so where a build may choose types, but ONNX cannot express it: in a typed copy it stays in FP32. */
  beyondOnnx?: true;
  /** Output types that a rule asked for, by output; empty for none. */
  outputs: (RealType | null)[];
  /** By input: the tensor to read in place of what a Q/DQ pair makes of it. Absent for none. */
  around?: ReadonlyMap<number, string>;
}

/**
 * Chooses each node's compute type: a rule's, otherwise the base's, otherwise the one that it has. `limit`: the types that
 * ONNX can express in the model's opset, or those that TensorRT computes in.
 */
export function chooseTypes(
  model: OnnxModel,
  plan: PrecisionPlan,
  pairs?: ModelEdits,
  limit: 'onnx' | 'tensorrt' = 'onnx',
): TypeChoice {
  return new Chooser(model, plan, pairs, limit).choose();
}

/** What only Q/DQ nodes make of floating-point numbers. */
const quantized: ReadonlySet<string> = new Set(['int8', 'fp8', 'int4'] satisfies PrecisionType[]);

interface ReportText {
  severity: Problem['severity'];
  code: string;
  text: (ops: string, n: string) => string;
}

class Chooser {
  private readonly model: OnnxModel;
  private readonly plan: PrecisionPlan;
  private readonly network: Network;
  private readonly limit: 'onnx' | 'tensorrt';
  private readonly insertsPairs: boolean;
  private readonly opset: number;
  private readonly requests: Map<string, PlannedNode>;
  private readonly exempt: Map<string, Exemption | null>;
  private readonly calls: Set<string>;
  private readonly quantized: Set<string>;
  private readonly reads: Map<string, QuantizedReads>;
  private readonly problems: Problem[] = [];
  /** Nodes that a rule cannot take out of their quantized kernels, with what is in the way. */
  private readonly blocked = new Map<string, { node: OnnxNode; blocking: OnnxNode }>();
  private readonly counts = new Map<string, { ops: Set<string>; nodes: number; first: string }>();

  constructor(model: OnnxModel, plan: PrecisionPlan, pairs: ModelEdits | undefined, limit: 'onnx' | 'tensorrt') {
    this.model = model;
    this.limit = limit;
    this.insertsPairs = pairs !== undefined;
    this.plan = plan;
    this.network = networkOf(model);
    this.opset = standardOpset(model);
    this.requests = new Map(plan.nodes.map((request) => [request.id, request]));
    this.exempt = new Map(modelFacts(model, '').nodes.map(({ id, exempt }) => [id, exempt]));
    this.calls = new Set(model.functions.map(({ domain, name }) => `${domain}\n${name}`));
    this.quantized = quantizedNodes(pairs ? graphWithPairs(model.graph, pairs) : model.graph);
    this.reads = this.quantized.size === 0 ? new Map() : this.quantizedReads();
  }

  choose(): TypeChoice {
    const nodes = new Map<string, ChosenType>();
    if (this.opset < 13 && (this.plan.base === 'bf16' || this.plan.nodes.some(({ compute }) => compute === 'bf16'))) {
      this.problems.push({
        severity: 'error',
        code: 'opset-too-old',
        message: `BF16 needs opset 13 or later; this model has ${this.opset}. Convert it first (onnx.version_converter).`,
      });
    }
    for (const node of this.model.nodes) nodes.set(node.id, this.node(node));
    this.report();
    return { model: this.model, network: this.network, nodes, problems: this.problems };
  }

  private node(node: OnnxNode): ChosenType {
    const outputTypes = this.network.outputTypesOf(node);
    const inputTypes = this.inputTypes(node);
    const typing = typingOf(node, outputTypes, this.calls);
    const own = [...outputTypes, ...inputTypes].find(isRealType) ?? 'float';
    const chosen: ChosenType = { node, typing, type: own, asked: false, outputs: [] };
    const request = this.requests.get(node.id);
    const exempt = this.exempt.get(node.id) ?? null;
    // Constants and shapes are computed while the engine is built or on the host: they keep their exact types.
    if (exempt !== null && exempt !== 'integer') return { ...chosen, typing: 'fixed' };
    if (typing === 'fixed') {
      if (request) this.count('kept-operator', node);
      else if (exempt === null && this.plan.base !== 'keep' && node.subgraphs.length === 0)
        this.count('base-skips-operator', node);
      return chosen;
    }
    if (this.readsUnknown(node)) {
      this.count('unknown-types', node);
      return { ...chosen, typing: 'fixed' };
    }
    // Numbers of eight or four bits that are moved, for instance.
    if (typing === 'inputs' && request) this.count('kept-operator', node);
    // Where a comparison's like takes FP32 only, its inputs keep the types that they have.
    if (typing === 'inputs') return this.takes(node, 'float16') ? chosen : { ...chosen, typing: 'fixed' };
    if ([...outputTypes, ...inputTypes].some((type) => type === 'double')) {
      if (request || this.plan.base !== 'keep') this.count('kept-double', node);
      return { ...chosen, typing: 'fixed' };
    }
    if (request) return this.requested(chosen, request);
    const followers = outputTypes.filter((_, i) => outputFollows(node, i));
    return this.based(chosen, new Set([...followers, ...inputTypes].filter(isRealType)).size > 1);
  }

  private requested(chosen: ChosenType, request: PlannedNode): ChosenType {
    const type = onnxTypeOf(request.compute);
    if (request.compute === 'int8' && this.insertsPairs) return { ...chosen, asked: true };
    if (!isRealType(type)) {
      this.count('needs-qdq', chosen.node);
      return chosen;
    }
    const asked = request.outputs ?? [];
    if (asked.some((output) => quantized.has(output))) this.count('needs-qdq', chosen.node);
    const outputs = asked.map((output) => {
      const real = onnxTypeOf(output);
      return isRealType(real) ? real : null;
    });
    const around = this.around(chosen.node);
    const inside = this.quantized.has(chosen.node.id) && !this.blocked.has(chosen.node.id);
    if (!around && inside && type !== chosen.type) this.count('quantized-node', chosen.node);
    const able = this.able(chosen.node, type, 'asked');
    return {
      ...chosen,
      ...(able && this.beyondOnnx(chosen.node, type)),
      type: able ? type : chosen.type,
      asked: true,
      outputs,
      ...(around && { around }),
    };
  }

  /** A floating-point type is only had by reading around the Q/DQ pairs that make the kernel an integer one. */
  private around(node: OnnxNode): ReadonlyMap<number, string> | null {
    const reads = this.reads.get(node.id);
    if (!reads) return null;
    // A rule for what moves the values reads around the pair there.
    const blocking = reads.movedBy.find((mover) => !this.requests.has(mover.id));
    if (blocking) {
      this.blocked.set(node.id, { node, blocking });
      return null;
    }
    if (reads.constants.length > 0) this.count('weights-stay-quantized', node);
    if (reads.around.size === 0) return null;
    this.count('leaves-quantized', node);
    return reads.around;
  }

  private quantizedReads(): Map<string, QuantizedReads> {
    const { roles } = this.network.roles;
    const constant = new Set(this.model.graph.initializers.map(({ name }) => name));
    for (const [index, node] of this.model.nodes.entries())
      if (roles[index] === 'constant') for (const name of node.outputs) constant.add(name);
    return quantizedReads(this.model.graph, (tensor) => constant.has(tensor));
  }

  /** `mixed`: some operators may have inputs of several types. Left alone, such a node keeps them. */
  private based(chosen: ChosenType, mixed: boolean): ChosenType {
    const { base } = this.plan;
    const left: ChosenType = mixed ? { ...chosen, typing: 'fixed' } : chosen;
    if (base === 'keep') return left;
    const type = base === 'fp16' ? 'float16' : 'bfloat16';
    if (this.quantized.has(chosen.node.id)) {
      if (type !== chosen.type) this.count('base-skips-quantized', chosen.node);
      return left;
    }
    if (!this.able(chosen.node, type, 'base')) return { ...chosen, type: 'float' };
    return { ...chosen, type, ...this.beyondOnnx(chosen.node, type) };
  }

  private beyondOnnx(node: OnnxNode, type: RealType): Pick<ChosenType, 'beyondOnnx'> {
    return type === 'float' || this.takes(node, type) ? {} : { beyondOnnx: true };
  }

  private able(node: OnnxNode, type: RealType, by: 'asked' | 'base'): boolean {
    if (type === 'float' || this.takes(node, type)) return true;
    if (this.limit === 'tensorrt' && computesHalf(node.op, node.domain, type, this.opset)) return true;
    this.count(`${by}-single-${type}`, node);
    return false;
  }

  private takes(node: OnnxNode, type: 'float16' | 'bfloat16'): boolean {
    return halfSince(node.op, node.domain, type) <= this.opset;
  }

  /** One of its inputs has a type that cannot be told: then all of them stay as they are. */
  private readsUnknown(node: OnnxNode): boolean {
    const path = graphPathOf(node.id);
    return node.inputs.some((tensor) => tensor !== '' && this.network.typeOf(path, tensor) === null);
  }

  private inputTypes(node: OnnxNode): (DataType | null)[] {
    const path = graphPathOf(node.id);
    return node.inputs.map((tensor, i) =>
      tensor === '' || !followsType(node, i) ? null : this.network.typeOf(path, tensor),
    );
  }

  private count(code: string, node: OnnxNode): void {
    const found = this.counts.get(code) ?? { ops: new Set<string>(), nodes: 0, first: node.id };
    found.ops.add(node.op);
    found.nodes++;
    this.counts.set(code, found);
  }

  private report(): void {
    const single = (severity: Problem['severity'], type: string, advice: string): ReportText => ({
      severity,
      code: 'kept-single',
      text: (ops, n) => {
        const fate = severity === 'warning' ? `not in ${type} although a rule requests it` : 'in FP32';
        return `${n} ${fate}: in opset ${this.opset} ONNX does not allow ${type} for ${ops}.${advice}`;
      },
    });
    const texts: Record<string, ReportText> = {
      'kept-operator': {
        severity: 'warning',
        code: 'kept-operator',
        text: (ops, n) =>
          `${n} kept the type of the model although a rule requests another: the types of ${ops} are fixed in the node or unknown.`,
      },
      'base-skips-operator': {
        severity: 'info',
        code: 'base-skips-operator',
        text: (ops, n) => `${n} (${ops}) kept the type of the model: it is fixed in the node or unknown.`,
      },
      'unknown-types': {
        severity: 'warning',
        code: 'unknown-types',
        text: (ops, n) =>
          `${n} (${ops}) unchanged: the types of the inputs are unknown. Run shape inference on the model first, or declare the outputs of plugins (value_info).`,
      },
      'kept-double': {
        severity: 'warning',
        code: 'kept-double',
        text: (ops, n) => `${n} (${ops}) kept double precision, which TensorRT does not support.`,
      },
      'needs-qdq': {
        severity: 'error',
        code: 'type-needs-qdq',
        text: (ops, n) =>
          `${n} (${ops}) cannot be rewritten to a type that needs Q/DQ nodes. For int8, add a line "scales FILE" with a calibration cache or samples; otherwise quantize the model first.`,
      },
      'quantized-node': {
        severity: 'warning',
        code: 'quantized-node',
        text: (ops, n) =>
          `${n} (${ops}) in quantized kernels: a Cast next to such a node removes it from the quantized fusion.`,
      },
      'leaves-quantized': {
        severity: 'info',
        code: 'leaves-quantized',
        text: (ops, n) =>
          `${n} (${ops}) now ${n.startsWith('1 ') ? 'reads' : 'read'} the values before their Q/DQ pairs, so TensorRT cannot use INT8 or FP8 kernels for them.`,
      },
      'weights-stay-quantized': {
        severity: 'info',
        code: 'weights-stay-quantized',
        text: (ops, n) =>
          `${n} (${ops}) ${n.startsWith('1 ') ? 'computes' : 'compute'} with dequantized weights: the model has no others.`,
      },
      'base-skips-quantized': {
        severity: 'info',
        code: 'base-skips-quantized',
        text: (ops, n) => `${n} (${ops}) kept the type of the model because they are part of quantized kernels.`,
      },
      'base-single-float16': single('info', 'FP16', ''),
      'base-single-bfloat16': single('info', 'BF16', ' A newer opset allows it for most of them.'),
      'asked-single-float16': single('warning', 'FP16', ''),
      'asked-single-bfloat16': single('warning', 'BF16', ' A newer opset allows it for most of them.'),
    };
    for (const { node, blocking } of this.blocked.values())
      this.problems.push({
        severity: 'error',
        code: 'quantized-node',
        message: `"${parserName(node)}" cannot leave its quantized kernel: ${
          blocking.op === 'DequantizeLinear'
            ? `the model has what "${parserName(blocking)}" dequantizes in no other type`
            : `it reads quantized values through "${parserName(blocking)}" (${blocking.op}). Add that node to the rule`
        }, or quantize the model without this node.`,
        node: node.id,
      });
    for (const [key, { ops, nodes, first }] of this.counts) {
      const entry = texts[key];
      if (!entry) continue;
      const count = counted(nodes, 'node');
      this.problems.push({
        severity: entry.severity,
        code: entry.code,
        message: entry.text([...ops].sort().join(', '), count),
        node: first,
      });
    }
  }
}

/**
 * By which line of the rules each of some Q/DQ nodes is removed: that of the request whose node reads its result, if only
 * through others of them.
 * @param lines line of the request for a node, by its id
 */
export function linesOfRemoved(
  graph: ModelGraph,
  removed: readonly string[],
  lines: ReadonlyMap<string, number>,
): Record<string, number> {
  const gone = new Set(removed);
  const lineOf = (node: number, depth: number): number | undefined => {
    for (const tensor of graph.outputs[node]!) {
      for (const reader of graph.tensors[tensor]!.consumers) {
        const { id } = graph.nodes[reader]!;
        // Values are moved between a pair and what reads them.
        const line = lines.get(id) ?? (gone.has(id) || depth > 0 ? lineOf(reader, depth - 1) : undefined);
        if (line !== undefined) return line;
      }
    }
    return undefined;
  };
  return Object.fromEntries(removed.map((id) => [id, lineOf(graph.indexOfId.get(id)!, 4) ?? 0]));
}
