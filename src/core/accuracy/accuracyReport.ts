// Measures, roles of nodes, the result.
import { addTo } from '../base/addTo.ts';
import { type DataType, isFloatType, type OnnxModel, type OnnxValue } from '../formats/onnx/onnxModel.ts';
import type { NewNode } from '../formats/onnx/writeModel.ts';
import type { ModelGraph } from '../network/modelGraph.ts';
import { lowMakers } from './internal/lowMakers.ts';
import {
  type FoundMeasure,
  type JudgedOutputs,
  measureNames,
  measureText,
  type MeasureKind,
  type PlannedOutput,
} from './internal/outputMeasures.ts';
import type {
  LowNode,
  ReducedPrecisionModel,
  RunWriter,
  UnmaterializedTensor,
} from './internal/reducedPrecisionModel.ts';
import type { ConstantFault } from './internal/constantFaults.ts';
import type { Trade } from './internal/tradeCurve.ts';
import { counted, percentText, thousands, typeName } from '../base/text.ts';
import { limitsOf } from '../quantization/quantization.ts';
import { readOverrides } from '../precision/readOverrides.ts';

export {
  type JudgedOutputs,
  type MeasureKind,
  measureErrorTexts,
  measureKinds,
  measureNames,
  type PlannedOutput,
  planOutputs,
} from './internal/outputMeasures.ts';

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

export const NOT_RUN = -1;

/** From which magnitude on rounding to a low type gives infinity: half a step above its largest number. */
export const overflowFrom: Readonly<Record<LowNode['type'], number>> = {
  float16: 65520,
  bfloat16: (2 - 2 ** -8) * 2 ** 127,
  // What is out of the range of a scale becomes its end, not infinity.
  int8: Infinity,
  float8: Infinity,
};

/**
 * Writes the nodes that measure one output; what they give are scalars. `loose`: the copies that may have another size
 * than the reference, which counts as not finite.
 */
export function writeMeasures(
  low: LowNode,
  copies: { reference: string; run: string; shadow: string },
  nodes: NewNode[],
  writer: RunWriter,
  loose: { run: boolean; shadow: boolean },
): Measures {
  const add = (op: string, inputs: string[], attributes: NewNode['attributes'] = {}): string => {
    const [name, output] = [writer.fresh('n'), writer.fresh('m')];
    nodes.push({ op, name, inputs, outputs: [output], attributes });
    return output;
  };
  const whole = (op: string, input: string) => add(op, [input], { keepdims: { int: 0 } });
  const zero = writer.float(0);
  const isLoose = loose.run || loose.shadow;
  const flat = (name: string) => add('Reshape', [name, writer.integers(-1n)]);
  const reference = isLoose ? flat(copies.reference) : copies.reference;
  const aligned = (copy: string, mayDiffer: boolean): string => {
    if (!isLoose) return copy;
    if (!mayDiffer) return flat(copy);
    const infinity = writer.float(Infinity);
    const [count, all] = [add('Shape', [reference]), flat(copy)];
    const filled = add('Concat', [all, add('Expand', [infinity, count])], { axis: { int: 0 } });
    const isSame = add('Equal', [add('Shape', [all]), count]);
    return add('Where', [isSame, add('Slice', [filled, writer.integers(0n), count]), infinity]);
  };
  const [shadow, run] = [aligned(copies.shadow, loose.shadow), aligned(copies.run, loose.run)];
  const size = add('Abs', [reference]);
  // Neither infinities nor NaN are less.
  const known = add('Less', [size, writer.float(Infinity)]);
  const difference = (copy: string) => add('Where', [known, add('Abs', [add('Sub', [copy, reference])]), zero]);
  const [ofShadow, ofRun] = [difference(shadow), difference(run)];
  // NaN is not 0. (Older operator sets compare no floating-point numbers for equality.)
  const gone = add('And', [add('Not', [add('Cast', [shadow], { to: { int: 9 } })]), add('Greater', [size, zero])]);
  return {
    node: low.index,
    numbers: {
      max: whole('ReduceMax', add('Where', [known, size, zero])),
      shadow: whole('ReduceMax', ofShadow),
      shadowSum: whole('ReduceSum', ofShadow),
      vanished: whole('ReduceMean', add('Cast', [gone], { to: { int: 1 } })),
      run: whole('ReduceMax', ofRun),
      runSum: whole('ReduceSum', ofRun),
    },
  };
}

/** What to make for an input of which there is no file; `tensor_files.py` makes it. */
export interface RandomInput {
  shape: number[];
  /** Standard normal numbers, a constant, 0 1 2 … along the last axis, or integers from the first up to the second. */
  values: 'normal' | 'ones' | 'zeros' | 'count' | [number, number];
}

/** Sizes for open dimensions by what their names say; one side of an image, otherwise a short sequence. */
const sizes: readonly [RegExp, number][] = [
  [/batch|^n$|^b$/i, 1],
  [/height|width|^h$|^w$/i, 64],
  [/past|cache/i, 0],
  [/seq|len|token|time|frames/i, 16],
];

/**
 * A plausible input by name and type: token ids within the vocabulary, masks of ones, positions that count. They can
 * only show that a model computes at all: real inputs reach values that random ones don't.
 */
export function randomInput(input: OnnxValue, model: OnnxModel, shapes: ReadonlyMap<string, number[]>): RandomInput {
  const { name, type } = input;
  const declared = input.shape ?? [];
  const shape = shapes.get(name) ?? declared.map((dim, axis) => sizeOf(dim, axis));
  return { shape, values: valuesOf(name, type, model) };
}

function sizeOf(dim: number | string | null, axis: number): number {
  if (typeof dim === 'number') return dim;
  const known = typeof dim === 'string' ? sizes.find(([pattern]) => pattern.test(dim)) : undefined;
  return known?.[1] ?? (axis === 0 ? 1 : 16);
}

function valuesOf(name: string, type: DataType | null, model: OnnxModel): RandomInput['values'] {
  if (type === 'bool' || /mask/i.test(name)) return 'ones';
  if (type !== null && isFloatType(type)) return /timestep|^t$|sigma/i.test(name) ? 'ones' : 'normal';
  if (/position/i.test(name)) return 'count';
  if (/token_type|segment/i.test(name)) return 'zeros';
  if (/timestep|^t$/i.test(name)) return [0, 1000];
  return [0, vocabulary(name, model) ?? 2];
}

/** Rows of the table that the input looks up. */
function vocabulary(name: string, { graph }: OnnxModel): number | null {
  const lookup = graph.nodes.find(({ op, inputs }) => op === 'Gather' && inputs[1] === name);
  return graph.initializers.find((tensor) => tensor.name === lookup?.inputs[0])?.shape[0] ?? null;
}

/** Whether some input was of random values. */
export const hasRandomInputs = ({ inputs }: { inputs: readonly { source: 'file' | 'random' }[] }): boolean =>
  inputs.some(({ source }) => source === 'random');

/** What every result of random inputs says. */
export const randomCaution = 'Random inputs: may invent or miss faults.';

/** What to say of random inputs, and what to do; null: there are none. */
export function randomWarning(inputs: readonly { name: string; source: 'file' | 'random' }[]): string | null {
  const random = inputs.filter(({ source }) => source === 'random').map(({ name }) => name);
  if (random.length === 0) return null;
  const names = random.slice(0, 4).join(', ') + (random.length > 4 ? ', …' : '');
  return `random inputs may invent or miss faults (${names}): real ones reach other values. Pass real inputs with --inputs`;
}

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
  /** Error of the outputs when only this node is in low precision; null: not finite. Absent: at most the tolerance. */
  alone?: number | null;
  /** Constants that it reads and that the low precision cannot represent. */
  constants?: Pick<ConstantFault, 'tensor' | 'kind' | 'value' | 'elements' | 'of'>[];
  /** What Q/DQ nodes make of what it reads. */
  quantized?: QuantizedInput[];
  /** Why it has no errors of its own; absent: it was judged. The search for a fix covers it nevertheless. */
  notJudged?: string;
}

/** Why a node has no errors; `measured`: it was to be measured; `refused`: the low-precision run ended early. */
function whyNot({ outputs }: LowNode, measured: boolean, refused: boolean): string {
  if (measured) return 'did not run with these inputs';
  if (refused) return 'the low-precision run ended before it was measured';
  return outputs.length === 0
    ? 'results are not floating point'
    : 'inside a body that cannot be measured, such as a loop over sequences';
}

/** The measures of one node's outputs in one sample. */
export interface MeasuredNode {
  node: number;
  outputs: Measured[];
}

/** Share of results that have to vanish before it counts: in most tensors some are tiny. */
const VANISHED = 0.01;

/**
 * Judges every low-precision node from what was measured in all samples, the worst of them counting. `alone`: error of
 * the outputs with only that node in low precision (by `LowNode.index`; Infinity: not finite), of the nodes that alone
 * miss the tolerance. `refused`: the low-precision run ended before all were measured.
 */
export function measureErrors(
  model: ReducedPrecisionModel,
  graph: ModelGraph,
  measured: readonly MeasuredNode[][],
  alone: ReadonlyMap<number, number>,
  tolerance: number,
  refused = false,
): JudgedNode[] {
  const { low } = model;
  const found = low.map((): Found => ({ max: 0, local: 0, run: 0, vanished: 0, measured: false, runs: false }));
  for (const sample of measured)
    for (const { node, outputs } of sample) for (const one of outputs) add(found[node]!, one);
  const makersOf = lowMakers(model, graph);
  const makers = low.map(makersOf);
  const roles = low.map(({ index, type }): JudgedNode['role'] => {
    if (!alone.has(index)) return 'fine';
    // A result that does not fit is stored as infinity by whoever made it: this node cannot help it.
    return makers[index]!.some((maker) => found[maker]!.max >= overflowFrom[type]) ? 'victim' : 'root';
  });
  const spoiled = roles.some((role) => role !== 'fine');
  return low.map((one) => {
    const { node, index, type } = one;
    const { max, local, run, vanished, measured: known, runs } = found[index]!;
    const lost = spoiled && runs && !(run <= tolerance);
    const before = Math.max(0, ...makers[index]!.map((maker) => found[maker]!.run));
    const role = roles[index]!;
    return {
      id: node.id,
      name: node.name,
      op: node.op,
      type,
      localError: runs ? finite(local) : null,
      propagatedError: runs ? finite(run) : null,
      max: runs ? finite(max) : null,
      overflow: runs && !Number.isFinite(local),
      underflow: vanished > VANISHED,
      role: role === 'fine' && lost ? 'victim' : role,
      amplification: runs && before > 0 ? finite(run / before) : null,
      ...(alone.has(index) && { alone: finite(alone.get(index)!) }),
      ...(!runs && { notJudged: whyNot(one, known, refused) }),
    };
  });
}

/** The worst of what was measured of a node; `runs`: it ran in some sample. */
interface Found {
  max: number;
  local: number;
  run: number;
  vanished: number;
  measured: boolean;
  runs: boolean;
}

function add(to: Found, { max, shadow, shadowSum, run, runSum, vanished }: Measured): void {
  const relative = (difference: number, sum: number) =>
    !Number.isFinite(sum) ? Infinity : max > 0 ? difference / max : difference;
  to.measured = true;
  if (max === NOT_RUN) return;
  to.runs = true;
  to.max = Math.max(to.max, max);
  to.local = Math.max(to.local, relative(shadow, shadowSum));
  to.run = Math.max(to.run, relative(run, runSum));
  // The mean of no elements is NaN.
  if (vanished > to.vanished) to.vanished = vanished;
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);

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
  inputs: InputSource[];
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
  /** Nodes that TensorRT computes in the low precision, while ONNX has no form for it in the model's opset. */
  typedCopy?: {
    nodes: number;
    operators: string[];
    opset: number;
    /** Error of the outputs with these nodes in FP32, as in a typed copy; null: not finite. */
    error: number | null;
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

/** The change of constants that helps; undefined: none does. */
export const helpfulRemedy = ({ remedies = [] }: Pick<AccuracyReport, 'remedies'>): Remedy | undefined =>
  remedies.find(({ rest }) => rest !== null);

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

/** The rules of a fix as text for a copy of the model, without that of one selector. */
export function rulesWithout({ rules, added, without }: AccuracyFix, selector?: string): string {
  const head = rules.slice(0, rules.length - added.length).replace(/^model .*\n/m, '');
  const others = without.filter((rule) => rule.selector !== selector);
  return [head, ...others.map((rule) => `${rule.selector} fp32\n`)].join('');
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
  /** The shapes of the reference and of this tensor, where they differ. */
  shapes?: [number[], number[]];
  nan?: number;
  inf?: number;
  numeric?: number | null;
  measure?: FoundMeasure | null;
  groups?: ChannelGroup[];
}

/** `0 to 3, 7`. */
export function channelsText({ channels }: Pick<ChannelGroup, 'channels'>): string {
  const spans = channels.slice(0, 3).map(([from, to]) => (from === to ? String(from) : `${from} to ${to}`));
  return `${spans.join(', ')}${channels.length > 3 ? ', …' : ''}`;
}

/** A number as a report gives it; null: not finite. */
export const finiteOrNull = (value: number): number | null => (Number.isFinite(value) ? value : null);

/** Whether an error is within a tolerance; null, not finite, is not. */
export const isWithin = (error: number | null, tolerance: number): boolean => error !== null && error <= tolerance;

export const isJudged = ({ name, kind }: ComparedOutput, judged: JudgedOutputs): boolean =>
  typeof judged === 'string' ? kind === 'float' || judged === 'all' : judged.includes(name);

/** The worst error of all samples' outputs that count; Infinity: not finite. `plan`: how they are judged. */
export function trialError(
  samples: readonly ComparedOutput[][],
  judged: JudgedOutputs,
  plan: readonly PlannedOutput[] = [],
): number {
  const chosen = new Map(plan.map((one) => [one.name, one]));
  const byName = new Map<string, ComparedOutput[]>();
  for (const output of samples.flat()) if (isJudged(output, judged)) addTo(byName, output.name, output);
  const errors = [...byName].map(([name, all]) => errorOfAll(all, chosen.get(name)) ?? Infinity);
  return Math.max(0, ...errors);
}

/** The error of one output over its samples: the worst, or the share of all choices that differ; null: not finite. */
function errorOfAll(all: readonly ComparedOutput[], plan: PlannedOutput | undefined): number | null {
  if (all.some(({ finite, error }) => !finite || error === null)) return null;
  const isShare = plan?.measure?.by === 'measure' && all.every(({ measure }) => measure?.wrong !== undefined);
  if (!isShare) return Math.max(...all.map(({ error }) => error!));
  const sum = (key: 'wrong' | 'count') => all.reduce((total, { measure }) => total + measure![key]!, 0);
  return sum('wrong') / Math.max(1, sum('count'));
}

/** Each output over its samples (at least one), which have the same outputs in the same order. */
export function outputErrors(
  samples: readonly ComparedOutput[][],
  judged: JudgedOutputs,
  plan: readonly PlannedOutput[] = [],
): AccuracyOutput[] {
  const chosen = new Map(plan.map((one) => [one.name, one]));
  const compared = new Set(samples[0]!.map(({ name }) => name));
  return samples[0]!.map((first, i) => {
    const all = samples.map((sample) => sample[i]!);
    const finite = all.every((one) => one.finite);
    const errors = all.map(({ error }) => error ?? 0);
    const sum = errors.reduce((a, b) => a + b, 0);
    const planned = chosen.get(first.name);
    // Where only outputs were compared, such as those of an engine, the choices themselves are all there is.
    const stands = planned?.before?.length && !planned.before.some((name) => compared.has(name));
    return {
      name: first.name,
      max: first.kind === 'float' ? Math.max(...all.map(({ max }) => max ?? 0)) : null,
      error: finite ? errorOfAll(all, planned) : null,
      finite,
      ...(all.some(({ shapes }) => shapes) && { shapeDiffers: true as const }),
      judged: isJudged(first, judged) || Boolean(stands),
      mean: finite ? sum / errors.length : null,
      ...(planned && describedBy(planned, all)),
      ...groupsOf(all),
    };
  });
}

/** What is said of an output because of its kind. */
function describedBy(
  { measure, feeds, before }: PlannedOutput,
  all: readonly ComparedOutput[],
): Partial<AccuracyOutput> {
  const found = all.map((one) => one.measure ?? null);
  const numeric = all.some((one) => !one.finite || (one.numeric ?? null) === null)
    ? null
    : Math.max(...all.map((one) => one.numeric!));
  const { error, text } = measureText(measure?.kind ?? 'numeric', found);
  const described = measure && { kind: measure.kind, by: measure.by, reason: measure.reason, error, text };
  return {
    ...(measure &&
      described && { measure: { ...described, ...(measure.chosen && { chosen: true as const }) }, numeric }),
    ...(feeds && { feeds }),
    ...(before && { before }),
  };
}

/** The groups of the sample in which one of them has the largest error. */
function groupsOf(all: readonly ComparedOutput[]): Pick<AccuracyOutput, 'groups'> {
  const worst = (groups: ChannelGroup[]) => Math.max(...groups.map(({ error }) => error));
  const found = all.flatMap(({ groups }) => (groups ? [groups] : [])).sort((a, b) => worst(b) - worst(a));
  return found[0] ? { groups: found[0] } : {};
}

/** The worst error of the outputs that count; null: not finite. */
export function worstError(outputs: readonly AccuracyOutput[]): number | null {
  const judged = outputs.filter((output) => output.judged);
  return judged.some(({ finite, error }) => !finite || error === null)
    ? null
    : Math.max(0, ...judged.map(({ error }) => error!));
}

/** Nodes that are put into low precision together, and nothing else. */
export interface SensitivityGroup {
  kind: 'node' | 'operator' | 'module';
  name: string;
  /** Positions among the judged nodes. */
  members: number[];
}

/** As many modules as the user reads. */
const MODULES = 40;

/**
 * What to try alone: the nodes with the largest local errors (`count` of them), every operator, and the modules of the
 * outermost level that has several.
 */
export function sensitivityGroups(nodes: readonly JudgedNode[], count: number): SensitivityGroup[] {
  const order = [...nodes.keys()].sort(
    (a, b) => (nodes[b]!.localError ?? Infinity) - (nodes[a]!.localError ?? Infinity),
  );
  const single = order.slice(0, count).map((i) => ({ kind: 'node' as const, name: nodes[i]!.name, members: [i] }));
  const operators = grouped('operator', nodes, ({ op }) => op);
  for (let depth = 1; depth <= 8; depth++) {
    const modules = grouped('module', nodes, ({ name }) => moduleOf(name, depth));
    if (modules.length > MODULES) break;
    if (modules.length > 1) return [...single, ...operators, ...modules];
  }
  return [...single, ...operators];
}

function grouped(
  kind: 'operator' | 'module',
  nodes: readonly JudgedNode[],
  keyOf: (node: JudgedNode) => string,
): SensitivityGroup[] {
  const groups = new Map<string, number[]>();
  for (const [i, node] of nodes.entries()) {
    const key = keyOf(node);
    if (key !== '') addTo(groups, key, i);
  }
  return [...groups].map(([name, members]) => ({ kind, name, members }));
}

/** The first segments of a name: `/encoder/layers.0` of `/encoder/layers.0/attn/MatMul` at depth 2; '' if it has fewer. */
export function moduleOf(name: string, depth: number): string {
  const segments = name.split('/').filter((segment) => segment !== '');
  return segments.length > depth ? `/${segments.slice(0, depth).join('/')}` : '';
}

// The result as text.

/** An error for the user: `0.0023`, `4.4e-7`; null: `not finite`. */
export function errorFigure(error: number | null): string {
  if (error === null) return 'not finite';
  if (error === 0) return '0';
  return error >= 1e-4 && error < 1e4 ? String(Number(error.toPrecision(2))) : error.toExponential(1);
}

/** A magnitude for the user: `8.48`, `710,000`, `4.4e+11`. */
export function magnitude(value: number): string {
  if (value === 0) return '0';
  if (value >= 1e7 || value < 1e-3) return value.toExponential(1);
  const rounded = Number(value.toPrecision(3));
  return rounded >= 1000 ? thousands(Math.round(rounded)) : String(rounded);
}

/** The largest number of a type for the user; INT8 and FP8 have a scale instead. */
export const endText = (type: JudgedNode['type']): string => (type === 'float16' ? '65,504' : '3.39e38');

/** A magnitude that overflows, with as many digits as set it apart from the end of the type. */
function aboveEnd(max: number, type: JudgedNode['type']): string {
  if (max > 1.1 * overflowFrom[type]) return magnitude(max);
  return type === 'float16' ? thousands(Math.round(max)) : max.toExponential(2);
}

/** Why a node is to blame, in one sentence without its name. `withAlone`: also the error that it alone gives. */
export function evidence(node: Omit<JudgedNode, 'name' | 'op'>, withAlone = true): string {
  const { max, overflow, underflow, localError, alone, type, role, notJudged } = node;
  const name = typeName(type);
  const only =
    alone === undefined || !withAlone
      ? ''
      : alone === null
        ? `; alone in ${name} it makes the outputs not finite`
        : `; alone in ${name} it gives an error of ${errorFigure(alone)}`;
  const result = max === null ? '' : `largest result ${magnitude(max)}`;
  const because = constantsText(node) || quantizedText(node);
  if (because !== '') return `${because}${only}`;
  if (notJudged !== undefined) return `${notJudged}${only}`;
  if (role === 'victim') return `reads a value that ${name} cannot represent or that was already wrong; ${result}`;
  if (max !== null && max >= overflowFrom[type])
    return `largest result ${aboveEnd(max, type)}, ${name} ends at ${endText(type)}${only}`;
  if (overflow) return `gives infinity or NaN in ${name}, although its ${result} fits${only}`;
  if (underflow) return `results become 0 in ${name}; ${result}${only}`;
  return `local error ${errorFigure(localError)}, ${result}${only}`;
}

/** `reads mask = -1e9, which FP16 makes -infinity`; '' for none. */
function constantsText({ constants = [], type }: Pick<JudgedNode, 'constants' | 'type'>): string {
  const texts = constants.slice(0, 2).map(({ tensor, kind, value, elements, of }) => {
    const becomes = kind === 'underflow' ? '0' : value < 0 ? '-infinity' : 'infinity';
    const share = of > 1 ? ` (${thousands(elements)} of ${counted(of, 'element')})` : '';
    return `${tensor} = ${exactFigure(value)}${share}, which ${typeName(type)} makes ${becomes}`;
  });
  return texts.length === 0 ? '' : `reads ${texts.join(', ')}`;
}

/** `reads x with scale 0.01 (1.27, zero point 0), largest value 25: 12 % clipped`; '' for nothing known. */
function quantizedText({ quantized = [] }: Pick<JudgedNode, 'quantized'>): string {
  const texts = quantized.slice(0, 3).map(({ tensor, scale, scales, type, zeroPoint, largest, clipped, spread }) => {
    const limit = limitsOf(type);
    const end = scale === null || !limit ? null : (limit[1] - (zeroPoint ?? 0)) * scale;
    const known =
      scales !== null && scales > 1
        ? `${thousands(scales)} scales up to ${exactFigure(scale ?? 0)}`
        : scale === null
          ? 'a scale that is not known'
          : `scale ${exactFigure(scale)}`;
    const parts = [
      ...(end === null ? [] : [`up to ${magnitude(end)}`]),
      ...(zeroPoint === null ? [] : [`zero point ${zeroPoint}`]),
    ];
    const facts = [
      ...(largest === null ? [] : [`largest value ${magnitude(largest)}`]),
      ...(clipped === null ? [] : [clipped === 0 ? 'nothing clipped' : `${percentText(100 * clipped)} clipped`]),
      ...(spread !== null && spread > 1 ? [`ranges of channels ${magnitude(spread)} times apart`] : []),
    ];
    return `${tensor}: ${known}${parts.length > 0 ? ` (${parts.join(', ')})` : ''}${facts.length > 0 ? `, ${facts.join(', ')}` : ''}`;
  });
  return texts.length === 0 ? '' : `reads ${texts.join('; ')}`;
}

/** A constant with the digits that it has: `101,325`, `1e-10`, `-1e+9`. */
export function exactFigure(value: number): string {
  const rounded = Number(value.toPrecision(6));
  if (Math.abs(rounded) >= 1e7 || (rounded !== 0 && Math.abs(rounded) < 1e-3)) return rounded.toExponential();
  return Math.abs(rounded) >= 1000 && Number.isInteger(rounded)
    ? `${rounded < 0 ? '-' : ''}${thousands(Math.abs(rounded))}`
    : String(rounded);
}

/** What a node is called: its own name, otherwise the one that rules have for it, otherwise its id. */
export function nodeTitle({ id, name }: Pick<JudgedNode, 'id' | 'name'>, { fix }: Pick<AccuracyReport, 'fix'>): string {
  return name || fix?.names[fix.nodes.indexOf(id)] || `node ${id}`;
}

/** Whether every output that counts is within the tolerance. */
export const passesTolerance = ({ outputs, tolerance }: AccuracyReport): boolean =>
  outputs.every(({ judged, finite, error }) => !judged || (finite && isWithin(error, tolerance)));

/** The report with the outputs of the node level, on which verdict and fix are based. */
export const nodeLevel = (report: AccuracyReport): AccuracyReport =>
  report.kernel ? { ...report, outputs: report.kernel.outputs } : report;

/** The result in one sentence. */
export function accuracyVerdict(report: AccuracyReport): string {
  const { low, outputs, fix, tolerance } = report;
  const nothing = nothingJudged(outputs);
  if (nothing !== null) return nothing;
  const worst = worstError(outputs);
  const what = worst === null ? 'outputs that are not finite' : `an error of ${errorFigure(worst)}`;
  const found = `${typeName(low)} gives ${what}${judgedOnly(outputs)}`;
  if (passesTolerance(report))
    return `${found}, within the tolerance of ${tolerance}.${againstMeasure(outputs, tolerance)}`;
  if (!fix) return `${found}; ${report.search === undefined ? 'there is no fix' : bestSoFar(report)}.`;
  return `${found}; with ${counted(fix.nodes.length, 'node')} in FP32 the error is ${errorFigure(fix.error)}.${storedError(report)}${againstMeasure(outputs, tolerance)}`;
}

/** What a search that is not over has found. */
function bestSoFar({ trade, search }: AccuracyReport): string {
  const best = trade?.points[trade.knee ?? trade.points.length - 1];
  const state =
    search === 'running' ? 'the search for a fix is running' : 'the search was stopped before it found a fix';
  if (!best || best.nodes.length === 0) return state;
  return `${state}; so far ${counted(best.nodes.length, 'node')} in FP32 ${best.nodes.length === 1 ? 'brings' : 'bring'} it to ${errorFigure(best.error)}`;
}

/** What no set of nodes repairs; '' where that is within the tolerance. */
export function storedError({ reference, storedQuantized = 0, tolerance }: AccuracyReport): string {
  if (!reference || isWithin(reference.exact, tolerance)) return '';
  const what =
    storedQuantized > 0
      ? `The ${counted(storedQuantized, 'tensor')} that the model stores quantized give`
      : 'Without any Q/DQ pair the model gives';
  return ` ${what} an error of ${errorFigure(reference.exact)} by themselves.`;
}

/** Where numbers and the measure of an output's kind say different things; '' where they agree. */
function againstMeasure(outputs: readonly AccuracyOutput[], tolerance: number): string {
  const differing = outputs.filter(
    ({ judged, finite, error, measure }) =>
      judged &&
      finite &&
      measure?.by === 'numeric' &&
      isWithin(error, tolerance) !== isWithin(measure.error, tolerance),
  );
  const said = differing.slice(0, 3).map(({ name, measure }) => `${name}: ${measure!.text}`);
  if (said.length === 0) return '';
  const passes = isWithin(differing[0]!.measure!.error, tolerance);
  return ` Judged by ${measureNames[differing[0]!.measure!.kind]} it would ${passes ? 'pass' : 'fail'} (${said.join('; ')}).`;
}

/** ` in output "probs"`: where the search was about some outputs; '' if all of floating point are judged. */
function judgedOnly(outputs: readonly AccuracyOutput[]): string {
  const judged = outputs.filter((output) => output.judged);
  const { feeds } = judged[0] ?? {};
  if (feeds && judged.every((output) => output.feeds)) return ` in what ${feeds.op} reads ("${judged[0]!.name}")`;
  if (outputs.every((output) => output.judged || output.max === null || output.before)) return '';
  const names = judged.map(({ name }) => `"${name}"`);
  return ` in ${names.length === 1 ? 'output' : 'outputs'} ${names.join(', ')}`;
}

/** Why there is nothing to judge; null: some output is judged. */
function nothingJudged(outputs: readonly AccuracyOutput[]): string | null {
  if (outputs.some(({ judged }) => judged)) return null;
  return outputs.length === 0
    ? 'No node computes an output of the model, so nothing was judged.'
    : 'No output is floating point, so none was judged. The command line judges the others with --judge.';
}

/** How many nodes have no errors of their own, and why: `3 nodes not judged: inside a loop body`. */
export function notJudgedTexts(nodes: readonly JudgedNode[]): string[] {
  const counts = new Map<string, number>();
  for (const { notJudged } of nodes)
    if (notJudged !== undefined) counts.set(notJudged, (counts.get(notJudged) ?? 0) + 1);
  return [...counts].map(([why, count]) => `${counted(count, 'node')} not judged: ${why}`);
}

/** `, 8 Casts`: what the rules of a fix cost; '' where it is not known. */
export const castsText = ({ casts }: AccuracyFix): string => (casts === null ? '' : `, ${counted(casts, 'Cast')}`);

/** What a rule of an override file buys, at its end. Lines and columns count from 0. */
export interface RuleHint {
  line: number;
  column: number;
  label: string;
}

/** Each rule of a text that is also a rule of a fix: where its selector ends, and the error without it. */
function rulesOfFix(text: string, { fix }: Pick<AccuracyReport, 'fix'>) {
  if (!fix || fix.without.length === 0) return [];
  const errors = new Map(fix.without.map(({ selector, error }) => [selector, error]));
  return readOverrides(text).lines.flatMap(({ text: written, statement, comment }, line) => {
    if (statement?.kind !== 'rule' || !statement.usable || statement.type?.type !== 'fp32') return [];
    const [selector, ...others] = statement.selectors;
    if (!selector || others.length > 0) return [];
    const name = written.slice(selector.range.column - 1, selector.range.endColumn - 1);
    const error = errors.get(name);
    return error === undefined ? [] : [{ line, name, column: statement.range.endColumn - 1, error, comment }];
  });
}

/** The lines of a text, from 0, that have the rules of a fix: one of each. */
export function ruleLines(text: string, report: Pick<AccuracyReport, 'fix'>): number[] {
  const lines = new Map<string, number>();
  for (const { name, line } of rulesOfFix(text, report)) if (!lines.has(name)) lines.set(name, line);
  return [...lines.values()];
}

/**
 * For each rule of a text that is also a rule of a fix: the error that it removes, and to what. Rules whose comment
 * already gives the error have none.
 */
export function ruleHints(text: string, report: Pick<AccuracyReport, 'fix'>): RuleHint[] {
  return rulesOfFix(text, report).flatMap(({ line, column, error, comment }) => {
    const without = errorFigure(error);
    if (comment?.text.includes(`without: ${without}`)) return [];
    return [{ line, column, label: `error ${errorFigure(report.fix!.error)}, without: ${without}` }];
  });
}
