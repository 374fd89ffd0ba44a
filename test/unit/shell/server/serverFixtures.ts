import { TextDocument } from 'vscode-languageserver-textdocument';
import type { Position, TextEdit } from 'vscode-languageserver';
import type { BuildFacts, ModelFacts } from '../../../../src/kernel/rules/buildFacts.ts';
import type { Choices } from '../../../../src/kernel/read/replay/readChoices.ts';
import type { ChoicesData, FactsParams } from '../../../../src/kernel/protocol/language.ts';
import { readFacts } from '../../../../src/kernel/server/facts.ts';
import { analyzeOverrides, type OverrideAnalysis } from '../../../../src/features/precision/server/overrideAnalysis.ts';
import { transformer } from '../../features/precision/overrideFixtures.ts';

export const uri = 'file:///work/model.trtprec';

export function factsFor(of: string, more: Partial<FactsParams> = {}): FactsParams {
  return {
    uri: of,
    modelUri: 'file:///work/model.onnx',
    modelProblem: '',
    model: transformer,
    build: null,
    target: null,
    choices: [],
    mismatches: [],
    recorded: null,
    ...more,
  };
}

export function choicesData({ source, offered, chosen, lines }: Choices): ChoicesData {
  return { source, offered: [...offered], chosen: [...chosen], ...(lines ? { lines: [...lines] } : {}) };
}

/** An override file with `|` at the cursor. */
export function overrides(
  marked: string,
  model: ModelFacts | null = transformer,
  build: BuildFacts | null = null,
  more: Partial<FactsParams> = {},
): { analysis: OverrideAnalysis; place: Position; text: string } {
  const at = marked.indexOf('|');
  const text = at < 0 ? marked : marked.slice(0, at) + marked.slice(at + 1);
  const document = TextDocument.create(uri, 'trtprec', 1, text);
  const facts = readFacts(factsFor(uri, { model, build, ...more }));
  return { analysis: analyzeOverrides(document, facts), place: document.positionAt(Math.max(at, 0)), text };
}

export function applied(text: string, edits: readonly TextEdit[] | undefined): string {
  return TextDocument.applyEdits(TextDocument.create('file:///x', 'x', 1, text), [...(edits ?? [])]);
}
