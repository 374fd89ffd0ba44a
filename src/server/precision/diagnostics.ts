import { DiagnosticSeverity, DiagnosticTag } from 'vscode-languageserver';
import type { Diagnostic } from 'vscode-languageserver';
import { problemAt } from '../../core/precision/precisionProblem.ts';
import type { PrecisionProblem } from '../../core/precision/precisionProblem.ts';
import { toRange } from '../places.ts';
import type { OverrideAnalysis } from './overrideAnalysis.ts';

export const diagnosticSource = 'TensorRT';

const severities = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  info: DiagnosticSeverity.Information,
} as const;

/** LSP's severity of a problem. */
export function severityOf(severity: keyof typeof severities): DiagnosticSeverity {
  return severities[severity];
}

/** As many as the editor shows of one file: sending more costs every keystroke and nobody sees them. */
export const mostDiagnostics = 1000;

/** The problems of an override file, at most 1,000 of them. Without a model one hint says so, at the first rule. */
export function overrideDiagnostics(analysis: OverrideAnalysis): Diagnostic[] {
  const { check, document, facts, file } = analysis;
  const diagnostics = gravest(check.problems).map((problem): Diagnostic => {
    const diagnostic: Diagnostic = {
      range: toRange(problem),
      severity: severityOf(problem.severity),
      code: problem.code,
      source: diagnosticSource,
      message: problem.message,
    };
    if (problem.unnecessary) diagnostic.tags = [DiagnosticTag.Unnecessary];
    if (problem.related.length > 0) {
      diagnostic.relatedInformation = problem.related.map(({ range, message }) => ({
        location: { uri: document.uri, range: toRange(range) },
        message,
      }));
    }
    return diagnostic;
  });
  if (facts.modelProblem !== '') {
    const place = file.model?.valueRange ?? file.rules[0]?.range;
    if (place) {
      diagnostics.push({
        range: toRange(place),
        severity: file.model ? DiagnosticSeverity.Error : DiagnosticSeverity.Information,
        code: 'model-missing',
        source: diagnosticSource,
        message: facts.modelProblem,
      });
    }
  }
  return diagnostics;
}

/** The gravest problems in the order of the text; where some are left out, one more says how many. */
function gravest(problems: readonly PrecisionProblem[]): readonly PrecisionProblem[] {
  if (problems.length <= mostDiagnostics) return problems;
  const kept = new Set<PrecisionProblem>();
  for (const wanted of ['error', 'warning', 'info'] as const) {
    for (const problem of problems) {
      if (kept.size === mostDiagnostics - 1) break;
      if (problem.severity === wanted) kept.add(problem);
    }
  }
  const shown = problems.filter((problem) => kept.has(problem));
  const [first] = problems;
  if (!first) return shown;
  const rest = (problems.length - shown.length).toLocaleString('en-US');
  const message = `${rest} more problems are not shown here; "trtlens precision check" lists all of them.`;
  return [problemAt(first, 'info', 'more-problems', message), ...shown];
}
