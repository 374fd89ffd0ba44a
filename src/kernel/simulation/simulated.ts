import { thousands } from '../base/text.ts';
import type { DataType, Segment } from '../read/onnx/onnxModel.ts';
import type { RandomInput } from '../build/randomInputs.ts';
import type { RealType } from '../rules/precisionPlan.ts';
import type { RuntimeUsed } from '../base/runtimeUsed.ts';
// What accuracy measures, as `trtlens accuracy --json` prints it, and what a simulation is asked and answers.
/** Where the values of an input come from; `values`: what random ones are. */
export interface InputSource {
  name: string;
  source: 'file' | 'random';
  shape: number[];
  values?: RandomInput['values'];
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

/** What is known of one low-precision node. Errors are max|difference| / max|reference|; null: not finite, or unknown. */
export interface JudgedNode {
  id: string;
  /** The model's name, '' for none. */
  name: string;
  op: string;
  type: LowType | QuantizedType;
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

/** Names of the numbers that are measured of one output of a low-precision node. */
export interface Measures {
  /** `LowNode.index`. */
  node: number;
  numbers: Record<keyof Measured, string>;
}

/**
 * What is measured of one output of a node, over the elements that are finite in the reference. `shadow` is the node in
 * low precision on exact inputs, `run` the same node in the low-precision run.
 */
export interface Measured {
  /** Largest magnitude in the reference; `NOT_RUN`: the body that the node is in did not run. */
  max: number;
  /** Largest difference of the shadow. */
  shadow: number;
  /** Sum of the shadow's differences: not finite where one of them is not (a maximum may skip NaN). */
  shadowSum: number;
  /** Share of all elements that are 0 in the shadow but not in the reference. */
  vanished: number;
  run: number;
  runSum: number;
}

/** The measures of one node's outputs in one sample. */
export interface MeasuredNode {
  node: number;
  outputs: Measured[];
}

/**
 * Some of a model's nodes as a model of their own. Chunk after chunk they are the whole model: the time to make a
 * session grows faster than its nodes, and only one chunk's tensors are in memory.
 */
export interface Chunk {
  segments: Segment[];
  /** Inputs of the session: inputs of the model, and tensors that earlier chunks kept. */
  feeds: string[];
  /** Outputs of the session that later chunks need. */
  keeps: string[];
  /** Tensors that no later chunk needs. */
  drops: string[];
  /** How many nodes of the model it has. */
  nodes: number;
}

export interface SwitchedChunk extends Chunk {
  /** The low-precision nodes that it contains, by `LowNode.index`, in the order of its switches. */
  switched: number[];
  /** Name of the input with a Boolean for each of them; true: it computes exactly. */
  flags: string;
}

export interface JudgeChunk extends Chunk {
  measures: Measures[];
}

/** The measure of an output as `output_measures.py` takes it, and why it is that one. */
export interface OutputMeasure {
  kind: MeasureKind;
  /** What counts for the tolerance: the numeric error, or the measure. */
  by: 'numeric' | 'measure';
  /** Why it was guessed; `chosen`: the user chose it. */
  reason: string;
  chosen?: true;
  axis?: number | null;
  layout?: 'classes' | 'objectness' | 'row' | 'apart';
  /** Names of the outputs with the scores and labels of the boxes, and the axis of the classes in the scores. */
  scores?: string;
  scoresAxis?: number;
  labels?: string;
  /** A box has the same place in every run. */
  aligned?: boolean;
}

/** A tensor that is compared with the reference. */
export interface PlannedOutput {
  name: string;
  judged: boolean;
  measure: OutputMeasure | null;
  /** It is no output, but what these nodes choose from. */
  feeds?: { node: string; op: string; output: string };
  /** Names of the tensors that are judged for it: it holds what was chosen from them. */
  before?: string[];
}

/** Times of a model in ONNX Runtime, with its optimizations. */
export interface TimedRun {
  device: 'CPU' | 'GPU';
  /** `ONNX Runtime 1.31.1`. */
  runtime: string;
  /** Of the computer. */
  threads: number;
  runs: number;
  medianMs: number;
  p99Ms: number;
  perSecond: number;
  /** Bytes that loading and running it added to the process; null: not known here. */
  memory: number | null;
}

/** A constant that nodes in low precision read, of which rounding makes infinity or 0. */
export interface ConstantFault {
  tensor: string;
  type: LowType;
  kind: 'overflow' | 'underflow';
  /** The element with the largest magnitude, or the smallest that becomes 0. */
  value: number;
  /** How many elements become infinite or 0, and of how many. */
  elements: number;
  of: number;
  /** Ids of the nodes that read it. */
  nodes: string[];
}

/** The types that are simulated by rounding FP32 values. */
export type LowType = Exclude<RealType, 'float'>;

/** The types that Q/DQ nodes make. */
export type QuantizedType = 'int8' | 'float8';

/** A value that a build's kernel computes and uses itself, so that it may never be stored in low precision. */
export interface UnmaterializedTensor {
  tensor: string;
  /** Id of the node that makes it. */
  node: string;
  /** The kernel, by its name in the engine. */
  kernel: string;
}

/** Some nodes in FP32, and what they leave. */
export interface TradePoint {
  /** Ids; the first point has none. */
  nodes: string[];
  /** Error of the outputs; null: not finite. */
  error: number | null;
}

/** What each number of nodes in FP32 buys. */
export interface Trade {
  /** From no node to the most that were tried; each has a smaller error than the one before. */
  points: TradePoint[];
  /** Position of the point after which further nodes bring little; null: the curve has no such point. */
  knee: number | null;
  /** The rules of that point as text; null: there is none. */
  rules: string | null;
}

/** How an output is judged; `output_measures.py` says what each finds. */
export const measureKinds = ['numeric', 'top1', 'tokens', 'iou', 'boxes', 'cosine', 'set', 'elements'] as const;

export type MeasureKind = (typeof measureKinds)[number];

/** What `output_measures.py` found of one output in one sample. */
export interface FoundMeasure {
  error: number | null;
  count?: number;
  wrong?: number;
  ties?: number;
  missing?: number;
  iou?: number;
  worst?: number;
  label?: number;
  score?: number;
  cosine?: number;
  other?: number;
}

/** A text about a simulated model with the names of the model's own nodes. */
export const modelNames = (text: string): string => text.replaceAll(/_*lens\/n\d+:/g, '');

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

/** An error for the user: `0.0023`, `4.4e-7`; null: `not finite`. `outside`: an index leaves its table. */
export function errorFigure(error: number | null, outside = false): string {
  if (outside) return 'no prediction';
  if (error === null) return 'not finite';
  if (error === 0) return '0';
  return error >= 1e-4 && error < 1e4 ? String(Number(error.toPrecision(2))) : error.toExponential(1);
}

/** A constant with the digits that it has: `101,325`, `1e-10`, `-1e+9`. */
export function exactFigure(value: number): string {
  const rounded = Number(value.toPrecision(6));
  if (Math.abs(rounded) >= 1e7 || (rounded !== 0 && Math.abs(rounded) < 1e-3)) return rounded.toExponential();
  return Math.abs(rounded) >= 1000 && Number.isInteger(rounded)
    ? `${rounded < 0 ? '-' : ''}${thousands(Math.abs(rounded))}`
    : String(rounded);
}

/** Names for the user. */
export const measureNames: Readonly<Record<MeasureKind, string>> = {
  numeric: 'its numbers',
  top1: 'top-1 agreement',
  tokens: 'token agreement',
  iou: 'IoU of each class',
  boxes: 'matched boxes, their IoU and scores',
  cosine: 'cosine similarity',
  set: 'its sorted elements',
  elements: 'the share of elements that differ',
};

/** FP16 and BF16 by rounding; INT8 and FP8 as the Q/DQ nodes of the model say. */
export type LowPrecision = 'fp16' | 'bf16' | 'int8' | 'fp8';
