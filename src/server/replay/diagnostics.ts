import type { Diagnostic } from 'vscode-languageserver';
import { spanRange } from '../places.ts';
import { diagnosticSource, mostDiagnostics, severityOf } from '../precision/diagnostics.ts';
import type { ReplayAnalysis } from './replayAnalysis.ts';

/** Problems of the JSON itself are left to the editor's own JSON support, which takes comments in `jsonc`: Python does not. */
export function replayDiagnostics({ document, problems }: ReplayAnalysis): Diagnostic[] {
  return problems
    .filter(({ code }) => document.languageId !== 'json' || !code.startsWith('json-'))
    .slice(0, mostDiagnostics)
    .map((problem) => ({
      range: spanRange(document, problem),
      severity: severityOf(problem.severity),
      code: problem.code,
      source: diagnosticSource,
      message: problem.message,
    }));
}
