// What a judgment of precision finds, as `trtlens accuracy --json` prints it.
import type { RuntimeUsed } from '../../../kernel/base/runtimeUsed.ts';
import type { DataType } from '../../../kernel/read/onnx/onnxModel.ts';
import type { ConstantFault } from './constantFaults.ts';
import type { FoundMeasure, MeasureKind } from './outputMeasures.ts';
import type { RandomInput } from './randomInputs.ts';
import type { LowNode, UnmaterializedTensor } from './reducedPrecisionModel.ts';
import type { Trade } from './tradeCurve.ts';

/** What is known of one low-precision node. Errors are max|difference| / max|reference|; null: not finite, or unknown. */
export interface JudgedNode {
  id: string;
  /** The model's name, '' for none. */
  name: string;
  op: string;
  type: LowNode['type'];
  /** With exact inputs, so what this node alone loses. */
  localError: number | null;
  /** In the low-precision run. */
  propagatedError: number | null;
  /** Largest magnitude of its results in FP32. */
  max: number | null;
  /** With exact inputs some result is not finite, although it is in FP32. */
  overflow: boolean;
  /** With exact inputs at least 1 % of the results become 0, although they are not in FP32. */
  underflow: boolean;
  /**
   * `root`: computes with values that fit, and its loss alone makes an output miss the tolerance. `victim`: reads a value
   * that overflowed, or was spoiled by a root before it. `fine`: all others, also where an overflow does no harm.
   */
  role: 'root' | 'victim' | 'fine';
  /** Relative error of the results over the largest of the inputs, in the low-precision run; null: unknown. */
  amplification: number | null;
  /** Error of the outputs when only this node is in low precision; null: not finite. Absent: at most the goal of a fix. */
  alone?: number | null;
  /** In low precision alone, it makes an index leave its table. */
  outside?: true;
  /** Constants that it reads and that the low precision cannot represent. */
  constants?: Pick<ConstantFault, 'tensor' | 'kind' | 'value' | 'elements' | 'of'>[];
  /** What Q/DQ nodes make of what it reads. */
  quantized?: QuantizedInput[];
  /** Why it has no errors of its own; absent: it was judged. The search for a fix covers it nevertheless. */
  notJudged?: string;
}

/** What `trtlens accuracy --json` prints. Errors are max|difference| / max|reference|, the worst of all samples. */
export interface AccuracyReport {
  /** The low precision: the `base` of the rules or what was requested. */
  low: string;
  /** Why the model cannot be run with every node in low precision, although it can in FP32; omitted: it can. */
  refused?: string;
  /** `node`: every value is rounded; `kernel`: `outputs` are those of a build whose kernels hold values unrounded. */
  level: 'node' | 'kernel';
  samples: number;
  tolerance: number;
  /** The error that a fix had to reach: less than the tolerance, since engines differ a little from a simulation. */
  goal: number;
  inputs: InputSource[];
  /** What ran the model; absent: not known. */
  runtime?: RuntimeUsed;
  outputs: AccuracyOutput[];
  /** Level `kernel` only: what it is compared with, and why it may differ. */
  kernel?: {
    /** The outputs at node level, to which nodes and fix belong. */
    outputs: AccuracyOutput[];
    /** Values that never leave a kernel, so that they may stay unrounded: a hypothesis until a run confirms it. */
    held: (UnmaterializedTensor & { name: string; culprit: boolean })[];
  };
  /** Error of the outputs when only this node, operator or module is in low precision, the worst first. */
  sensitivity?: Sensitivity[];
  /** The FP32 model that outputs were compared with, where it is another one than the model itself. */
  reference?: {
    model: string;
    /** Error of the model with every node exact; null: not finite. What is left is in weights that are stored quantized. */
    exact: number | null;
  };
  /** Of a model with Q/DQ nodes: tensors that are stored quantized. Without another reference, their error is in it. */
  storedQuantized?: number;
  /**
   * Nodes that a typed copy leaves in FP32, as `outputs` have them, because ONNX has no form for them in the model's opset.
   * With a flag such as --bf16, TensorRT computes them in the low precision.
   */
  typedCopy?: {
    nodes: number;
    operators: string[];
    opset: number;
    /** Error of the outputs, as in a typed copy; null: not finite. */
    error: number | null;
    /** Error of the outputs with these nodes in low precision, too; null: not finite. */
    worst: number | null;
  };
  /** Nodes that TensorRT computes without subtracting the largest value, in FP32, too; absent: none. */
  unscaled?: {
    names: string[];
    /** Error of the outputs with every node in FP32; null: not finite. */
    exact: number | null;
  };
  /** Low-precision nodes in the model's order. */
  nodes: JudgedNode[];
  /** What each number of nodes in FP32 buys; absent: no less than the whole fix does. */
  trade?: Trade;
  /** The search goes on, or was stopped before its end. */
  search?: 'running' | 'stopped';
  /** The change of constants that helps most, of those that were tried; absent: there is none to try. */
  remedies?: Remedy[];
  /** Q/DQ pairs of the nodes to blame that are in other places than TensorRT wants them. */
  placements?: { message: string; fix: string }[];
  /** null: there is none, see `reason`. Without nodes: nothing to fix. */
  fix: AccuracyFix | null;
  reason: string | null;
}

/** A change of constants, tried by simulation: it takes no Cast. */
export interface Remedy {
  tensors: RemedyTensor[];
  /** Error of the outputs with this change and no node exact; null: not finite. */
  error: number | null;
  /** Nodes that have to stay in FP32 all the same, and the error then; null: more than without the change, or not tried. */
  rest: { nodes: string[]; names: string[]; error: number | null } | null;
}

/** A constant that is changed, or the scale of a tensor. */
export interface RemedyTensor {
  /** What does not fit moves to an end of the range; a scale by the values that were seen; scales for each channel. */
  kind: 'clamp' | 'scale' | 'channels';
  tensor: string;
  /** The element that does not fit, or the (largest) scale; and what it becomes. */
  from: number;
  to: number;
  /** How many elements change. */
  elements: number;
  /** Ids of the nodes that read the constant or the scale, and at which of their inputs. */
  at: { node: string; index: number }[];
  /** The scales of the channels, and their axis. */
  scales?: number[];
  axis?: number;
}

/** What Q/DQ nodes make of an input. */
export interface QuantizedInput {
  tensor: string;
  /** The only scale, or the largest; null: not known. */
  scale: number | null;
  /** How many scales there are; null: not known. */
  scales: number | null;
  type: DataType;
  zeroPoint: number | null;
  /** Largest magnitude; null: not measured. */
  largest: number | null;
  /** Share of the values beyond the range; null: not measured. */
  clipped: number | null;
  /** Largest range of a channel over the smallest; null: no weights, or not known. */
  spread: number | null;
}

/** What is in low precision alone, and the error that it gives; null: not finite. */
export interface Sensitivity {
  kind: 'node' | 'operator' | 'module';
  name: string;
  nodes: string[];
  error: number | null;
}

/** Where the values of an input come from; `values`: what random ones are. */
export interface InputSource {
  name: string;
  source: 'file' | 'random';
  shape: number[];
  values?: RandomInput['values'];
}

export interface AccuracyOutput {
  name: string;
  /** Largest magnitude of the reference; null for other types than floating point. */
  max: number | null;
  /** null: not finite. For other types than floating point the share of elements that differ. */
  error: number | null;
  /** Finite where the reference is, and of the same shape. */
  finite: boolean;
  /** Its shape depends on values, and is another one in low precision. */
  shapeDiffers?: true;
  /** An index leaves its table in low precision, so that nothing is predicted: ONNX Runtime's words, with the node. */
  outside?: string;
  /** It counts for the tolerance. */
  judged: boolean;
  /** Mean of the samples' errors; null: not finite in one of them. */
  mean: number | null;
  /** What a user of such an output looks at; absent: numbers alone. */
  measure?: OutputMeasured;
  /** The error of its numbers, where `error` may be that of the measure; null: not finite. */
  numeric?: number | null;
  /** Groups of channels that are compared with ranges of their own, because these differ by more than ten times. */
  groups?: ChannelGroup[];
  /** It is no output of the model, but what a node chooses an output from. */
  feeds?: { node: string; op: string; output: string };
  /** Tensors that are judged for it, because it holds what was chosen from them. */
  before?: string[];
}

/** The measure of an output's kind. */
export interface OutputMeasured {
  kind: MeasureKind;
  /** What counts for the tolerance: the numbers, or the measure. */
  by: 'numeric' | 'measure';
  /** Why it is this one. */
  reason: string;
  /** The user chose it. */
  chosen?: true;
  /** 0 is perfect; null: it cannot be measured. */
  error: number | null;
  /** What was found, in words. */
  text: string;
}

/** Channels that have one range. */
export interface ChannelGroup {
  axis: number;
  /** Ranges of channels, both ends included. */
  channels: [number, number][];
  /** Largest magnitude in the reference. */
  max: number;
  error: number;
}

export interface AccuracyFix {
  nodes: string[];
  names: string[];
  error: number;
  /** No single node can be omitted. */
  minimal: boolean;
  /** Runs of the model that the search took. */
  runs: number;
  /** Casts that \`trtlens precision apply\` adds to the model under these rules; null: for INT8 and FP8, which have none. */
  casts: number | null;
  /** Text of a `.trtprec` with these rules. */
  rules: string;
  /** The lines of it that the fix adds. */
  added: string;
  /** What each rule buys and costs. */
  without: FixRuleGain[];
}

/** What a rule of a fix buys and costs. */
export interface FixRuleGain {
  selector: string;
  nodes: string[];
  /** The error without it; null: not finite, or not tried. */
  error: number | null;
  /** Casts that it adds to the typed copy; null or absent: not counted. */
  casts?: number | null;
  /** Kernels that it adds to an engine of this machine's TensorRT; absent: none was built. */
  kernels?: number;
  /** Time of the layers that compute its nodes in the build that was given, in milliseconds; absent: not timed. */
  ms?: number;
}

/** How far one tensor is from the reference; see `compare_tensors.py`. */
export interface ComparedOutput {
  name: string;
  kind: 'float' | 'other';
  shape: number[];
  /** Largest magnitude of the reference. */
  max: number | null;
  /** max|difference| / max|reference|; for other types than floating point the share of elements that differ. */
  error: number | null;
  /** Finite where the reference is. */
  finite: boolean;
  /** Why there are no values of a run: an operator could make nothing of what it read. */
  refused?: string;
  /** The shapes of the reference and of this tensor, where they differ. */
  shapes?: [number[], number[]];
  nan?: number;
  inf?: number;
  numeric?: number | null;
  measure?: FoundMeasure | null;
  groups?: ChannelGroup[];
}
