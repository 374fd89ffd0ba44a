import { DiagnosticTag } from 'vscode-languageserver';
import type { Diagnostic } from 'vscode-languageserver';
import { diagnosticAt, limitDiagnostics } from '../../../kernel/server/limitDiagnostics.ts';
import { toRange } from '../../../kernel/server/places.ts';
import type { OverrideAnalysis } from './overrideAnalysis.ts';

/** What a build may make of a rule; where it has obeyed the rule, there is nothing to fear. */
const risks: ReadonlySet<string> = new Set([
  'no-layer-flags',
  'flag-missing',
  'inside-foreign-node',
  'layer-unregistered',
]);

/** The problems of an override file, at most 1,000 of them. Without a model one hint says so, at the first rule. */
export function overrideDiagnostics(analysis: OverrideAnalysis): Diagnostic[] {
  const { check, document, facts, file } = analysis;
  const atRisk = check.problems.some(({ code }) => risks.has(code));
  const obeyed = new Set(
    (atRisk ? analysis.verdicts() : []).flatMap(({ verdict, line }) => (verdict === 'obeyed' ? [line] : [])),
  );
  const left = check.problems.filter(({ code, line, severity }) => {
    return severity === 'error' || !risks.has(code) || !obeyed.has(line);
  });
  const diagnostics = limitDiagnostics(left, (problem) => {
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
