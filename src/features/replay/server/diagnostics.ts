import type { Diagnostic } from 'vscode-languageserver';
import { diagnosticAt, limitDiagnostics } from '../../../kernel/server/limitDiagnostics.ts';
import { spanRange } from '../../../kernel/server/places.ts';
import type { ReplayAnalysis } from './replayAnalysis.ts';

/**
 * The problems of a replay, at most 1,000 of them. Those of the JSON itself are left to the editor's own JSON support,
 * which takes comments in `jsonc`: Python does not.
 */
export function replayDiagnostics({ document, problems }: ReplayAnalysis): Diagnostic[] {
  const own = problems.filter(({ code }) => document.languageId !== 'json' || !code.startsWith('json-'));
  return limitDiagnostics(own, (problem) =>
    diagnosticAt(spanRange(document, problem), problem.severity, problem.code, problem.message),
  );
}
