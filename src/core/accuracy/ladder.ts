import { counted } from '../text/numbers.ts';
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
  /** What an engine gave; null: no outputs of an engine were given. */
  measured: AccuracyOutput[] | null;
  /** Nodes in low precision; null: not known. */
  lowNodes: number | null;
  /** Names of the nodes that are to blame. */
  culprits: string[];
  /** What repairs it; null: nothing to repair, or not known. */
  fix: { nodes: number; error: number; rules: string } | null;
  /** Why it was not run. */
  reason: string | null;
}

/** What `trtlens ladder --json` prints. */
export interface Ladder {
  tolerance: number;
  samples: number;
  rungs: Rung[];
}

/** The rung of a report. */
export function rungOf(precision: LadderPrecision, report: AccuracyReport, measured: AccuracyOutput[] | null): Rung {
  const { nodes, outputs, fix } = report;
  return {
    precision,
    predicted: outputs,
    measured,
    lowNodes: nodes.length,
    culprits: nodes.filter(({ role }) => role === 'root').map(({ name, id }) => name || id),
    fix: fix && fix.nodes.length > 0 ? { nodes: fix.nodes.length, error: fix.error, rules: fix.rules } : null,
    reason: null,
  };
}

/** The ladder as a table. */
export function ladderText({ rungs, tolerance, samples }: Ladder): string {
  const rows = rungs.map(({ precision, predicted, measured, lowNodes, culprits, fix, reason }) => [
    precision.toUpperCase(),
    predicted === null ? 'not run' : errorFigure(worstError(predicted)),
    measured === null ? '-' : errorFigure(worstError(measured)),
    lowNodes === null ? '-' : String(lowNodes),
    fix ? `${counted(fix.nodes, 'node')} in FP32: ${errorFigure(fix.error)}` : '-',
    reason ?? culprits.slice(0, 3).join(', ') + (culprits.length > 3 ? ', …' : ''),
  ]);
  const all = [['precision', 'predicted', 'measured', 'low nodes', 'repaired', 'to blame'], ...rows];
  const widths = all[0]!.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  const lines = all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
  const head = `Error of the worst output, ${counted(samples, 'sample')}, tolerance ${tolerance}`;
  return `${[head, '', ...lines].join('\n')}\n`;
}
