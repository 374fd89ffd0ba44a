import { counted, timeText } from '../text/numbers.ts';
import type { AccuracyOutput, AccuracyReport } from './accuracyReport.ts';
import { errorFigure } from './accuracyText.ts';
import { worstError } from './outputErrors.ts';

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
    culprits: nodes.filter(({ role }) => role === 'root').map(({ name, id }) => name || id),
    fix: fix && fix.nodes.length > 0 ? { nodes: fix.nodes.length, error: fix.error, rules: fix.rules } : null,
    reason: null,
  };
}

/** The ladder as a table. */
export function ladderText({ rungs, tolerance, samples }: Ladder): string {
  const rows = rungs.map(
    ({ precision, predicted, measured, milliseconds, notMeasured, lowNodes, culprits, fix, reason }) => [
      precision.toUpperCase(),
      predicted === null ? 'not run' : errorFigure(worstError(predicted)),
      measured !== null ? errorFigure(worstError(measured)) : notMeasured !== null ? 'not run' : '-',
      milliseconds === null ? '-' : timeText(milliseconds),
      lowNodes === null ? '-' : String(lowNodes),
      fix ? `${counted(fix.nodes, 'node')} in FP32: ${errorFigure(fix.error)}` : '-',
      reason ?? culprits.slice(0, 3).join(', ') + (culprits.length > 3 ? ', …' : ''),
    ],
  );
  const all = [['precision', 'predicted', 'measured', 'time', 'low nodes', 'repaired', 'to blame'], ...rows];
  const widths = all[0]!.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  const lines = all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
  const head = `Error of the worst output, ${counted(samples, 'sample')}, tolerance ${tolerance}`;
  const why = new Map<string, string[]>();
  for (const { precision, notMeasured } of rungs)
    if (notMeasured !== null) why.set(notMeasured, [...(why.get(notMeasured) ?? []), precision.toUpperCase()]);
  const notes = [...why].map(([reason, precisions]) => `${precisions.join(', ')} not measured: ${reason}`);
  return `${[head, '', ...lines, ...(notes.length > 0 ? ['', ...notes] : [])].join('\n')}\n`;
}
