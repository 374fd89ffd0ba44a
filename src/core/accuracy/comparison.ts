import type { OnnxModel } from '../onnx/onnxModel.ts';
import { counted } from '../text/numbers.ts';
import type { AccuracyReport } from './accuracyReport.ts';
import { errorFigure } from './accuracyText.ts';
import { type ComparedOutput, isWithin } from './outputErrors.ts';

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
}

/** What `compare_runs.py` gives. */
export interface ComparedRuns {
  runs: number;
  tensors: ComparedTensor[];
  onlyA: string[];
  onlyB: string[];
  notes: string[];
}

/** Below this an error is the noise of another order of summation, and no prediction is compared with it. */
const NOISE = 1e-5;

/** Puts compared tensors in the model's order, names their nodes and compares a prediction with them. */
export function compareRuns(
  { runs, tensors, onlyA, onlyB, notes }: ComparedRuns,
  tolerance: number,
  model: OnnxModel | null,
  prediction: AccuracyReport | null,
): Comparison {
  const makers = new Map(model?.nodes.flatMap((node, at) => node.outputs.map((name) => [name, { node, at }] as const)));
  const predicted = new Map(prediction?.outputs.map(({ name, error }) => [name, error]));
  const byNode = new Map(prediction?.nodes.map(({ id, propagatedError }) => [id, propagatedError]));
  const all = tensors.map((tensor): { at: number; tensor: Comparison['tensors'][number] } => {
    const maker = makers.get(tensor.name) ?? makers.get(tensor.other);
    const passes = tensor.finite && isWithin(tensor.error, tolerance);
    const ofNode = maker ? byNode.get(maker.node.id) : undefined;
    const expected = predicted.has(tensor.name) ? predicted.get(tensor.name) : ofNode;
    const found = {
      ...tensor,
      passes,
      ...(maker && { node: { id: maker.node.id, name: maker.node.name, op: maker.node.op } }),
      ...(expected !== undefined && { predicted: expected, agrees: agrees(expected, tensor) }),
    };
    return { at: maker?.at ?? Infinity, tensor: found };
  });
  for (const { name, agrees: fits } of all.map(({ tensor }) => tensor)) {
    const held = prediction?.kernel?.held.filter(({ culprit }) => culprit) ?? [];
    const other = prediction?.kernel?.outputs.find((output) => output.name === name);
    const measured = tensors.find((tensor) => tensor.name === name)!;
    if (!fits || !other || agrees(other.error, measured) || held.length === 0) continue;
    const why = held.map(({ name: node, kernel }) => `${node} in ${kernel}`).join(', ');
    notes.push(`${name} is better than if every value were rounded, because kernels keep culprits unrounded: ${why}`);
  }
  const marked = model ? notOutputs(tensors, model) : [];
  if (marked.length > 0)
    notes.push(
      `${counted(marked.length, 'tensor')} of the engine ${marked.length === 1 ? 'is not an output' : 'are not outputs'} of the model (${marked[0]}${marked.length > 1 ? ', …' : ''}): marked tensors can change the fusion, so the shipped engine can give other values. Compare both builds: --plain FOLDER --marked FOLDER`,
    );
  const ordered = model ? all.toSorted((a, b) => a.at - b.at) : all;
  return { tolerance, runs, tensors: ordered.map(({ tensor }) => tensor), onlyA, onlyB, notes };
}

/** Tensors that nodes of the model make, but that are none of its outputs. */
function notOutputs(tensors: readonly ComparedTensor[], { graph, nodes }: OnnxModel): string[] {
  const outputs = new Set(graph.outputs.map(({ name }) => name));
  const made = new Set(nodes.flatMap((node) => node.outputs));
  return tensors.map(({ name }) => name).filter((name) => made.has(name) && !outputs.has(name));
}

function agrees(predicted: number | null, { error, finite }: ComparedTensor): boolean {
  if (predicted === null || !finite || error === null) return predicted === null && !finite;
  const [low, high] = [Math.min(predicted, error), Math.max(predicted, error)];
  return high <= NOISE || high <= 2 * low;
}

/** The comparison as `trtlens compare` prints it. */
export function comparedText({ tolerance, tensors, onlyA, onlyB, notes, runs }: Comparison): string {
  const failed = tensors.filter(({ passes }) => !passes);
  const lines = [`${counted(tensors.length, 'tensor')}, ${counted(runs, 'run')}, tolerance ${tolerance}`, ''];
  for (const tensor of tensors) lines.push(`  ${tensorLine(tensor)}`);
  lines.push('');
  for (const [which, names] of [['A', onlyA] as const, ['B', onlyB] as const])
    if (names.length > 0)
      lines.push(`Only in ${which}: ${names.slice(0, 10).join(', ')}${names.length > 10 ? ', …' : ''}`);
  for (const note of notes) lines.push(`Note: ${note}`);
  const [first] = failed;
  if (first && tensors.length > 1)
    lines.push(
      `First tensor that misses the tolerance: ${first.name}${first.node ? `, computed by ${nodeText(first.node)}` : ''}`,
    );
  lines.push(failed.length > 0 ? `${counted(failed.length, 'tensor')} failed` : 'All tensors pass', '');
  return lines.join('\n');
}

const nodeText = ({ id, name, op }: { id: string; name: string; op: string }): string =>
  `${name || `node ${id}`} (${op})`;

function tensorLine({
  name,
  passes,
  error,
  finite,
  nan,
  inf,
  range,
  stored,
  shapes,
  predicted,
  agrees: fits,
  node,
}: Comparison['tensors'][number]): string {
  const parts: string[] = [];
  if (shapes) parts.push(`shapes differ: ${shapes.map((shape) => shape.join('x')).join(' and ')}`);
  else if (stored && finite && error === null) parts.push('differs, how much is not stored');
  else parts.push(finite ? `error ${errorFigure(error)}` : 'not finite');
  if (nan) parts.push(`${counted(nan, 'NaN', 'NaN')}`);
  if (inf) parts.push(`${counted(inf, 'infinity', 'infinities')}`);
  if (range) parts.push('minimum and maximum only');
  if (predicted !== undefined)
    parts.push(`predicted ${errorFigure(predicted)}${fits ? '' : ', which is off by more than a factor of two'}`);
  if (node) parts.push(nodeText(node));
  return `${name || 'output'}: ${passes ? 'passes' : 'fails'}, ${parts.join(', ')}`;
}
