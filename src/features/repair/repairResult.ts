// What a comparison with the original proves; the result of a repair, as data and as text.
import { randomInput } from '../../kernel/build/randomInputs.ts';
import { type RuntimeUsed, runtimeText } from '../../kernel/base/runtimeUsed.ts';
import { valueAt } from '../../kernel/base/addTo.ts';
import { counted, releaseName } from '../../kernel/base/text.ts';
import {
  type Block,
  type Document,
  facts,
  list,
  note,
  type Row,
  section,
  table,
} from '../../kernel/document/document.ts';
import type { Repair } from './internal/repair.ts';
import type { Diagnosis } from '../../kernel/build/diagnosis.ts';
import { type BuildManifest, builtShapes, type ShapeRange } from '../../kernel/build/buildManifest.ts';
import { byteLength, elementCount, type OnnxModel } from '../../kernel/read/onnx/onnxModel.ts';
import type { RefusedPlace, RepairClass, RepairStep } from '../../kernel/network/repairMap.ts';
import type { ModelEdits } from '../../kernel/read/onnx/editModel.ts';
import { type OpenExternal, rawElements, readElements } from '../../kernel/read/onnx/readElements.ts';
import type { ByteSource } from '../../kernel/base/problem.ts';

export { shiftedWeights } from './internal/integerWeights.ts';

/** Places of one repair that are listed by name. */
const mostPlaces = 5;

/** The result of a repair as lines of text. @param commands advice for the command line, otherwise for the editor */
export function repairText(outcome: RepairResult, commands = true): string {
  return [...stepLines(outcome), ...endLines(outcome, commands)].map((line) => `${line}\n`).join('');
}

/** Repairs that apply to a model, as lines of text. */
export const suggestionText = (steps: readonly RepairStep[]): string =>
  steps
    .flatMap(placeLines)
    .map((line) => `${line}\n`)
    .join('');

function stepLines(result: RepairResult): string[] {
  const { failure, repairs, status } = result;
  if (status === 'builds') return [`${buildsText(result)} Nothing to repair.`, ...basisLines(result)];
  const lines = failure ? [`${faultWord(failure)}: ${failure.message}`] : [];
  return [...lines, ...repairs.flatMap(placeLines)];
}

/** What TensorRT makes of the original. */
const faultWord = ({ code }: Diagnosis): string => (code === 'known-fault' ? 'Builds, with wrong values' : 'Rejected');

/** What accepts the model: a build, or tables. */
const buildsText = ({ tensorrt, tables, repairs }: RepairResult): string => {
  const how = repairs.length === 0 ? '' : ` with ${counted(repairs.length, 'repair')}`;
  return tables === null
    ? `The model builds${how}.`
    : `${releaseName(tensorrt)} accepts the model${how}, as far as its tables know: nothing was built.`;
};

/** Where the tables are not those of the version. */
const basisLines = ({ tables }: RepairResult): string[] => (tables ? [tables] : []);

/** A repair with its places. */
function placeLines(step: RepairStep): string[] {
  const { places } = step;
  const lines = [headLine(step)];
  for (const { name, operator, by, note } of places.slice(0, mostPlaces)) {
    const now = by.length > 1 ? ` → ${by.length} nodes` : '';
    lines.push(`  ${name} (${operator})${now}${note === null ? '' : `: ${note}`}`);
  }
  if (places.length > mostPlaces) lines.push(`  … ${counted(places.length - mostPlaces, 'more place')}`);
  return lines;
}

const headLine = ({ id, title, class: kind, places }: RepairStep): string =>
  `${title} (${id}, ${classWords[kind]}): ${counted(places.length, 'place')}`;

function endLines(outcome: RepairResult, commands: boolean): string[] {
  const { status, written, notAllowed, verdict } = outcome;
  const would =
    outcome.tables === null ? 'The model would build' : `${releaseName(outcome.tensorrt)} would accept the model`;
  const proof = verdict ? [`${verdict.text}.`] : [];
  switch (status) {
    case 'builds':
      return [];
    case 'repaired':
      return [
        ...proof,
        buildsText(outcome),
        ...basisLines(outcome),
        ...(written === null ? [] : [`Written: ${written}`]),
      ];
    case 'not-allowed':
      return [
        ...proof,
        `${would}, but these repairs are not exact: ${notAllowed.join(', ')}.${commands ? ` ${allowText(outcome)}` : ''}`,
      ];
    case 'unproved':
      return [
        ...proof,
        `${would}, but its outputs are not proved to be what the repairs promise, so nothing was written.`,
        ...(commands && outcome.proof ? ['If such inputs do not occur, pass real ones with --inputs FILE.'] : []),
      ];
    case 'failed':
      return failedLines(outcome, commands);
  }
}

function failedLines(outcome: RepairResult, commands: boolean): string[] {
  const { left, refused, repairs, tables, tensorrt, settings } = outcome;
  const helped =
    repairs.length === 0 ? [] : [`With ${counted(repairs.length, 'repair')} it still fails: ${left?.message ?? ''}`];
  const isWrong = left?.code === 'known-fault';
  return [
    ...helped,
    isWrong
      ? 'No repair gives the engine the right values.'
      : `No repair makes ${tables === null ? 'this model build' : `${releaseName(tensorrt)} accept this model`}.`,
    ...basisLines(outcome),
    ...refused.slice(0, mostPlaces).map((one) => `  ${refusedText(one)}`),
    ...(left ? [left.advice] : []),
    ...(commands && settings.length > 0 && !isWrong ? [settingsText(settings)] : []),
    ...(commands && !isWrong ? wayOut(outcome) : []),
  ];
}

const refusedText = ({ repair, name, operator, reason }: RepairResult['refused'][number]): string =>
  `${repair} does not apply to node "${name}" (${operator}): ${reason}.`;

const settingsText = (names: readonly string[]): string =>
  `${counted(names.length, 'input')} may be ${names.length === 1 ? 'a setting' : 'settings'} of the model: ${names.join(', ')}. Pass the values in place of the shape, such as --shapes ${names[0]}:1, and they are written into the model (fix-inputs).`;

/** What is left to do about a model that no repair helps. */
const wayOut = ({ model, failure, repairs, left }: RepairResult): string[] => {
  // The ids of a model with repairs are not those of the file.
  const nodes = (repairs.length === 0 ? left : failure)?.nodes ?? [];
  return [
    `For the smallest model that fails alike: trtlens cut reduce ${model} -o reduced`,
    ...(nodes.length > 0
      ? [
          `For the failing nodes as a model of their own: trtlens cut extract ${model} --nodes ${nodes.join(',')} -o part.onnx`,
        ]
      : []),
  ];
};

function allowText({ notAllowed, repairs }: RepairResult): string {
  const wanted = repairs
    .filter(({ id }) => notAllowed.includes(id))
    .map(({ id, class: kind }) => (kind === 'meaning' ? id : kind));
  return `Pass --allow ${[...new Set(wanted)].join(',')} to accept them.`;
}

const classWords: Record<Repair['class'], string> = {
  exact: 'exact',
  rounding: 'rounding',
  signature: 'changes inputs or outputs',
  float: 'float in place of quantized',
  meaning: 'changes what the model computes',
};

/** The result of a repair as a page: what was rejected, each place before and after, and the proof. */
export function repairDocument(outcome: RepairResult): Document {
  const { model, status, failure, repairs, proof, tensorrt, builds } = outcome;
  const good = status === 'repaired' || status === 'builds';
  return {
    title: `Repair of ${model.split(/[\\/]/).at(-1)}`,
    blocks: [
      {
        kind: 'verdict',
        state: good ? 'good' : 'bad',
        text: good ? buildsText(outcome) : endLines(outcome, true).at(-1)!,
      },
      ...facts([
        [failure ? faultWord(failure) : 'Rejected', failure?.message ?? null],
        ['TensorRT', releaseName(tensorrt)],
        ['Builds', builds === 0 ? null : String(builds)],
        ['Written', outcome.written],
        ['ONNX Runtime', outcome.runtime ? runtimeText(outcome.runtime) : null],
      ]),
      ...repairs.flatMap((step) => section(headLine(step), placeBlocks(step))),
      ...section('Proof', proof ? proofBlocks(proof, outcome.verdict) : []),
      ...section('Not repaired', list(outcome.refused.map(refusedText), 'place')),
      ...section('Result', list(endLines(outcome, true), 'line')),
    ],
  };
}

const placeBlocks = ({ places }: RepairStep): Block[] =>
  table(
    ['Before', 'Operator', 'After', ''],
    places.map(({ name, operator, by, operators, note: remark }): Row => ({
      cells: [
        name,
        operator,
        by.length === 0 ? 'removed' : operators ? countedOperators(operators) : by.join(', '),
        remark ?? '',
      ],
    })),
    'place',
  );

/** `Gather, 2 Mul, Sub` */
function countedOperators(operators: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const op of operators) counts.set(op, (counts.get(op) ?? 0) + 1);
  return [...counts].map(([op, count]) => (count === 1 ? op : `${count} ${op}`)).join(', ');
}

function proofBlocks({ cases, outputs }: Proof, verdict: ProofVerdict | null): Block[] {
  const ran = cases.filter((one) => one.ran).map(({ kind }) => kind);
  return [
    ...(verdict ? [{ kind: 'text', text: `${verdict.text}.` } satisfies Block] : []),
    ...table(
      ['Output', 'Result', 'Error#', 'Noise of the original#'],
      outputs.map(({ name, dropped, identical, error, noise }): Row => ({
        cells: [
          name,
          dropped ? 'removed or renamed' : identical ? 'bit-identical' : 'differs',
          dropped || identical ? '' : size(error),
          size(noise),
        ],
      })),
      'output',
    ),
    note(`Inputs: ${ran.join(', ')}. Error and noise are the largest difference by the largest value.`),
  ];
}

const size = (value: number | null): string =>
  value === null ? 'no bound' : value === 0 ? '0' : value.toExponential(1);

/** What became of a model. */
export interface RepairResult {
  /**
   * - builds: there was nothing to repair
   * - repaired: it builds now, and the outputs are as promised
   * - unproved: it builds now, but the outputs are not as the classes of the repairs say
   * - not-allowed: it builds with repairs that are not allowed
   * - failed: no repair helps
   */
  status: 'builds' | 'repaired' | 'unproved' | 'not-allowed' | 'failed';
  /** Path of the original. */
  model: string;
  /** Path of the repaired model; null: none was written. */
  written: string | null;
  /** Each repair with its places, in the order in which they were made. */
  repairs: RepairStep[];
  /** Ids of those that are not allowed. */
  notAllowed: string[];
  /** Why the original does not build; why the repaired model does not. */
  failure: Diagnosis | null;
  left: Diagnosis | null;
  /** Places that were left as they are, with the reason. */
  refused: (RefusedPlace & { repair: string })[];
  /** Inputs of a few integers whose values were not given. */
  settings: string[];
  proof: Proof | null;
  verdict: ProofVerdict | null;
  /** What built. */
  tensorrt: BuildManifest['tensorrt'];
  /** Nothing was built: tables of this version decided; where they are not its own, what they are instead. null: it was built. */
  tables: string | null;
  builds: number;
  seconds: number;
  /** What computed constants and outputs; absent: nothing had to be computed. */
  runtime?: RuntimeUsed;
}

/** One output of the original and what the repaired model gives in its place. */
export interface ProvedOutput {
  name: string;
  kind: 'float' | 'other';
  /** The repaired model has no such output. */
  dropped: boolean;
  /** Bit for bit the same in all cases of finite inputs. */
  identical: boolean;
  /** The same for inputs with NaN, infinities and −0. */
  specialIdentical: boolean;
  /** Largest max|d| / max|original| of all cases; null: not finite, or another shape. */
  error: number | null;
  /** How far the original moves when its inputs and weights move by a rounding step; null: without bound. */
  noise: number | null;
  /** The kind of case with the largest error; null: none differs. */
  worst: string | null;
  note: string | null;
  /** Share of equal elements in the worst case, of integers and booleans. */
  agree: number;
}

/** Original and repaired model, run side by side. */
export interface Proof {
  /** `sample`, or how the inputs were made. `ran`: false where the original itself rejects them. */
  cases: { kind: string; ran: boolean; why: string | null }[];
  /** Whether something could be moved for the noise. */
  noise: boolean;
  outputs: ProvedOutput[];
}

/** What the proof says of a repaired model. */
export interface ProofVerdict {
  /** The outputs are as the class of the repairs says. */
  holds: boolean;
  /** The class that the outputs have, whatever was claimed. */
  shown: 'exact' | 'rounding' | 'other';
  /** One sentence. */
  text: string;
}

/** Relative error up to which sums in another order go. */
const rounding = 1e-5;
const fewest = 3;

/** @param claimed the classes of the repairs */
export function judgeProof({ cases, outputs }: Proof, claimed: readonly RepairClass[]): ProofVerdict {
  const ran = cases.filter((one) => one.ran).length;
  const of = `${ran} ${ran === 1 ? 'input' : 'inputs'}`;
  const kept = outputs.filter(({ dropped }) => !dropped);
  const exact = kept.every(({ identical }) => identical);
  const close = kept.every((output) => isClose(output));
  const shown = exact ? 'exact' : close ? 'rounding' : 'other';
  if (ran < Math.min(fewest, cases.length) || ran === 0)
    return {
      holds: false,
      shown,
      text: `Not proved: ONNX Runtime runs the original on ${of} of ${cases.length} only${reason(cases)}. Pass real inputs with --inputs`,
    };
  const loose = claimed.some((one) => one === 'float' || one === 'meaning');
  const holds = shown === 'exact' || loose || (shown === 'rounding' && claimed.includes('rounding'));
  if (shown === 'exact') {
    const special = kept.every(({ specialIdentical }) => specialIdentical);
    const but = special ? '' : '; inputs with NaN or infinities may give other results';
    return { holds, shown, text: `Bit-identical outputs on ${of}${but}` };
  }
  return {
    holds,
    shown,
    text: `Outputs differ on ${of}: ${kept
      .filter((one) => !one.identical)
      .map(outputText)
      .join('; ')}`,
  };
}

/** Within a rounding error, or within what rounding does to the original. */
const isClose = ({ identical, error, noise, kind }: ProvedOutput): boolean =>
  identical || (error !== null && kind === 'float' && error <= Math.max(rounding, noise ?? 0));

const outputText = ({ name, error, noise, note, kind, agree, worst }: ProvedOutput): string => {
  if (note !== null) return `${name} has ${note}`;
  if (kind === 'other') return `${name} agrees in ${percent(agree)} of its elements`;
  if (error === 0) return `${name} in the sign of zeros`;
  const moves = noise === null ? 'without bound' : `by up to ${share(noise)}`;
  return `${name} by ${error === null ? 'more than any number' : share(error)}${worst === null || worst === 'sample' || worst === 'normal' ? '' : ` with ${worst} inputs`} (the original itself moves ${moves} when its inputs and weights move by a rounding step)`;
};

const share = (value: number): string => (value === 0 ? '0' : value < 1e-3 ? value.toExponential(1) : percent(value));

const percent = (value: number): string => `${(value * 100).toFixed(value < 0.1 ? 1 : 0)} %`;

function reason(cases: Proof['cases']): string {
  const why = cases.find((one) => one.why !== null)?.why;
  return why ? ` (${why.replace(/^\[ONNXRuntimeError\] : \d+ : [A-Z_]+ : /, '').slice(0, 200)})` : '';
}

/** An input of the model as `repair_model.py` makes values for it. */
export interface ProofInput {
  name: string;
  type: string;
  shape: (number | null)[] | null;
  low: number;
  high: number;
  /** All values, of an input that has to do with shapes. */
  fixed: number[] | null;
}

/** What to run a model on. */
export interface ProofPlan {
  inputs: ProofInput[];
  /** Shapes of the inputs; the first is the one that is tried most. */
  shapes: Record<string, number[]>[];
}

/** Shapes for which an engine is built: min, opt and max of each profile, each once. Open axes without a size are missing in `known`. */
/**
 * Values of integer inputs that stand where their shapes would: `--shapes sr:16000`. Those that differ between the profiles
 * are left out. @param isSetting whether `k:1` for an input of one element is its value, not its shape
 */
export function givenValues(
  model: OnnxModel,
  profiles: readonly Record<string, ShapeRange>[] | undefined,
  isSetting: (name: string) => boolean = () => false,
): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const { name, type, shape } of model.graph.inputs) {
    const texts = new Set(
      (profiles ?? []).flatMap((profile) => {
        const given = valueAt(profile, name);
        return given ? [given.min, given.opt, given.max] : [];
      }),
    );
    const [text] = texts;
    if (texts.size !== 1 || !text || !shape || shape.length > 1 || !integerTypes.has(type ?? '')) continue;
    const values = text.split('x').map(Number);
    const [size = 1] = shape;
    const isShape = values.length === shape.length && (size === values[0] || typeof size !== 'number' || size < 0);
    const count = typeof size === 'number' && size >= 0 ? size : values.length;
    if (count === values.length && (!isShape || (count === 1 && isSetting(name)))) found.set(name, values);
  }
  return found;
}

const integerTypes = new Set(['int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64', 'bool']);
const mostSettings = 8;

/** Inputs of a few integers without given values: they may be settings of the model. */
export function openSettings(model: OnnxModel, profiles: readonly Record<string, ShapeRange>[] | undefined): string[] {
  const weights = new Set(model.graph.initializers.map(({ name }) => name));
  return model.graph.inputs
    .filter(({ name, type, shape }) => {
      const [size = 1] = shape ?? [];
      if (weights.has(name) || !shape || shape.length > 1 || !integerTypes.has(type ?? '')) return false;
      return (
        typeof size === 'number' &&
        size > 0 &&
        size <= mostSettings &&
        !profiles?.some((profile) => valueAt(profile, name))
      );
    })
    .map(({ name }) => name);
}

export function shapeSets(
  model: OnnxModel,
  profiles: readonly Record<string, ShapeRange>[] | undefined,
): { known: Map<string, number[]>[]; all: Record<string, number[]>[]; defaulted: string[] } {
  const known = new Map<string, Map<string, number[]>>();
  const all = new Map<string, Record<string, number[]>>();
  const defaulted = new Set<string>();
  const values = givenValues(model, profiles);
  const declared = new Map(model.graph.inputs.map(({ name, shape }) => [name, values.has(name) ? null : shape]));
  for (const shapes of builtShapes(model, profiles))
    for (const end of ['opt', 'min', 'max'] as const) {
      const sizes = shapes.map((shape) => ({
        ...shape,
        dims: shape[end] === '' ? [] : shape[end].split('x').map(Number),
      }));
      const fits = sizes.filter(({ input, dims }) => declared.get(input)?.length === dims.length);
      for (const shape of fits) if (shape.defaulted) defaulted.add(shape.input);
      const sure = fits.filter((shape) => !shape.defaulted).map(({ input, dims }) => [input, dims] as const);
      known.set(JSON.stringify(sure), new Map(sure));
      const every = Object.fromEntries(fits.map(({ input, dims }) => [input, dims]));
      all.set(JSON.stringify(every), every);
    }
  return { known: [...known.values()], all: [...all.values()], defaulted: [...defaulted] };
}

/** Operators to which any integer is as good as another. */
const arithmetic = new Set('Add Sub Mul Cast Neg Abs Equal Less Greater Where Max Min Clip Not And Or Sign'.split(' '));
const widths: Partial<Record<string, [number, number]>> = {
  uint8: [0, 256],
  int8: [-128, 128],
  uint16: [0, 65536],
  int16: [-32768, 32768],
  uint32: [0, 2 ** 31],
  uint64: [0, 2 ** 31],
};

/** What to run original and repaired model on where there are no samples. Values that were written into the model are kept. */
export function planProof(
  model: OnnxModel,
  profiles: readonly Record<string, ShapeRange>[] | undefined,
  repaired: OnnxModel,
): ProofPlan {
  const kept = new Set(repaired.graph.inputs.map(({ name }) => name));
  const weights = new Set(model.graph.initializers.map(({ name }) => name));
  const { all, defaulted } = shapeSets(model, profiles);
  const values = givenValues(model, profiles, (name) => !kept.has(name));
  const inputs = model.graph.inputs.filter(({ name }) => !weights.has(name));
  const shapes = all.map((sizes) => withAll(sizes, inputs));
  // A size that no one gave is 1 in the build; other sizes may show that a repair holds only for 1.
  if (defaulted.length > 0)
    shapes.push(
      Object.fromEntries(
        inputs.map(({ name, shape }) => [
          name,
          (shape ?? []).map((dim) => (typeof dim === 'number' && dim > 0 ? dim : 3)),
        ]),
      ),
    );
  return {
    inputs: inputs.map((input): ProofInput => {
      const { name, type, shape } = input;
      const readers = model.nodes.filter(({ inputs: read }) => read.includes(name));
      const [low, high] =
        widths[type ?? ''] ??
        (readers.length > 0 && readers.every(({ op }) => arithmetic.has(op)) ? [-100, 101] : bounds(input, model));
      return {
        name,
        type: type ?? 'float',
        shape: shape?.map((dim) => (typeof dim === 'number' ? dim : null)) ?? null,
        low,
        high,
        fixed: values.get(name) ?? null,
      };
    }),
    shapes,
  };
}

const withAll = (sizes: Record<string, number[]>, inputs: OnnxModel['graph']['inputs']): Record<string, number[]> =>
  Object.fromEntries(
    inputs.map(({ name, shape }) => [name, valueAt(sizes, name) ?? (shape ?? []).map((dim) => Number(dim) || 1)]),
  );

function bounds(input: OnnxModel['graph']['inputs'][number], model: OnnxModel): [number, number] {
  const { values } = randomInput(input, model, new Map());
  return Array.isArray(values) ? values : [0, 2];
}

/** Fewer elements may be scales, bounds and other settings. */
const fewestWeights = 9;
/** Weights of more bytes are left as they are: the noise of the inputs has to do. */
const mostBytes = 64 << 20;

/**
 * The edits that move each FP32 weight by one rounding step up or down: what a result may differ by that is as good. null:
 * there are no such weights, or they are too large.
 */
export async function noisyWeights(
  { graph }: OnnxModel,
  source: ByteSource,
  open: OpenExternal,
): Promise<ModelEdits | null> {
  const inputs = new Set(graph.inputs.map(({ name }) => name));
  const weights = graph.initializers.filter(
    ({ name, type, shape, sparse }) =>
      type === 'float' && !sparse && !inputs.has(name) && elementCount(shape) >= fewestWeights,
  );
  const size = weights.reduce((sum, { type, shape }) => sum + (byteLength(type, shape) ?? 0), 0);
  if (weights.length === 0 || size > mostBytes) return null;
  const edits: Required<Pick<ModelEdits, 'addInitializers' | 'removeInitializers'>> = {
    addInitializers: [],
    removeInitializers: [],
  };
  for (const tensor of weights) {
    const { name, type, shape } = tensor;
    // oxlint-disable-next-line no-await-in-loop -- one weight in memory at a time
    const values = await readElements(tensor, source, open);
    if (!values) continue;
    edits.removeInitializers.push({ graph: '', name });
    edits.addInitializers.push({ graph: '', tensor: { name, newType: type, shape, bytes: nudged(values) } });
  }
  return edits;
}

/** Raw data with each number one step away. The same numbers every time. */
function nudged(values: Float64Array): Uint8Array {
  const bytes = rawElements('float', values);
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, values.length);
  let state = 1;
  for (const [index, word] of words.entries()) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const exponent = (word >>> 23) & 0xff;
    // Zeros stay zero, and infinities, NaN and the numbers next to them stay what they are.
    if (exponent > 0 && exponent < 254) words[index] = state >>> 31 ? word + 1 : word - 1;
  }
  return bytes;
}
