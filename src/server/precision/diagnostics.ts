import { DiagnosticTag } from 'vscode-languageserver';
import type { Diagnostic } from 'vscode-languageserver';
import { diagnosticAt, limitDiagnostics } from '../limitDiagnostics.ts';
import { toRange } from '../places.ts';
import type { OverrideAnalysis } from './overrideAnalysis.ts';

/** The problems of an override file, at most 1,000 of them. Without a model one hint says so, at the first rule. */
export function overrideDiagnostics({ check, document, facts, file }: OverrideAnalysis): Diagnostic[] {
  const diagnostics = limitDiagnostics(check.problems, (problem) => {
    const diagnostic = diagnosticAt(toRange(problem), problem.severity, problem.code, problem.message);
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
    const severity = file.model ? 'error' : 'info';
    if (place) diagnostics.push(diagnosticAt(toRange(place), severity, 'model-missing', facts.modelProblem));
  }
  return diagnostics;
}
