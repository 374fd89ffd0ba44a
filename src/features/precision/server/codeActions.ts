import { command } from '../../../kernel/server/lensCommand.ts';
import { type CodeAction, CodeActionKind, type Diagnostic, type Range } from 'vscode-languageserver';
import { closestWords } from '../../../kernel/base/text.ts';
import { writeName, writePath } from '../../../kernel/rules/overrideFile.ts';
import { languageCommands } from '../../../kernel/protocol/language.ts';
import { overlaps, toEdit, toRange } from '../../../kernel/server/places.ts';
import { nodesAt, type OverrideAnalysis, ruleAt } from './overrideAnalysis.ts';

/** Longest list of names that a pattern is replaced with. */
const mostNames = 50;

/** Fixes for the problems in a range, and alternative spellings of the selector there. */
export function overrideActions(
  analysis: OverrideAnalysis,
  range: Range,
  diagnostics: readonly Diagnostic[],
): CodeAction[] {
  const { check, document } = analysis;
  const actions: CodeAction[] = [];
  for (const problem of check.problems) {
    const own = toRange(problem);
    if (!overlaps(own, range)) continue;
    const shown = diagnostics.find(
      ({ code, range: other }) =>
        code === problem.code && other.start.line === own.start.line && other.start.character === own.start.character,
    );
    for (const fix of problem.fixes) {
      const action: CodeAction = {
        title: fix.title,
        kind: CodeActionKind.QuickFix,
        edit: { changes: { [document.uri]: fix.edits.map(toEdit) } },
      };
      if (fix.preferred) action.isPreferred = true;
      if (shown) action.diagnostics = [shown];
      actions.push(action);
    }
    const action = commandFor(problem.code, document.uri);
    if (action) actions.push(shown ? { ...action, diagnostics: [shown] } : action);
  }
  const missing = diagnostics.find(({ code }) => code === 'model-missing');
  if (missing && overlaps(missing.range, range)) actions.push(...modelActions(analysis, missing));
  const rewrite = rewriteAction(analysis, range);
  if (rewrite) actions.push(rewrite);
  return withoutRepeats(actions);
}

/** Models near the file, for a line that names none that exists, or for the first line if none does. */
function modelActions({ document, facts, file }: OverrideAnalysis, diagnostic: Diagnostic): CodeAction[] {
  const named = file.model?.usable ? (file.model.value ?? '') : null;
  const near = named === null ? [] : closestWords(named, facts.models, 3);
  const start = { line: 0, character: 0 };
  return [...new Set([...near, ...facts.models])].slice(0, 5).map((path): CodeAction => {
    const edit =
      file.model && named !== null
        ? { range: toRange(file.model.valueRange), newText: writePath(path) }
        : { range: { start, end: start }, newText: `model  ${writePath(path)}\n` };
    return {
      title: named === null ? `Set the model to ${path}` : `Change to ${path}`,
      kind: CodeActionKind.QuickFix,
      diagnostics: [diagnostic],
      edit: { changes: { [document.uri]: [edit] } },
    };
  });
}

const reachable = new Set([
  'inside-foreign-node',
  'no-layer-flags',
  'layer-unregistered',
  'trtexec-cannot-carry',
  'argument-too-long',
]);
const built = new Set(['flag-missing', 'group-needs-build']);

/** What helps where no edit of the text does: Casts in the model, or a build. */
function commandFor(code: string, uri: string): CodeAction | null {
  if (reachable.has(code)) {
    const title = 'Apply these rules to the model (Casts also work inside ForeignNodes)';
    return {
      title,
      kind: CodeActionKind.QuickFix,
      command: command(title, languageCommands.applyOverrides, { uri }),
    };
  }
  if (!built.has(code)) return null;
  const title = 'Build with these overrides';
  return {
    title,
    kind: CodeActionKind.QuickFix,
    command: command(title, languageCommands.buildWithOverrides, { uri }),
  };
}

/** A pattern, an operator type or a ForeignNode as names. */
function rewriteAction(analysis: OverrideAnalysis, range: Range): CodeAction | null {
  const place = ruleAt(analysis, range.start);
  const { index } = analysis.facts;
  const { selector } = place ?? {};
  if (!place || !selector || selector.negated || !index || selector.kind === 'name') return null;
  const nodes = nodesAt(analysis, place);
  const names = [...new Set(Array.from(nodes, (i) => index.names[i] ?? ''))];
  if (names.length === 0 || names.length > mostNames) return null;
  const edit = { range: toRange(selector.range), newText: names.map(writeName).join(', ') };
  return {
    title:
      names.length === 1 ? 'Replace the pattern with the name' : `Replace the pattern with the ${names.length} names`,
    kind: CodeActionKind.RefactorRewrite,
    edit: { changes: { [analysis.document.uri]: [edit] } },
  };
}

/** One fix may belong to several problems. */
function withoutRepeats(actions: readonly CodeAction[]): CodeAction[] {
  const seen = new Map<string, CodeAction>();
  for (const action of actions) {
    const key = JSON.stringify([action.title, action.edit]);
    const known = seen.get(key);
    if (!known) seen.set(key, action);
    else if (action.diagnostics) known.diagnostics = [...(known.diagnostics ?? []), ...action.diagnostics];
  }
  return [...seen.values()];
}
