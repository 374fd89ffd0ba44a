import type { InlayHint, Range } from 'vscode-languageserver';
import { hintText } from './replayAnalysis.ts';
import type { ReplayAnalysis } from './replayAnalysis.ts';

/** After each layer's name: its nodes and its time. */
export function replayInlayHints(analysis: ReplayAnalysis, range: Range): InlayHint[] {
  const { document, hints } = analysis;
  const found: InlayHint[] = [];
  for (const hint of hints) {
    const position = document.positionAt(hint.entry.key.end);
    if (position.line < range.start.line || position.line > range.end.line) continue;
    const label = hintText(hint);
    if (label !== '') found.push({ position, label, paddingLeft: true });
  }
  return found;
}
