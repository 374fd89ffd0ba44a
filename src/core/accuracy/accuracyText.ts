import { counted, percentText, thousands } from '../text/numbers.ts';
import type { AccuracyFix, AccuracyOutput, AccuracyReport } from './accuracyReport.ts';
import type { JudgedNode } from './judgement.ts';
import { overflowFrom } from './measures.ts';
import { isWithin, worstError } from './outputErrors.ts';

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

const words = { float16: 'FP16', bfloat16: 'BF16', int8: 'INT8', float8: 'FP8' } as const;

/** Why a node is to blame, in one sentence without its name. `withAlone`: also the error that it alone gives. */
export function evidence(node: Omit<JudgedNode, 'name' | 'op'>, withAlone = true): string {
  const { max, overflow, underflow, localError, alone, type, role, notJudged } = node;
  const name = words[type];
  const only =
    alone === undefined || !withAlone
      ? ''
      : alone === null
        ? `; alone in ${name} it makes the outputs not finite`
        : `; alone in ${name} it gives an error of ${errorFigure(alone)}`;
  const result = max === null ? '' : `largest result ${magnitude(max)}`;
  if (notJudged !== undefined) return `${notJudged}${only}`;
  if (role === 'victim') return `reads a value that ${name} cannot represent or that was already wrong; ${result}`;
  if (max !== null && max >= overflowFrom[type])
    return `largest result ${aboveEnd(max, type)}, ${name} ends at ${endText(type)}${only}`;
  if (overflow) return `gives infinity or NaN in ${name}, although its ${result} fits${only}`;
  if (underflow) return `results become 0 in ${name}; ${result}${only}`;
  return `local error ${errorFigure(localError)}, ${result}${only}`;
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
  const found = `${low.toUpperCase()} gives ${what}${judgedOnly(outputs)}`;
  if (passesTolerance(report)) return `${found}, within the tolerance of ${tolerance}.`;
  if (!fix) return `${found}; there is no fix.`;
  return `${found}; with ${counted(fix.nodes.length, 'node')} in FP32 the error is ${errorFigure(fix.error)}.`;
}

/** ` in output "probs"`: where the search was about some outputs; '' if all of floating point are judged. */
function judgedOnly(outputs: readonly AccuracyOutput[]): string {
  if (outputs.every(({ judged, max }) => judged || max === null)) return '';
  const names = outputs.filter(({ judged }) => judged).map(({ name }) => `"${name}"`);
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

/** The report as `trtlens accuracy` prints it. */
export function accuracyText(report: AccuracyReport): string {
  const { low, samples, outputs, nodes, fix, reason, tolerance } = report;
  const type = low.toUpperCase();
  const lines = [
    `${counted(nodes.length, 'node')} in ${type}, ${counted(samples, 'sample')}, tolerance ${tolerance}`,
    '',
    ...outputs.map((output) => outputLine(output, tolerance)),
    '',
  ];
  const unjudged = notJudgedTexts(nodes);
  if (unjudged.length > 0) lines.push(...unjudged.map((text) => `${text}.`), '');
  lines.push(...kernelLines(report));
  for (const { kind, name, error } of report.sensitivity?.slice(0, 20) ?? [])
    lines.push(`  only ${kind} ${name} in ${type}: error ${errorFigure(error)}`);
  if (report.sensitivity) lines.push('');
  const roots = nodes.filter(({ role }) => role === 'root');
  if (roots.length > 0) {
    lines.push(`${counted(roots.length, 'node')} to blame:`);
    for (const node of roots) lines.push(`  ${nodeTitle(node, report)} (${node.op}): ${evidence(node)}`);
    lines.push('');
  }
  if (!fix) return [...lines, `No fix: ${reason ?? ''}`, ''].join('\n');
  if (fix.nodes.length === 0) return [...lines, nothingJudged(outputs) ?? 'Nothing to fix.', ''].join('\n');
  const least = fix.minimal ? 'none of them can be omitted' : 'the search stopped early, so a smaller set may exist';
  lines.push(
    `Keep ${counted(fix.nodes.length, 'node')} in FP32: error ${errorFigure(fix.error)}${castsText(fix)} (${least}; ${counted(fix.runs, 'run')}):`,
  );
  for (const { selector, nodes: selected, error } of fix.without) {
    const what = selected.length > 1 ? ` (${counted(selected.length, 'node')})` : '';
    lines.push(
      `  ${selector} fp32${what}${error === null && !fix.minimal ? '' : `  # without: ${errorFigure(error)}`}`,
    );
  }
  if (low === 'fp16' || low === 'bf16')
    lines.push(
      '',
      `This predicts strongly typed engines. With a flag such as --${low}, TensorRT keeps some nodes in FP32 by itself, so this is the worst case.`,
    );
  lines.push('');
  return lines.join('\n');
}

function outputLine(output: AccuracyOutput, tolerance: number): string {
  const { name, max, error, finite, judged, shapeDiffers } = output;
  if (max === null) {
    const share = `${percentText(100 * (error ?? 0))} of its elements differ`;
    return `  ${name}: ${finite ? share : 'its shape differs'}${judged ? '' : ' (not judged)'}`;
  }
  if (shapeDiffers) return `  ${name}: ${judged ? 'fails' : 'not judged'}, its shape differs`;
  const verdict = !judged ? 'not judged' : finite && isWithin(error, tolerance) ? 'passes' : 'fails';
  return `  ${name}: ${verdict}, error ${errorFigure(error)} (largest value ${magnitude(max)})`;
}

/** Values that a build's kernels do not store, and what that changes. */
function kernelLines({ kernel, tolerance, outputs }: AccuracyReport): string[] {
  if (!kernel) return [];
  const lines = [
    `The kernels of the build use ${counted(kernel.held.length, 'value')} without storing them. If TensorRT leaves these unrounded, the errors are those above. This is a hypothesis: confirm it with trtlens run. If every value is rounded:`,
    ...kernel.outputs.map((output) => outputLine(output, tolerance)),
  ];
  const differs = kernel.outputs.some(({ error }, i) => error !== outputs[i]!.error);
  for (const { name, kernel: by } of differs ? kernel.held.filter(({ culprit }) => culprit) : [])
    lines.push(`  ${name}: inside ${by}`);
  return [...lines, ''];
}
