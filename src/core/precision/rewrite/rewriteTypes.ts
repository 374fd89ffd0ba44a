import type { ModelEdits } from '../../onnx/editModel.ts';
import { graphWithPairs } from './quantiseRewrite.ts';
import type { DataType, OnnxModel, OnnxNode } from '../../onnx/onnxModel.ts';
import type { Problem } from '../../text/problem.ts';
import { graphPathOf } from '../../model/modelGraph.ts';
import type { TensorTypes } from '../../model/tensorTypes.ts';
import { standardOpset } from '../../model/opset.ts';
import { nodeRoles } from '../../model/nodeRoles.ts';
import { parserName } from '../../model/parserName.ts';
import { modelFacts } from '../plan/modelFacts.ts';
import type { Exemption } from '../plan/modelFacts.ts';
import { halfSince } from '../plan/opTypes.ts';
import { followsType, isRealType, outputFollows, typingOf } from '../plan/opTyping.ts';
import type { RealType, Typing } from '../plan/opTyping.ts';
import type { PlannedNode, PrecisionPlan } from '../plan/precisionPlan.ts';
import { onnxTypeOf } from '../language/precisionType.ts';
import type { PrecisionType } from '../language/precisionType.ts';
import { quantisedNodes, quantisedReads, type QuantisedReads } from '../check/quantisedNodes.ts';
import { counted } from '../../text/numbers.ts';

/** The type of every node after the rewrite, with what the edits need to know of the model. */
export interface TypeChoice {
  model: OnnxModel;
  types: TensorTypes;
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
  /** Output types that a rule asked for, by output; empty for none. */
  outputs: (RealType | null)[];
  /** By input: the tensor to read in place of what a Q/DQ pair makes of it. Absent for none. */
  around?: ReadonlyMap<number, string>;
}

/** Chooses each node's compute type: a rule's, otherwise the base's, otherwise the one that it has. */
export function chooseTypes(model: OnnxModel, plan: PrecisionPlan, types: TensorTypes, pairs?: ModelEdits): TypeChoice {
  return new Chooser(model, plan, types, pairs).choose();
}

/** What only Q/DQ nodes make of floating-point numbers. */
const quantised: ReadonlySet<string> = new Set(['int8', 'fp8', 'int4'] satisfies PrecisionType[]);

interface ReportText {
  severity: Problem['severity'];
  code: string;
  text: (ops: string, n: string) => string;
}

class Chooser {
  private readonly model: OnnxModel;
  private readonly plan: PrecisionPlan;
  private readonly types: TensorTypes;
  private readonly insertsPairs: boolean;
  private readonly opset: number;
  private readonly requests: Map<string, PlannedNode>;
  private readonly exempt: Map<string, Exemption | null>;
  private readonly calls: Set<string>;
  private readonly quantised: Set<string>;
  private readonly reads: Map<string, QuantisedReads>;
  private readonly problems: Problem[] = [];
  /** Nodes that a rule cannot take out of their quantized kernels, with what is in the way. */
  private readonly blocked = new Map<string, { node: OnnxNode; blocking: OnnxNode }>();
  private readonly counts = new Map<string, { ops: Set<string>; nodes: number; first: string }>();

  constructor(model: OnnxModel, plan: PrecisionPlan, types: TensorTypes, pairs: ModelEdits | undefined) {
    this.model = model;
    this.insertsPairs = pairs !== undefined;
    this.plan = plan;
    this.types = types;
    this.opset = standardOpset(model);
    this.requests = new Map(plan.nodes.map((request) => [request.id, request]));
    this.exempt = new Map(modelFacts(model, '', types).nodes.map(({ id, exempt }) => [id, exempt]));
    this.calls = new Set(model.functions.map(({ domain, name }) => `${domain}\n${name}`));
    this.quantised = quantisedNodes(pairs ? graphWithPairs(model.graph, pairs) : model.graph);
    this.reads = this.quantised.size === 0 ? new Map() : this.quantisedReads();
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
    return { model: this.model, types: this.types, nodes, problems: this.problems };
  }

  private node(node: OnnxNode): ChosenType {
    const outputTypes = this.types.outputsOf(node);
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
    if (asked.some((output) => quantised.has(output))) this.count('needs-qdq', chosen.node);
    const outputs = asked.map((output) => {
      const real = onnxTypeOf(output);
      return isRealType(real) ? real : null;
    });
    const around = this.around(chosen.node);
    const inside = this.quantised.has(chosen.node.id) && !this.blocked.has(chosen.node.id);
    if (!around && inside && type !== chosen.type) this.count('quantised-node', chosen.node);
    const able = this.able(chosen.node, type, 'asked');
    return { ...chosen, type: able ? type : chosen.type, asked: true, outputs, ...(around && { around }) };
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
    if (reads.constants.length > 0) this.count('weights-stay-quantised', node);
    if (reads.around.size === 0) return null;
    this.count('leaves-quantised', node);
    return reads.around;
  }

  private quantisedReads(): Map<string, QuantisedReads> {
    const { roles } = nodeRoles(this.types.graph);
    const constant = new Set(this.model.graph.initializers.map(({ name }) => name));
    for (const [index, node] of this.model.nodes.entries())
      if (roles[index] === 'constant') for (const name of node.outputs) constant.add(name);
    return quantisedReads(this.model.graph, (tensor) => constant.has(tensor));
  }

  /** `mixed`: some operators may have inputs of several types. Left alone, such a node keeps them. */
  private based(chosen: ChosenType, mixed: boolean): ChosenType {
    const { base } = this.plan;
    const left: ChosenType = mixed ? { ...chosen, typing: 'fixed' } : chosen;
    if (base === 'keep') return left;
    const type = base === 'fp16' ? 'float16' : 'bfloat16';
    if (this.quantised.has(chosen.node.id)) {
      if (type !== chosen.type) this.count('base-skips-quantised', chosen.node);
      return left;
    }
    return this.able(chosen.node, type, 'base') ? { ...chosen, type } : { ...chosen, type: 'float' };
  }

  private able(node: OnnxNode, type: RealType, by: 'asked' | 'base'): boolean {
    if (type === 'float' || this.takes(node, type)) return true;
    this.count(`${by}-single-${type}`, node);
    return false;
  }

  private takes(node: OnnxNode, type: 'float16' | 'bfloat16'): boolean {
    return halfSince(node.op, node.domain, type) <= this.opset;
  }

  /** One of its inputs has a type that cannot be told: then all of them stay as they are. */
  private readsUnknown(node: OnnxNode): boolean {
    const path = graphPathOf(node.id);
    return node.inputs.some((tensor) => tensor !== '' && this.types.typeOf(path, tensor) === null);
  }

  private inputTypes(node: OnnxNode): (DataType | null)[] {
    const path = graphPathOf(node.id);
    return node.inputs.map((tensor, i) =>
      tensor === '' || !followsType(node, i) ? null : this.types.typeOf(path, tensor),
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
      'quantised-node': {
        severity: 'warning',
        code: 'quantised-node',
        text: (ops, n) =>
          `${n} (${ops}) in quantized kernels: a Cast next to such a node removes it from the quantized fusion.`,
      },
      'leaves-quantised': {
        severity: 'info',
        code: 'leaves-quantised',
        text: (ops, n) =>
          `${n} (${ops}) now ${n.startsWith('1 ') ? 'reads' : 'read'} the values before their Q/DQ pairs, so TensorRT cannot use INT8 or FP8 kernels for them.`,
      },
      'weights-stay-quantised': {
        severity: 'info',
        code: 'weights-stay-quantised',
        text: (ops, n) =>
          `${n} (${ops}) ${n.startsWith('1 ') ? 'computes' : 'compute'} with dequantized weights: the model has no others.`,
      },
      'base-skips-quantised': {
        severity: 'info',
        code: 'base-skips-quantised',
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
        code: 'quantised-node',
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
