// The result as text.
import { errorFigure, measureNames } from '../../../kernel/simulation/simulated.ts';
import type {
  AccuracyFix,
  AccuracyOutput,
  AccuracyReport,
  ChannelGroup,
  JudgedNode,
  Remedy,
} from '../../../kernel/simulation/simulated.ts';
import { counted, typeName } from '../../../kernel/base/text.ts';
import { readOverrides } from '../../../kernel/rules/readOverrides.ts';
import { isWithin, worstError } from './outputErrors.ts';

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
  const found =
    outsideTable(outputs) === undefined
      ? `${typeName(low)} gives ${what}${judgedOnly(outputs)}`
      : `In ${typeName(low)} an index leaves its table, so no error is predicted`;
  if (passesTolerance(report))
    return `${found}, within the tolerance of ${tolerance}.${againstMeasure(outputs, tolerance)}`;
  if (!fix) return `${found}; ${report.search === undefined ? 'there is no fix' : bestSoFar(report)}.`;
  return `${found}; with ${counted(fix.nodes.length, 'node')} in FP32 the error is ${errorFigure(fix.error)}.${storedError(report)}${againstMeasure(outputs, tolerance)}`;
}

/** Why nothing is predicted for the outputs that count, because an index leaves its table; undefined: none does. */
export const outsideTable = (outputs: readonly AccuracyOutput[]): string | undefined =>
  outputs.find(({ judged, outside }) => judged && outside !== undefined)?.outside;

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

/** What an operator that overflows in any type does to the outputs; '' for nothing that counts. */
export function unscaledError({ unscaled, tolerance }: AccuracyReport): string {
  if (!unscaled || isWithin(unscaled.exact, tolerance)) return '';
  const names = `${unscaled.names.slice(0, 3).join(', ')}${unscaled.names.length > 3 ? ', …' : ''}`;
  const error = unscaled.exact === null ? 'outputs that are not finite' : `an error of ${errorFigure(unscaled.exact)}`;
  return `TensorRT computes ReduceLogSumExp (${names}) without subtracting the largest value, so its exponentials overflow from 88.7 on: with every node in FP32 it gives ${error}. Subtract the maximum in the model (ReduceMax, Sub, ReduceLogSumExp, Add).`;
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
    : 'No output is floating point, so none was judged. The command line judges the others with --outputs all.';
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

/** The change of constants that helps; undefined: none does. */
export const helpfulRemedy = ({ remedies = [] }: Pick<AccuracyReport, 'remedies'>): Remedy | undefined =>
  remedies.find(({ rest }) => rest !== null);

/** The rules of a fix as text for a copy of the model, without that of one selector. */
export function rulesWithout({ rules, added, without }: AccuracyFix, selector?: string): string {
  const head = rules.slice(0, rules.length - added.length).replace(/^model .*\n/m, '');
  const others = without.filter((rule) => rule.selector !== selector);
  return [head, ...others.map((rule) => `${rule.selector} fp32\n`)].join('');
}

/** `0 to 3, 7`. */
export function channelsText({ channels }: Pick<ChannelGroup, 'channels'>): string {
  const spans = channels.slice(0, 3).map(([from, to]) => (from === to ? String(from) : `${from} to ${to}`));
  return `${spans.join(', ')}${channels.length > 3 ? ', …' : ''}`;
}
