import type { OverrideFile, PrecisionProblem } from '../../../../kernel/rules/overrideFile.ts';

/** The errors among an override file's problems, as they are told where something is made of its rules. */
export function ruleErrors(file: OverrideFile, problems: readonly PrecisionProblem[]): string[] {
  return problems
    .filter(({ severity }) => severity === 'error')
    .map((problem) =>
      // The reader skips what it cannot read.
      file.problems.includes(problem)
        ? `Line ${problem.line} is ignored: ${problem.message}`
        : `Line ${problem.line}: ${problem.message}`,
    );
}
