import { type CodeAction, CodeActionKind, type Diagnostic, type Range } from 'vscode-languageserver';
import { alternatives, bestOfEachType, offerFor, titlesOf } from '../../../kernel/read/replay/readChoices.ts';
import { removeEntry, replaceAlgorithm } from '../editReplay.ts';
import type { SpanEdit } from '../../../kernel/read/replay/replayFile.ts';
import { overlaps, spanEdit, spanRange } from '../../../kernel/server/places.ts';
import { entryAt, type ReplayAnalysis } from './replayAnalysis.ts';

/** Fixes for the problems in a range, other choices for the entry there, and removing the entry. */
export function replayActions(
  analysis: ReplayAnalysis,
  range: Range,
  diagnostics: readonly Diagnostic[],
): CodeAction[] {
  const { document, problems, read, facts } = analysis;
  const actions: CodeAction[] = [];
  const edit = (edits: readonly SpanEdit[]) => ({
    changes: { [document.uri]: edits.map((one) => spanEdit(document, one)) },
  });
  for (const problem of problems) {
    const own = spanRange(document, problem);
    if (!overlaps(own, range)) continue;
    const shown = diagnostics.find(
      ({ code, range: other }) => code === problem.code && other.start.line === own.start.line,
    );
    for (const fix of problem.fixes) {
      const action: CodeAction = { title: fix.title, kind: CodeActionKind.QuickFix, edit: edit(fix.edits) };
      if (fix.preferred) action.isPreferred = true;
      if (shown) action.diagnostics = [shown];
      actions.push(action);
    }
  }
  const entry = entryAt(analysis, range.start);
  if (!entry || !read.value) return actions;
  const offer = offerFor(entry.layer, facts.choices);
  const choices = offer ? bestOfEachType(alternatives(entry, offer)) : [];
  const titles = titlesOf(choices);
  const fixed = new Set(actions.map((action) => JSON.stringify(action.edit)));
  for (const [i, choice] of choices.entries()) {
    const edits = replaceAlgorithm(document.getText(), read.value, entry, choice.algorithm);
    const title = `Change the whole entry to ${titles[i]}`;
    if (edits && !fixed.has(JSON.stringify(edit(edits))))
      actions.push({ title, kind: CodeActionKind.RefactorRewrite, edit: edit(edits) });
  }
  actions.push({
    title: 'Let TensorRT choose for this layer (remove the entry)',
    kind: CodeActionKind.RefactorRewrite,
    edit: edit(removeEntry(document.getText(), read.value, entry)),
  });
  return actions;
}
