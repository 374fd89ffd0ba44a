import type { BuildFacts } from './buildFacts.ts';
import type { NodeIndex } from '../language/nodeIndex.ts';
import type { OverrideFile } from '../language/overrideFile.ts';
import { problemAt } from '../language/precisionProblem.ts';
import type { Fix, PrecisionProblem, TextRange } from '../language/precisionProblem.ts';
import type { ResolvedRules } from '../language/resolveOverrides.ts';
import type { TensorrtTarget } from '../plan/tensorrtTarget.ts';
import { thousands } from '../../text/numbers.ts';

/** Everything that the checks of one rule look at; they add to `problems`. */
export interface CheckContext {
  index: NodeIndex;
  build: BuildFacts | null;
  target: TensorrtTarget;
  /** Where the scales of `int8` rules are from; null: the file does not say. */
  scales: KnownScales | null;
  problems: PrecisionProblem[];
}

/** What is known of the file of the `scales` line. */
export interface KnownScales {
  /** Tensors that have a scale in it; null: they are measured, or the file was not read. */
  tensors: ReadonlySet<string> | null;
}

/** What the checks look at that compare rules with each other. */
export interface FileContext extends CheckContext {
  file: OverrideFile;
  resolution: ResolvedRules;
}

/** Adds a problem to the context and gives it back, for what else belongs to it. */
export function addProblem(
  context: CheckContext,
  range: TextRange,
  severity: PrecisionProblem['severity'],
  code: string,
  message: string,
  fixes: Fix[] = [],
): PrecisionProblem {
  const problem = problemAt(range, severity, code, message, fixes);
  context.problems.push(problem);
  return problem;
}

/** The first names of a list in double quotes, and how many more there are. */
export function someNames(names: readonly string[], limit = 3): string {
  const shown = names.slice(0, limit).map((name) => JSON.stringify(name));
  const rest = names.length - shown.length;
  return rest > 0 ? `${shown.join(', ')} and ${thousands(rest)} more` : shown.join(', ');
}
