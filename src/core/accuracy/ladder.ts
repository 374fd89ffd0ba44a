import { escaped } from '../text/htmlPage.ts';
import { counted, timeText } from '../text/numbers.ts';
import type { AccuracyOutput, AccuracyReport } from './accuracyReport.ts';
import { errorFigure, nodeTitle } from './accuracyText.ts';
import { isWithin, worstError } from './outputErrors.ts';
import { addTo } from '../text/addTo.ts';

export const ladderPrecisions = ['fp32', 'fp16', 'bf16', 'int8'] as const;
export type LadderPrecision = (typeof ladderPrecisions)[number];

/** One precision of a ladder. */
export interface Rung {
  precision: LadderPrecision;
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
}

/** The part of a rung that a real engine gives. */
export type MeasuredRung = Pick<Rung, 'measured' | 'milliseconds' | 'notMeasured'>;

/** What `trtlens ladder --json` prints. */
export interface Ladder {
  tolerance: number;
  samples: number;
  rungs: Rung[];
}

/** The rung of a report. */
export function rungOf(precision: LadderPrecision, report: AccuracyReport): Omit<Rung, keyof MeasuredRung> {
  const { nodes, outputs, fix } = report;
  return {
    precision,
    predicted: outputs,
    lowNodes: nodes.length,
    culprits: nodes.filter(({ role }) => role === 'root').map((node) => nodeTitle(node, report)),
    fix: fix && fix.nodes.length > 0 ? { nodes: fix.nodes.length, error: fix.error, rules: fix.rules } : null,
    reason: null,
  };
}

/** The ladder as a table; where the model has several outputs, with the error of each below it. */
export function ladderText({ rungs, tolerance, samples }: Ladder): string {
  const rows = rungs.map((rung) => [
    rung.precision.toUpperCase(),
    predictedText(rung),
    measuredText(rung),
    rung.milliseconds === null ? '-' : timeText(rung.milliseconds),
    rung.lowNodes === null ? '-' : String(rung.lowNodes),
    repairedText(rung) || '-',
    rung.reason ?? rung.culprits.slice(0, 3).join(', ') + (rung.culprits.length > 3 ? ', …' : ''),
  ]);
  const head = `Error of the worst output, ${counted(samples, 'sample')}, tolerance ${tolerance}`;
  const lines = [head, '', ...columns([header, ...rows])];
  const outputs = outputRows(rungs);
  if (outputs.length > 1)
    lines.push(
      '',
      ...columns([['predicted error of', ...rungs.map(({ precision }) => precision.toUpperCase())], ...outputs]),
    );
  const notes = notMeasuredTexts(rungs);
  return `${[...lines, ...(notes.length > 0 ? ['', ...notes] : [])].join('\n')}\n`;
}

const header = ['precision', 'predicted', 'measured', 'time', 'low nodes', 'repaired', 'to blame'];

const predictedText = ({ predicted }: Rung): string =>
  predicted === null
    ? 'not run'
    : predicted.some(({ judged }) => judged)
      ? errorFigure(worstError(predicted))
      : 'none judged';

const measuredText = ({ measured, notMeasured }: Rung): string =>
  measured !== null ? errorFigure(worstError(measured)) : notMeasured !== null ? 'not run' : '-';

const repairedText = ({ fix }: Rung): string =>
  fix ? `${counted(fix.nodes, 'node')} in FP32: ${errorFigure(fix.error)}` : '';

/** Each judged output with its predicted error in each precision. */
function outputRows(rungs: readonly Rung[]): string[][] {
  const judged = rungs.find(({ predicted }) => predicted !== null)?.predicted?.filter((one) => one.judged) ?? [];
  return judged.map(({ name }) => [
    name,
    ...rungs.map(({ predicted }) => {
      const own = predicted?.find((one) => one.name === name);
      return own === undefined ? '-' : errorFigure(own.error);
    }),
  ]);
}

/** `BF16, INT8 not measured: why`. */
function notMeasuredTexts(rungs: readonly Rung[]): string[] {
  const why = new Map<string, string[]>();
  for (const { precision, notMeasured } of rungs)
    if (notMeasured !== null) addTo(why, notMeasured, precision.toUpperCase());
  return [...why].map(([reason, precisions]) => `${precisions.join(', ')} not measured: ${reason}`);
}

/** Lines of a table, its columns as wide as their longest cell. */
function columns(rows: string[][]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
}

/** The ladder as a part of a page, without measured columns where no engine was to be run. Names are escaped. */
export function ladderHtml({ rungs, tolerance, samples }: Ladder): string {
  const hasEngines = rungs.some(({ measured, notMeasured }) => measured !== null || notMeasured !== null);
  const engineCells = (rung: Rung) =>
    hasEngines
      ? `<td class="n">${measuredText(rung)}</td><td class="n">${rung.milliseconds === null ? '-' : timeText(rung.milliseconds)}</td>`
      : '';
  const rows = rungs.map((rung) => {
    const { precision, predicted, lowNodes, culprits, reason } = rung;
    const fails = predicted !== null && !isWithin(worstError(predicted), tolerance);
    const blame = reason ?? (culprits.length > 6 ? [...culprits.slice(0, 6), '…'] : culprits).join(', ');
    return `<tr><td>${precision.toUpperCase()}</td><td class="n${fails ? ' bad' : ''}">${predictedText(rung)}</td>${engineCells(rung)}<td class="n">${lowNodes ?? '-'}</td><td class="repaired">${repairedText(rung)}</td><td>${escaped(blame)}</td></tr>`;
  });
  const outputs = outputRows(rungs);
  const each = outputs.map(
    ([name, ...errors]) =>
      `<tr><td>${escaped(name!)}</td>${errors.map((text) => `<td class="n">${text}</td>`).join('')}</tr>`,
  );
  const repairs = rungs.flatMap(({ precision, fix }) =>
    fix
      ? [
          `<details><summary>The rules that repair ${precision.toUpperCase()}</summary><pre>${escaped(fix.rules)}</pre></details>`,
        ]
      : [],
  );
  return `<table><tr><th>precision</th><th class="n">predicted</th>${hasEngines ? '<th class="n">measured</th><th class="n">time</th>' : ''}<th class="n">low nodes</th><th>repaired</th><th>to blame</th></tr>
${rows.join('\n')}
</table>
${outputs.length > 1 ? `<table><tr><th>predicted error of</th>${rungs.map(({ precision }) => `<th class="n">${precision.toUpperCase()}</th>`).join('')}</tr>\n${each.join('\n')}\n</table>` : ''}
<p class="note">The model without override rules; error of the worst output, ${counted(samples, 'sample')}, tolerance ${tolerance}.${notMeasuredTexts(
    rungs,
  )
    .map((text) => ` ${escaped(text)}.`)
    .join('')}</p>
${repairs.join('\n')}`;
}
