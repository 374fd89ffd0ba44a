import { DiagnosticSeverity, DiagnosticTag } from 'vscode-languageserver';
import type { Diagnostic } from 'vscode-languageserver';
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

/** All problems of an override file. Without a model one hint says so, at the first rule. */
export function overrideDiagnostics(analysis: OverrideAnalysis): Diagnostic[] {
  const { check, document, facts, file } = analysis;
  const diagnostics = check.problems.map((problem): Diagnostic => {
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
