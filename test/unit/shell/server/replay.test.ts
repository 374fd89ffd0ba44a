import { DiagnosticSeverity } from 'vscode-languageserver';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { describe, expect, test } from 'vitest';
import { readBuildLog } from '../../../../src/kernel/read/tensorrt/readBuildLog.ts';
import { choicesOfLog, readChoices } from '../../../../src/kernel/read/replay/readChoices.ts';
import { readMismatches, readReplay } from '../../../../src/kernel/read/replay/readReplay.ts';
import { type CommandArguments, type FactsParams, languageCommands } from '../../../../src/kernel/protocol/language.ts';
import { readFacts } from '../../../../src/kernel/server/facts.ts';
import { replayActions } from '../../../../src/features/replay/server/codeActions.ts';
import { replayLenses } from '../../../../src/features/replay/server/codeLens.ts';
import { replayCompletion } from '../../../../src/features/replay/server/completion.ts';
import { replayDiagnostics } from '../../../../src/features/replay/server/diagnostics.ts';
import { replayHover } from '../../../../src/features/replay/server/hover.ts';
import { replayInlayHints } from '../../../../src/features/replay/server/inlayHints.ts';
import { analyzeReplay, type ReplayAnalysis } from '../../../../src/features/replay/server/replayAnalysis.ts';
import { replayEntryInfos, replayNodesAt } from '../../../../src/shell/server/requests.ts';
import { captureText } from '../../../support/fixtures.ts';
import { captured } from '../../features/precision/overrideFixtures.ts';
import { applied, choicesData, factsFor } from './serverFixtures.ts';

const uri = 'file:///work/replay.json';
const whole = { start: { line: 0, character: 0 }, end: { line: 1000, character: 0 } };
const capture = 'tensorrt-10.6.0/vit_tiny';

function text(name: string): string {
  const found = captureText(name);
  if (found === undefined) throw new Error(`The capture ${name} is missing`);
  return found;
}

async function replay(file: 'replay' | 'edited', more: Partial<FactsParams> = {}): Promise<ReplayAnalysis> {
  const { index, build } = await captured(`${capture}.fp16`);
  const choices = [choicesData(readChoices(text(`${capture}.algolog/choices.jsonl`)).value!)];
  const document = TextDocument.create(uri, 'json', 1, text(`${capture}.poly_replay/${file}.json`));
  const analysis = analyzeReplay(document, readFacts(factsFor(uri, { model: index.facts, build, choices, ...more })));
  if (!analysis) throw new Error('no replay');
  return analysis;
}

describe('replay files', () => {
  test('other JSON is none of ours', () => {
    const facts = readFacts(factsFor(uri));
    expect(analyzeReplay(TextDocument.create(uri, 'json', 1, '{"name": "x"}'), facts)).toBeNull();
    expect(analyzeReplay(TextDocument.create(uri, 'json', 1, ''), facts)).toBeNull();
  });

  test('comments and commas that the editor takes in jsonc are errors: Python takes none', () => {
    const source = text(`${capture}.poly_replay/replay.json`).replace('"inputs"', '// HALF before\n"inputs"');
    const codes = (language: string) =>
      replayDiagnostics(analyzeReplay(TextDocument.create(uri, language, 1, source), readFacts(factsFor(uri)))!).map(
        ({ code, severity, range }) => `${code} ${severity} ${range.start.line}`,
      );
    expect(codes('json')).toEqual(['layer-not-found 2 2', 'foreign-entry 3 36']);
    expect(codes('jsonc')).toEqual(['layer-not-found 2 2', 'json-comment 1 5', 'foreign-entry 3 36']);
  });

  test('of thousands of problems the gravest 1,000 are shown, and how many more there are', () => {
    const entries = Array.from({ length: 2000 }, (_, i) => {
      const body = '"implementation": 1, "tactic": 1, "inputs": [], "outputs": [], "polygraphy_class": "Algorithm"';
      return `"{ForeignNode[a...b${i}]}": {${body}}`;
    });
    const source = `{"replay": {${entries.join(', ')}, "last": 7}, "polygraphy_class": "TacticReplayData"}`;
    const analysis = analyzeReplay(TextDocument.create(uri, 'json', 1, source), readFacts(factsFor(uri)))!;
    const infos = analysis.problems.filter(({ severity }) => severity === 'info');
    expect(infos.length).toBeGreaterThan(1999);
    const errors = analysis.problems.filter(({ severity }) => severity === 'error');
    expect(errors.map(({ layer }) => layer)).toEqual(['last']);
    const shown = replayDiagnostics(analysis);
    expect(shown).toHaveLength(1000);
    const rest = (analysis.problems.length - 999).toLocaleString('en-US');
    expect(shown[0]?.message).toBe(`${rest} more problems are hidden. They appear as these are fixed.`);
    expect(shown.at(-1)).toMatchObject({ message: errors[0]?.message, severity: DiagnosticSeverity.Error });
  });

  test('the article’s edit is an error, and the preferred fix makes the whole entry one that was offered', async () => {
    const analysis = await replay('edited');
    const diagnostics = replayDiagnostics(analysis);
    expect(diagnostics.map(({ code, range }) => [code, range.start.line])).toEqual([
      ['not-offered', 2],
      ['foreign-entry', 35],
      ['not-offered', 35],
    ]);
    const source = analysis.document.getText();
    const fix = replayActions(analysis, diagnostics[0]!.range, diagnostics).find(({ isPreferred }) => isPreferred);
    expect(fix).toMatchObject({ kind: 'quickfix', diagnostics: [diagnostics[0]] });
    const fixed = applied(source, fix?.edit?.changes?.[uri]);
    const after = analyzeReplay(TextDocument.create(uri, 'json', 2, fixed), analysis.facts)!;
    expect(replayDiagnostics(after).map(({ code, range }) => [code, range.start.line])).toEqual([
      ['foreign-entry', 35],
      ['not-offered', 35],
    ]);
    expect(readReplay(fixed).value?.entries[0]?.algorithm.inputs[0]?.dtype).toBe('FLOAT');
  });

  test('while the JSON is broken, only that is an error', async () => {
    const { document, facts } = await replay('edited');
    const shown = (language: string, text: string) =>
      replayDiagnostics(analyzeReplay(TextDocument.create(uri, language, 2, text), facts)!);
    const broken = document.getText().replace('"implementation":', '"implementation" ');
    expect(shown('json', broken)).toEqual([]);
    expect(shown('jsonc', broken).every(({ code }) => String(code).startsWith('json-'))).toBe(true);
    expect(shown('jsonc', broken)).not.toEqual([]);
    // A comment is read past.
    const codes = shown('json', `${document.getText()}\n// end`).map(({ code }) => code);
    expect(codes).toEqual(['not-offered', 'foreign-entry', 'not-offered']);
  });

  test('completion at a data type changes the whole entry together', async () => {
    const analysis = await replay('edited');
    const { document } = analysis;
    const source = document.getText();
    const place = document.positionAt(source.indexOf('DataType.FLOAT') + 3);
    const { items } = replayCompletion(analysis, place);
    expect(items.length).toBeGreaterThan(5);
    expect(items[0]?.label).toMatch(/^FP32 → FP32, CaskConvolution \(0x80000009\), tactic 0x[0-9a-f]{16}, \d+\.\d µs$/);
    for (const item of items.slice(0, 10)) {
      const main = item.textEdit!;
      if (!('range' in main)) throw new Error('no range');
      expect(main.range.start.line).toBe(place.line);
      const after = applied(source, [main, ...(item.additionalTextEdits ?? [])]);
      const codes = replayDiagnostics(analyzeReplay(TextDocument.create(uri, 'json', 2, after), analysis.facts)!).map(
        ({ code, range }) => `${code} ${range.start.line}`,
      );
      expect(codes).not.toContain('not-offered 2');
    }
    expect(replayCompletion(analysis, document.positionAt(source.indexOf('"inputs"') + 1)).items).toEqual([]);
  });

  test('a layer can be freed, and pinned as it was chosen', async () => {
    const analysis = await replay('replay');
    const source = analysis.document.getText();
    const actions = replayActions(
      analysis,
      { start: { line: 36, character: 20 }, end: { line: 36, character: 20 } },
      [],
    );
    const free = actions.find(({ title }) => title.startsWith('Let TensorRT choose'));
    const without = applied(source, free?.edit?.changes?.[uri]);
    expect(readReplay(without).value?.entries).toHaveLength(1);
    const document = TextDocument.create(uri, 'json', 2, without);
    const freed = analyzeReplay(document, analysis.facts)!;
    const end = document.positionAt(readReplay(without).value!.entries[0]!.span.end + 1);
    const [pin] = replayCompletion(freed, end).items;
    expect(pin?.label).toMatch(/^Pin \{ForeignNode\[/);
    expect(applied(without, pin?.additionalTextEdits)).toBe(source);
  });

  test('hover: the choice in words, the nodes, what was offered', async () => {
    const analysis = await replay('replay');
    const { document } = analysis;
    const value = (offset: number) => {
      const contents = replayHover(analysis, document.positionAt(offset))?.contents;
      return contents && typeof contents === 'object' && 'value' in contents ? contents.value : null;
    };
    const source = document.getText();
    const conv = value(source.indexOf('/patch_embed') + 2);
    expect(conv).toContain('Input 0: FP16, vectors of 4 along dimension 1, channels last');
    expect(conv).toContain('**1 node** (named by TensorRT)');
    expect(conv).toContain('TensorRT offered 168 choices; this is one of them, 17.7 µs');
    const foreign = value(source.indexOf('{ForeignNode') + 2);
    expect(foreign).toMatch(/\*\*\d{3} nodes\*\*/);
    expect(value(source.indexOf('1236070762725864170'))).toBe(conv);
    expect(value(0)).toBeNull();
  });

  test('hints, lenses, entries and nodes for the host', async () => {
    const mismatches = readMismatches(text(`${capture}.poly_replay/log2.txt`));
    const analysis = await replay('replay', { mismatches });
    const hints = replayInlayHints(analysis, whole).map(({ label }) => label);
    expect(hints[0]).toMatch(/^1 node · \d+\.\d µs$/);
    expect(hints[1]).toMatch(/^ForeignNode 0 · \d{3} nodes(?: \(derived\))? · 0\.\d+ ms$/);
    expect(replayLenses(analysis).map(({ command }) => command?.command)).toEqual([
      languageCommands.buildWithReplay,
      languageCommands.showNodes,
      languageCommands.openLogLine,
      languageCommands.showNodes,
    ]);
    const log = text(`${capture}.fp16/log.txt`);
    const timed = await replay('replay', { choices: [choicesData(choicesOfLog(readBuildLog(log).value))] });
    const places = replayLenses(timed).flatMap(({ command }) =>
      command?.command === languageCommands.openLogLine ? (command.arguments as CommandArguments[]) : [],
    );
    expect(places.map(({ passed }) => passed)).toEqual([true, true]);
    const lines = log.split('\n');
    expect(places.map(({ line }) => lines[line! - 1]?.replace(/.*=== /, ''))).toEqual(
      timed.hints.map(({ entry }) => `Computing costs for ${entry.layer}`),
    );
    const [conv, foreign] = replayEntryInfos(analysis);
    expect(conv).toMatchObject({
      kind: 'single',
      range: { startLine: 2, startCharacter: 8 },
    });
    expect(foreign?.kind).toBe('foreign');
    expect(replayNodesAt(analysis, { uri, line: foreign!.range.startLine, character: 20 }).length).toBeGreaterThan(200);
    const [node, ...others] = replayNodesAt(analysis, { uri, line: 10, character: 4 });
    expect(analysis.facts.index!.nodes.find(({ id }) => id === node)?.name).toBe('/patch_embed/proj/Conv');
    expect(others).toEqual([]);
    expect(replayNodesAt(analysis, { uri, line: 0, character: 0 })).toEqual([]);
  });
});
