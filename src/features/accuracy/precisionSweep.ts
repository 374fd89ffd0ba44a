// Several precisions in one table.
import { magnitude } from '../../kernel/simulation/nodeEvidence.ts';
import { errorFigure } from '../../kernel/simulation/simulated.ts';
import type { TimedRun } from '../../kernel/simulation/simulated.ts';
import type { AccuracyOutput, AccuracyReport, ComparedOutput } from '../../kernel/simulation/simulated.ts';
import { addTo } from '../../kernel/base/addTo.ts';
import { counted, shapeText, sizeText, thousands, timeText, typeName } from '../../kernel/base/text.ts';
import { type RuntimeUsed, runtimeText } from '../../kernel/base/runtimeUsed.ts';
import { type Block, type Document, facts, note, type Row, table } from '../../kernel/document/document.ts';
import type { OnnxModel } from '../../kernel/read/onnx/onnxModel.ts';
import { type Network, networkOf } from '../../kernel/network/network.ts';
import {
  channelsText,
  isWithin,
  nodeTitle,
  outsideTable,
  storedError,
  unscaledError,
  worstError,
} from './accuracyReport.ts';

export const sweepPrecisions = ['fp32', 'fp16', 'bf16', 'int8'] as const;
export type SweepPrecision = (typeof sweepPrecisions)[number];

/** One precision of a sweep. */
export interface SweepStep {
  precision: SweepPrecision;
  /** What the simulation gives; null: it was not run, see `reason`. */
  predicted: AccuracyOutput[] | null;
  /** What an engine gave; null: no outputs of an engine were given, and none was run. */
  measured: AccuracyOutput[] | null;
  /** A run of that engine; null: not timed. */
  milliseconds: number | null;
  /** Why no engine was run, although that was asked for; null: it was, or was not asked for. */
  notMeasured: string | null;
  /** Nodes in low precision; null: not known. */
  lowNodes: number | null;
  /** Names of the nodes that are to blame. */
  culprits: string[];
  /** What repairs it; null: nothing to repair, or not known. */
  fix: { nodes: number; error: number; rules: string } | null;
  /** Why it was not run. */
  reason: string | null;
  /** How fast ONNX Runtime runs the model of this precision, on each device that it has; only where asked for. */
  timed?: TimedRun[];
  /** Largest error that passes, where this precision has one of its own. */
  tolerance?: number;
  /** What could not be judged, and what no set of nodes repairs; a sentence each. */
  notes?: string[];
}

/** The part of a step that a real engine gives. */
export type MeasuredStep = Pick<SweepStep, 'measured' | 'milliseconds' | 'notMeasured'>;

/** What `trtlens accuracy --precisions --json` prints. */
export interface PrecisionSweep {
  tolerance: number;
  samples: number;
  /** The steps. The name of the key is part of the format in the JSON of `trtlens sweep`, which scripts and saved results use. */
  rungs: SweepStep[];
  /** What ran the model; absent: not known. */
  runtime?: RuntimeUsed;
}

/** The ONNX Runtime that computed a result. */
export const runtimeNote = ({ runtime }: { runtime?: RuntimeUsed }): Block[] =>
  runtime ? [note(runtimeText(runtime))] : [];

/** Whether a step that was run misses its tolerance. */
export const stepFails = ({ predicted, tolerance }: SweepStep, all: Pick<PrecisionSweep, 'tolerance'>): boolean =>
  predicted !== null && !isWithin(worstError(predicted), tolerance ?? all.tolerance);

/** Whether the engine in FP32 misses its tolerance: then no choice of precisions repairs it. */
export const isFp32EngineWrong = ({ rungs: steps, tolerance }: PrecisionSweep): boolean =>
  steps.some(
    (step) =>
      step.precision === 'fp32' &&
      step.measured !== null &&
      !isWithin(worstError(step.measured), step.tolerance ?? tolerance),
  );

/** The step of a report. */
export function stepOf(precision: SweepPrecision, report: AccuracyReport): Omit<SweepStep, keyof MeasuredStep> {
  const { nodes, outputs, fix } = report;
  const notes = stepNotes(report);
  return {
    precision,
    predicted: outputs,
    lowNodes: nodes.length,
    culprits: nodes.filter(({ role }) => role === 'root').map((node) => nodeTitle(node, report)),
    fix: fix && fix.nodes.length > 0 ? { nodes: fix.nodes.length, error: fix.error, rules: fix.rules } : null,
    reason: null,
    ...(notes.length > 0 && { notes }),
  };
}

/** What a report says of its reference and of what a typed copy leaves in FP32. */
function stepNotes(report: AccuracyReport): string[] {
  const { reference, storedQuantized = 0, typedCopy, outputs } = report;
  const outside = outsideTable(outputs);
  const stored = counted(storedQuantized, 'tensor');
  return [
    storedError(report).trim(),
    unscaledError(report),
    outside === undefined ? '' : `An index leaves its table, so nothing is predicted: ${outside}.`,
    !reference && storedQuantized > 0
      ? `Not judged: ${stored} that the model stores quantized; pass the FP32 model (--reference MODEL).`
      : '',
    typedCopy
      ? `ONNX has no such form for ${typedCopy.operators.join(', ')} in opset ${typedCopy.opset}: a typed copy keeps them in FP32, as simulated. With a flag or in a newer opset the error is up to ${errorFigure(typedCopy.worst)}.`
      : '',
  ].filter((text) => text !== '');
}

/** The precisions compared, on their own. */
export const sweepDocument = (sweep: PrecisionSweep, title: string): Document => ({
  title: `Precisions of ${title}`,
  blocks: [...sweepBlocks(sweep), ...runtimeNote(sweep)],
});

/** A row a precision; where the model has several outputs, with the error of each below. Columns of engines only where one was to be run. */
export function sweepBlocks(sweep: PrecisionSweep): Block[] {
  const { rungs: steps, samples } = sweep;
  const hasEngines = steps.some(({ measured, notMeasured }) => measured !== null || notMeasured !== null);
  const rows = steps.map((step): Row => {
    const { precision, predicted, lowNodes, culprits, reason, milliseconds } = step;
    const cells = [
      typeName(precision),
      predictedText(step),
      ...(hasEngines ? [measuredText(step), milliseconds === null ? '-' : timeText(milliseconds)] : []),
      lowNodes === null ? '-' : thousands(lowNodes),
      repairedText(step) || '-',
      reason ?? [...culprits.slice(0, 6), ...(culprits.length > 6 ? ['…'] : [])].join(', '),
    ];
    if (predicted === null) return { cells, state: 'skipped' };
    return { cells, state: stepFails(step, sweep) ? 'bad' : 'good' };
  });
  const outputs = outputRows(steps);
  const engineTitles = hasEngines ? ['measured#', 'time#'] : [];
  return [
    ...table(['precision', 'predicted#', ...engineTitles, 'low nodes#', 'repaired', 'causes'], rows),
    ...(outputs.length > 1
      ? table(
          ['predicted error of', ...steps.map(({ precision }) => `${typeName(precision)}#`)],
          outputs.map((cells) => ({ cells })),
          'output',
        )
      : []),
    note(
      `The model without override rules; error of the worst output, ${counted(samples, 'sample')}, tolerance ${toleranceText(sweep)}.`,
    ),
    ...steps.flatMap(({ precision, notes = [] }) => notes.map((text) => note(`${typeName(precision)}: ${text}`))),
    ...timeBlocks(steps),
    ...notMeasuredTexts(steps).map((text) => note(`${text}.`)),
    ...steps.flatMap(({ precision, fix }): Block[] =>
      fix
        ? [{ kind: 'source', title: `The rules that repair ${typeName(precision)}`, text: fix.rules, folded: true }]
        : [],
    ),
  ];
}

/** Against what: ONNX Runtime as the baseline, and TensorRT as far as it ran. A row that needs a GPU says so. */
function timeBlocks(steps: readonly SweepStep[]): Block[] {
  const timed = steps.flatMap(({ timed: own = [] }) => own);
  const [first] = timed;
  if (first === undefined) return [];
  const baselines = steps.flatMap((step) =>
    (step.timed ?? []).map((run): Row => ({
      cells: [
        `ONNX Runtime ${typeName(step.precision)}`,
        run.device === 'CPU' ? `CPU, ${counted(run.threads, 'thread')}` : 'GPU',
        timeText(run.medianMs),
        timeText(run.p99Ms),
        thousands(Math.round(run.perSecond)),
        run.memory === null ? '-' : sizeText(run.memory),
        // The outputs are those of the CPU.
        run.device === 'CPU' ? predictedText(step) : '-',
      ],
    })),
  );
  const engines = steps.map((step): Row => {
    const { precision, milliseconds } = step;
    const name = `TensorRT ${typeName(precision)}`;
    if (milliseconds === null)
      return { cells: [name, 'needs a GPU', '-', '-', '-', '-', measuredText(step)], state: 'skipped' };
    const perSecond = thousands(Math.round(1000 / milliseconds));
    return { cells: [name, 'GPU', timeText(milliseconds), '-', perSecond, '-', measuredText(step)] };
  });
  return [
    ...table(['against', 'device', 'median#', 'p99#', 'per second#', 'memory#', 'error#'], [...baselines, ...engines]),
    note(
      `${first.runtime}, ${counted(first.runs, 'run')} of the inputs one after the other; memory is what loading and running added. TensorRT is timed by --build on a GPU: the least of ten runs, without transfers.`,
    ),
  ];
}

/** `0.01, INT8 0.05`. */
const toleranceText = ({ rungs: steps, tolerance }: PrecisionSweep): string =>
  [
    String(tolerance),
    ...steps.flatMap((step) => (step.tolerance === undefined ? [] : [`${typeName(step.precision)} ${step.tolerance}`])),
  ].join(', ');

const predictedText = ({ predicted }: SweepStep): string =>
  predicted === null
    ? 'not run'
    : predicted.some(({ judged }) => judged)
      ? errorFigure(worstError(predicted), outsideTable(predicted) !== undefined)
      : 'none judged';

const measuredText = ({ measured, notMeasured }: SweepStep): string =>
  measured !== null ? errorFigure(worstError(measured)) : notMeasured !== null ? 'not run' : '-';

const repairedText = ({ fix }: SweepStep): string =>
  fix ? `${counted(fix.nodes, 'node')} in FP32: ${errorFigure(fix.error)}` : '';

/** Each judged output with its predicted error in each precision. */
function outputRows(steps: readonly SweepStep[]): string[][] {
  const judged = steps.find(({ predicted }) => predicted !== null)?.predicted?.filter((one) => one.judged) ?? [];
  return judged.map(({ name }) => [
    name,
    ...steps.map(({ predicted }) => {
      const own = predicted?.find((one) => one.name === name);
      return own === undefined ? '-' : errorFigure(own.error, own.outside !== undefined);
    }),
  ]);
}

/** `BF16, INT8 not measured: why`. */
function notMeasuredTexts(steps: readonly SweepStep[]): string[] {
  const why = new Map<string, string[]>();
  for (const { precision, notMeasured } of steps)
    if (notMeasured !== null) addTo(why, notMeasured, typeName(precision));
  return [...why].map(([reason, precisions]) => `${precisions.join(', ')} not measured: ${reason}`);
}

/** One tensor of two runs, as `compare_runs.py` compares it; `a` is the reference. */
export interface ComparedTensor extends ComparedOutput {
  /** Its name in b. */
  other: string;
  /** Only minimum and maximum are known of one side, and only these are compared. */
  range?: true;
  /** Only the largest difference is known, from Polygraphy's accuracy results. An error that does not follow is null. */
  stored?: true;
}

export interface Comparison {
  tolerance: number;
  runs: number;
  /** In the model's order where it is given. */
  tensors: (ComparedTensor & {
    passes: boolean;
    /** The node that makes it; absent: no model, or not made by a node. */
    node?: { id: string; name: string; op: string };
    /** The error that was predicted for it; null: not finite. Absent: no prediction. */
    predicted?: number | null;
    /** Prediction and measurement are within a factor of two, or both not finite. */
    agrees?: boolean;
  })[];
  onlyA: string[];
  onlyB: string[];
  notes: string[];
  /** What read the runs; absent: not known. */
  runtime?: RuntimeUsed;
}

/** What `compare_runs.py` gives. */
export interface ComparedRuns {
  runs: number;
  tensors: ComparedTensor[];
  onlyA: string[];
  onlyB: string[];
  notes: string[];
  runtime?: RuntimeUsed | undefined;
}

/** Below this an error is the noise of another order of summation, and no prediction is compared with it. */
const NOISE = 1e-5;

/** What a report predicts: not for outputs behind an index outside its table, nor for nodes that were not measured. */
function predictedErrors(prediction: AccuracyReport | null) {
  const { outputs = [], nodes = [] } = prediction ?? {};
  const judged = nodes.filter(({ notJudged }) => notJudged === undefined);
  return {
    predicted: new Map(outputs.filter(({ outside }) => !outside).map(({ name, error }) => [name, error])),
    byNode: new Map(judged.map(({ id, propagatedError }) => [id, propagatedError])),
  };
}

/** Puts compared tensors in the model's order, names their nodes and compares a prediction with them. */
export function compareRuns(
  { runs, tensors, onlyA, onlyB, notes, runtime }: ComparedRuns,
  tolerance: number,
  model: OnnxModel | null,
  prediction: AccuracyReport | null,
): Comparison {
  const network = model && networkOf(model);
  const { predicted, byNode } = predictedErrors(prediction);
  const all = tensors.map((tensor): { at: number; tensor: Comparison['tensors'][number] } => {
    const at = network ? (makerOf(network, tensor.name) ?? makerOf(network, tensor.other)) : undefined;
    const maker = at === undefined ? undefined : network!.nodes[at];
    const passes = tensor.finite && isWithin(tensor.error, tolerance);
    const ofNode = maker ? byNode.get(maker.id) : undefined;
    const expected = predicted.has(tensor.name) ? predicted.get(tensor.name) : ofNode;
    const found = {
      ...tensor,
      passes,
      ...(maker && { node: { id: maker.id, name: maker.name, op: maker.op } }),
      ...(expected !== undefined && { predicted: expected, agrees: agrees(expected, tensor) }),
    };
    return { at: at ?? Infinity, tensor: found };
  });
  for (const { name, agrees: fits } of all.map(({ tensor }) => tensor)) {
    const held = prediction?.kernel?.held.filter(({ culprit }) => culprit) ?? [];
    const other = prediction?.kernel?.outputs.find((output) => output.name === name);
    const measured = tensors.find((tensor) => tensor.name === name)!;
    if (!fits || !other || agrees(other.error, measured) || held.length === 0) continue;
    const why = held.map(({ name: node, kernel }) => `${node} in ${kernel}`).join(', ');
    notes.push(`${name} is better than if every value were rounded, because kernels keep culprits unrounded: ${why}`);
  }
  const marked = network ? notOutputs(tensors, network) : [];
  if (marked.length > 0)
    notes.push(
      `${counted(marked.length, 'tensor')} of the engine ${marked.length === 1 ? 'is not an output' : 'are not outputs'} of the model (${marked[0]}${marked.length > 1 ? ', …' : ''}): marked tensors can change the fusion, so the shipped engine can give other values. Compare both builds: --plain FOLDER --marked FOLDER`,
    );
  const ordered = model ? all.toSorted((a, b) => a.at - b.at) : all;
  const compared = ordered.map(({ tensor }) => tensor);
  return { tolerance, runs, tensors: compared, onlyA, onlyB, notes, ...(runtime && { runtime }) };
}

/** Tensors that nodes of the model make, but that are none of its outputs. */
function notOutputs(tensors: readonly ComparedTensor[], network: Network): string[] {
  const outputs = new Set(network.model.graph.outputs.map(({ name }) => name));
  return tensors.map(({ name }) => name).filter((name) => makerOf(network, name) !== undefined && !outputs.has(name));
}

/** The node that makes a tensor of that name, of the main graph if it has one: an engine shows tensors without their graph. */
const makerOf = (network: Network, name: string): number | undefined =>
  network.tensorsNamed(name).find(({ producer }) => producer >= 0)?.producer;

function agrees(predicted: number | null, { error, finite }: ComparedTensor): boolean {
  if (predicted === null || !finite || error === null) return predicted === null && !finite;
  const [low, high] = [Math.min(predicted, error), Math.max(predicted, error)];
  return high <= NOISE || high <= 2 * low;
}

/** Two runs, tensor by tensor in the model's order. */
export function comparedDocument(comparison: Comparison): Document {
  const { tolerance, tensors, onlyA, onlyB, notes, runs } = comparison;
  const failed = tensors.filter(({ passes }) => !passes);
  const [first] = failed;
  const verdict =
    failed.length === 0 ? 'All tensors pass.' : `${failed.length} of ${counted(tensors.length, 'tensor')} failed.`;
  const where =
    first && tensors.length > 1
      ? ` The first that misses the tolerance: ${first.name}${first.node ? `, computed by ${nodeText(first.node)}` : ''}.`
      : '';
  const hasPrediction = tensors.some(({ predicted }) => predicted !== undefined);
  return {
    title: `${counted(tensors.length, 'tensor')}, ${counted(runs, 'run')}, tolerance ${tolerance}`,
    blocks: [
      { kind: 'verdict', state: failed.length === 0 ? 'good' : 'bad', text: verdict + where },
      ...table(
        ['tensor', 'error#', ...(hasPrediction ? ['predicted#'] : []), 'computed by', 'remarks'],
        tensors.map((tensor) => ({
          cells: [
            tensor.name || 'output',
            differenceText(tensor),
            ...(hasPrediction ? [tensor.predicted === undefined ? '' : errorFigure(tensor.predicted)] : []),
            tensor.node ? nodeText(tensor.node) : '',
            remarks(tensor).join(', '),
          ],
          state: tensor.passes ? 'good' : 'bad',
        })),
        'tensor',
      ),
      ...facts([
        ['Only in A', someNames(onlyA)],
        ['Only in B', someNames(onlyB)],
      ]),
      ...notes.map((text) => note(text)),
      ...runtimeNote(comparison),
    ],
  };
}

const someNames = (names: readonly string[]): string =>
  `${names.slice(0, 10).join(', ')}${names.length > 10 ? ', …' : ''}`;

const nodeText = ({ id, name, op }: { id: string; name: string; op: string }): string =>
  `${name || `node ${id}`} (${op})`;

function differenceText({ error, finite, stored, shapes }: ComparedTensor): string {
  if (shapes) return 'other shape';
  if (stored && finite && error === null) return 'not stored';
  return finite ? errorFigure(error) : 'not finite';
}

function remarks(tensor: Comparison['tensors'][number]): string[] {
  const { nan, inf, range, shapes, predicted, agrees: fits, groups } = tensor;
  const worst = groups?.toSorted((a, b) => b.error - a.error)[0];
  return [
    ...(worst
      ? [`largest in channels ${channelsText(worst)} of axis ${worst.axis}, which reach ${magnitude(worst.max)}`]
      : []),
    ...(shapes ? [shapes.map(shapeText).join(' and ')] : []),
    ...(nan ? [counted(nan, 'NaN', 'NaN')] : []),
    ...(inf ? [counted(inf, 'infinity', 'infinities')] : []),
    ...(range ? ['minimum and maximum only'] : []),
    ...(predicted !== undefined && !fits ? ['the prediction is off by more than a factor of two'] : []),
  ];
}
