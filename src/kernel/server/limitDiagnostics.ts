import { DiagnosticSeverity } from 'vscode-languageserver';
import type { Diagnostic, Range } from 'vscode-languageserver';
import type { Problem, Severity } from '../base/problem.ts';
import { thousands } from '../base/text.ts';

const severities: Readonly<Record<Severity, DiagnosticSeverity>> = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  info: DiagnosticSeverity.Information,
};

/** As many as the editor shows of one file: sending more costs every keystroke and no one sees them. */
const most = 1000;

/** A diagnostic as every one of ours begins. */
export function diagnosticAt(range: Range, severity: Severity, code: string, message: string): Diagnostic {
  return { range, severity: severities[severity], code, source: 'TensorRT', message };
}

/**
 * The problems of a document as diagnostics: all, or the 1,000 most severe in the order of the problems, of which the
 * first says how many are missing.
 */
export function limitDiagnostics<P extends Problem>(
  problems: readonly P[],
  toDiagnostic: (problem: P) => Diagnostic,
): Diagnostic[] {
  if (problems.length <= most) return problems.map(toDiagnostic);
  const kept = new Set<P>();
  for (const wanted of ['error', 'warning', 'info'] as const) {
    for (const problem of problems) {
      if (kept.size === most - 1) break;
      if (problem.severity === wanted) kept.add(problem);
    }
  }
  const shown = problems.filter((problem) => kept.has(problem)).map(toDiagnostic);
  const rest = thousands(problems.length - shown.length);
  const message = `${rest} more problems are hidden. They appear as these are fixed.`;
  const first = problems[0] && toDiagnostic(problems[0]).range;
  return first ? [diagnosticAt(first, 'info', 'more-problems', message), ...shown] : shown;
}
