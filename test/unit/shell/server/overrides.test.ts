import { CompletionItemKind, DiagnosticSeverity, DiagnosticTag } from 'vscode-languageserver';
import type { Hover } from 'vscode-languageserver';
import { describe, expect, test } from 'vitest';
import { languageCommands } from '../../../../src/kernel/protocol/language.ts';
import { code, escapeHover } from '../../../../src/kernel/server/markdown.ts';
import { overrideActions } from '../../../../src/features/precision/server/codeActions.ts';
import { overrideLenses, resolveOverrideLens } from '../../../../src/features/precision/server/codeLens.ts';
import { overrideCompletion } from '../../../../src/features/precision/server/completion.ts';
import { overrideDefinition } from '../../../../src/features/precision/server/definition.ts';
import { overrideDiagnostics } from '../../../../src/features/precision/server/diagnostics.ts';
import { formatEdits } from '../../../../src/features/precision/server/formatting.ts';
import { overrideHover } from '../../../../src/features/precision/server/hover.ts';
import { overrideInlayHints } from '../../../../src/features/precision/server/inlayHints.ts';
import {
  overrideHighlights,
  overrideRename,
  prepareOverrideRename,
} from '../../../../src/features/precision/server/rename.ts';
import { overrideFolding, overrideSymbols } from '../../../../src/features/precision/server/symbols.ts';
import { keepInfo, overrideNodesAt, verdictInfos } from '../../../../src/shell/server/requests.ts';
import { captured, smallModel } from '../../features/precision/overrideFixtures.ts';
import { applied, overrides, uri } from './serverFixtures.ts';

const whole = { start: { line: 0, character: 0 }, end: { line: 1000, character: 0 } };
const hoverText = (hover: Hover | null) =>
  hover && 'value' in (hover.contents as object) ? (hover.contents as { value: string }).value : null;
const labels = (marked: string) => overrideCompletion(...pair(marked)).items.map(({ label }) => label);

function pair(marked: string) {
  const { analysis, place } = overrides(marked);
  return [analysis, place] as const;
}

/** The text after picking an item. */
function picked(marked: string, label: string): string {
  const { analysis, place, text } = overrides(marked);
  const item = overrideCompletion(analysis, place).items.find((one) => one.label === label);
  if (!item?.textEdit || !('range' in item.textEdit)) throw new Error(`${label} is not offered`);
  return applied(text, [item.textEdit]);
}

describe('diagnostics', () => {
  test('of thousands of problems the gravest 1,000 are shown, and how many more there are', () => {
    const text = [...Array.from({ length: 2000 }, (_, i) => `/no/such/node_${i} fp32`), 'twin fp3x'].join('\n');
    const shown = overrideDiagnostics(overrides(text).analysis);
    expect(shown).toHaveLength(1000);
    expect(shown[0]?.message).toBe('1,003 more problems are hidden. They appear as these are fixed.');
    expect(shown.at(-1)).toMatchObject({ code: 'unknown-type', severity: DiagnosticSeverity.Error });
  });

  test('ranges, severities, tags and related places', () => {
    const { analysis } = overrides('/layers.1/attn/Softmax fp16\nop:Softmax fp32\n\nop:Nothing fp3x');
    const [shadowed, unmatched, type] = overrideDiagnostics(analysis);
    expect(shadowed).toMatchObject({
      code: 'shadowed',
      severity: DiagnosticSeverity.Warning,
      tags: [DiagnosticTag.Unnecessary],
      range: { start: { line: 0, character: 0 }, end: { line: 0, character: 27 } },
      relatedInformation: [{ location: { uri, range: { start: { line: 1 } } } }],
    });
    expect(unmatched).toMatchObject({
      code: 'matches-nothing',
      range: { start: { line: 3, character: 0 }, end: { line: 3, character: 10 } },
    });
    expect(type).toMatchObject({ code: 'unknown-type', severity: DiagnosticSeverity.Error, source: 'TensorRT' });
  });

  test('a missing model is said once, at the line that names it', () => {
    const missing = { modelProblem: 'There is no file gone.onnx.' };
    const named = overrideDiagnostics(overrides('model gone.onnx\na fp32', null, null, missing).analysis);
    expect(named).toMatchObject([
      { code: 'model-missing', severity: DiagnosticSeverity.Error, range: { start: { line: 0, character: 6 } } },
    ]);
    const unnamed = overrideDiagnostics(overrides('a fp32', null, null, missing).analysis);
    expect(unnamed).toMatchObject([{ code: 'model-missing', severity: DiagnosticSeverity.Information }]);
    expect(overrideDiagnostics(overrides('', null, null, missing).analysis)).toEqual([]);
  });
});

describe('quick fixes', () => {
  test.each([
    ['/layers.1/atn/Softmax fp32', '/layers.1/attn/Softmax fp32'],
    ['op:Softmax fp322', 'op:Softmax fp32'],
    ['A + B fp32', '"A + B" fp32'],
    ['op: Softmax fp32', 'op:Softmax fp32'],
    ['/pool/*, not: op:MaxPool fp32', '/pool/*, not:op:MaxPool fp32'],
    ['Op:Softmax fp32', 'op:Softmax fp32'],
    ['op:Softmax fp', 'op:Softmax fp32'],
    ['mdoel ./net.onnx', 'model ./net.onnx'],
    ['base: fp16', 'base fp16'],
    ['requre obey', 'require obey'],
    ['op:Softmax->fp16', 'op:Softmax fp32 ->fp16'],
    ['op:Softmax -> fp16', 'op:Softmax fp32 -> fp16'],
  ])('%s', (text, expected) => {
    const { analysis } = overrides(text);
    const diagnostics = overrideDiagnostics(analysis);
    const action = overrideActions(analysis, whole, diagnostics).find(({ isPreferred }) => isPreferred);
    expect(action).toMatchObject({ kind: 'quickfix', diagnostics: expect.arrayContaining([diagnostics[0]]) });
    expect(applied(text, action?.edit?.changes?.[uri])).toBe(expected);
  });

  test('one way out of two problems belongs to both', () => {
    const target = { product: 'tensorrt' as const, version: '8.6.1', gpu: null };
    const { analysis } = overrides('/pool/MaxPool bf16', undefined, null, { target });
    const diagnostics = overrideDiagnostics(analysis);
    expect(diagnostics.map((one) => one.code)).toEqual(['type-unsupported-version', 'type-unsupported-op']);
    const fixes = overrideActions(analysis, whole, diagnostics).filter(({ title }) => title === 'Change to fp16');
    expect(fixes.map((fix) => fix.diagnostics)).toEqual([diagnostics]);
  });

  test('a model that is not there, or not named: those near the file', () => {
    const more = { modelProblem: 'There is no file.', models: ['./vit.onnx', './bert_base.onnx', '../old #2.onnx'] };
    const fixed = (text: string) => {
      const { analysis } = overrides(text, null, null, more);
      const actions = overrideActions(analysis, whole, overrideDiagnostics(analysis));
      return actions.map(({ edit }) => applied(text, edit?.changes?.[uri]));
    };
    expect(fixed('model ./bert_bse.onnx # c\na fp32')[0]).toBe('model ./bert_base.onnx # c\na fp32');
    expect(fixed('a fp32')).toEqual([
      'model  ./vit.onnx\na fp32',
      'model  ./bert_base.onnx\na fp32',
      'model  "../old #2.onnx"\na fp32',
    ]);
  });

  test('only what is in the range; a pattern as names', () => {
    const text = '/x fp32\n/layers.1/attn/* fp32';
    const { analysis } = overrides(text);
    const line = { start: { line: 1, character: 3 }, end: { line: 1, character: 3 } };
    const actions = overrideActions(analysis, line, []);
    expect(actions.map(({ kind }) => kind)).toEqual(['refactor.rewrite']);
    expect(applied(text, actions[0]?.edit?.changes?.[uri])).toBe(
      '/x fp32\n/layers.1/attn/MatMul, /layers.1/attn/Softmax fp32',
    );
  });

  test('inside a ForeignNode: apply the rules to the model', async () => {
    const { index, build } = await captured('tensorrt-10.6.0/vit_tiny.fp16');
    const { analysis } = overrides('op:Softmax fp32', index.facts, build);
    const diagnostics = overrideDiagnostics(analysis);
    expect(diagnostics.map((one) => one.code)).toEqual(['inside-foreign-node']);
    const [action] = overrideActions(analysis, whole, diagnostics);
    expect(action?.command).toMatchObject({ command: languageCommands.applyOverrides, arguments: [{ uri }] });
  });

  test('what a build tells or changes is one click away', async () => {
    const group = overrides('group:{ForeignNode[a fp32').analysis;
    const asked = overrideActions(group, whole, overrideDiagnostics(group));
    expect(asked[0]?.command?.command).toBe(languageCommands.buildWithOverrides);
    const { index, build } = await captured('tensorrt-10.6.0/vit_tiny.prec_noconstraint');
    const idle = overrides('/patch_embed/proj/Conv fp32', index.facts, build).analysis;
    const [action] = overrideActions(idle, whole, overrideDiagnostics(idle));
    expect(action).toMatchObject({
      command: { command: languageCommands.buildWithOverrides },
      diagnostics: [{ code: 'flag-missing' }],
    });
  });
});

describe('hover', () => {
  test('a node, its type, what is asked', () => {
    const { analysis, place } = overrides('/layers.1/attn/Soft|max fp32\n');
    const text = hoverText(overrideHover(analysis, place));
    expect(text).toContain('**`Softmax`** `/layers.1/attn/Softmax`');
    expect(text).toContain('Outputs float.');
    expect(text).toContain('Requested: fp32 (line 1).');
    expect(text).toContain('This model has no build yet.');
  });

  test('several nodes, types and directives; nothing elsewhere', () => {
    expect(hoverText(overrideHover(...pair('op:Soft|max fp32')))).toContain('**3 nodes**');
    expect(hoverText(overrideHover(...pair('/layers.1/** f|p32')))).toContain(
      'The rule selects 5 nodes and applies to 5; 2 of them do not accept a precision',
    );
    expect(hoverText(overrideHover(...pair('re|quire obey')))).toContain('fails the build');
    expect(overrideHover(...pair('a fp32  # com|ment'))).toBeNull();
    expect(overrideHover(...pair('|'))).toBeNull();
  });

  test('fate, ForeignNode, kernel, time and verdict of the last build', async () => {
    const { index, build } = await captured('tensorrt-10.6.0/vit_tiny.prec_obey');
    const { analysis, place } = overrides('/blocks/blocks.0/attn/Soft|max fp32', index.facts, build);
    const text = hoverText(overrideHover(analysis, place));
    expect(text).toContain('Last build: it was fused into a ForeignNode (Myelin).');
    expect(text).toContain('`_gemm_mha_v2_myl3_3` with 3 other nodes');
    expect(text).toContain('This layer reads fp16, writes fp16.');
    expect(text).toMatch(/\d[\d.]+ µs/);
    expect(text).toContain('Last build: unverifiable.');
    const several = overrides('/blocks/blocks.0/attn/Soft|max fp32', index.facts, {
      ...build,
      optimizationProfile: { shown: 1, of: 2 },
    });
    expect(hoverText(overrideHover(several.analysis, several.place))).toContain(
      'Last build, optimization profile 1 (the engine has 2): unverifiable.',
    );
    const [verdict] = verdictInfos(several.analysis);
    expect(verdict!.profile).toBe('optimization profile 1 (the engine has 2)');
    expect(verdict!.message).toContain(`those of ${verdict!.profile}.`);
    expect(verdictInfos(analysis)[0]!.profile).toBeUndefined();
  });

  test('what a node got is said also where no rule decides for it', async () => {
    const { index, build } = await captured('tensorrt-10.6.0/vit_tiny.fp16');
    const { analysis, place } = overrides('/patch_embed/proj/Con|v fp3', index.facts, build);
    const text = hoverText(overrideHover(analysis, place));
    expect(text).toContain('It reads fp16, writes fp16.');
    expect(text).toContain('No rule applies to it.');
    const one = overrides('/patch_embed/proj/Conv f|p32', index.facts, build);
    expect(hoverText(overrideHover(one.analysis, one.place))).toContain('selects 1 node and applies to 1');
  });

  test('names cannot break out of Markdown', () => {
    expect(code('a`b``c')).toBe('```a`b``c```');
    expect(code('`')).toBe('`` ` ``');
    expect(code('a\nb')).toBe('`a␣b`');
    expect(escapeHover('[x](command:y) <b>')).toBe('\\[x\\]\\(command:y\\) \\<b\\>');
  });
});

describe('completion', () => {
  test('at the start of a line: directives, operators, modules, names', () => {
    const found = labels('|');
    expect(found).toContain('model');
    expect(found).toContain('op:Softmax');
    expect(found).toContain('/layers.1/**');
    expect(found).toContain('/layers.1/attn/Softmax');
    expect(labels('base fp16\n|')).not.toContain('base');
  });

  test('modules first, then operators and the nodes that compute; shapes and constants last', () => {
    const { analysis, place } = overrides('|');
    const sorted = overrideCompletion(analysis, place)
      .items.toSorted((a, b) => ((a.sortText ?? '') < (b.sortText ?? '') ? -1 : 1))
      .map(({ label }) => label);
    const inOrder = ['/layers.1/**', 'op:Softmax', '/layers.1/attn/Softmax', '/layers.1/Constant'];
    expect(sorted.filter((label) => inOrder.includes(label))).toEqual(inOrder);
  });

  test('operators, levels of modules, types, directive values', () => {
    expect(labels('op:|')).toEqual(expect.arrayContaining(['Softmax', 'LayerNormalization']));
    expect(labels('/layers.1/|')).toEqual(
      expect.arrayContaining(['/layers.1/attn/**', '/layers.1/norm1/**', '/layers.1/attn/MatMul']),
    );
    expect(labels('/layers.1/|')).not.toContain('/layers.2/attn/**');
    // FP8 and INT4 need Q/DQ nodes: no rule can ask for them.
    expect(labels('a |')).toEqual(['fp32', 'fp16', 'bf16', 'int8']);
    expect(labels('a fp32 |')).toEqual(['->']);
    expect(labels('a fp32 -> fp16 |')).toEqual([]);
    expect(labels('A + B |')).toContain('fp32');
    expect(labels('a fp32 -> |')).toContain('fp16');
    expect(labels('base |')).toEqual(['keep', 'fp16', 'bf16']);
    expect(labels('require o|')).toEqual(['obey', 'prefer']);
    expect(labels('a fp32 # |')).toEqual([]);
    expect(labels('a, |')).toContain('op:Softmax');
    expect(labels('o|p:Softmax')).toEqual([]);
    expect(labels('a, no|t:op:Softmax')).toEqual([]);
  });

  test('what the version knows; nothing to take away from at the start', () => {
    const at = (version: string) => {
      const target = { product: 'tensorrt' as const, version, gpu: null };
      const { analysis, place } = overrides('a |', undefined, null, { target });
      return overrideCompletion(analysis, place).items.map(({ label }) => label);
    };
    expect(at('8.6.1')).toEqual(['fp32', 'fp16', 'int8']);
    expect(at('11.2.1')).toEqual(['fp32', 'fp16', 'bf16']);
    expect(labels('no|')).not.toContain('not:');
    expect(labels('a, |')).toContain('not:');
  });

  test('inside double quotes: names, and what follows stays', () => {
    expect(labels('"/layers.1/|"').toSorted()).toEqual([
      '/layers.1/Constant',
      '/layers.1/Shape',
      '/layers.1/attn/MatMul',
      '/layers.1/attn/Softmax',
      '/layers.1/norm1/LayerNormalization',
    ]);
    expect(picked('"/layers.1/at|" fp32', '/layers.1/attn/Softmax')).toBe('"/layers.1/attn/Softmax" fp32');
    expect(picked('"/layers.1/at| fp32', '/layers.1/attn/Softmax')).toBe('"/layers.1/attn/Softmax" fp32');
    expect(picked('op:"So|" fp32', 'Softmax')).toBe('op:"Softmax" fp32');
  });

  test('names with line breaks and quotes', () => {
    const odd = 'a\nb "c" \u2028';
    const written = String.raw`"a\nb \"c\" \u2028"`;
    for (const [marked, expected] of [
      ['a|', written],
      ['"a|"', written],
    ] as const) {
      const { analysis, place, text } = overrides(marked, smallModel({ name: odd, op: 'Add' }));
      const item = overrideCompletion(analysis, place).items.find(({ kind }) => kind === CompletionItemKind.Value);
      expect(item?.label).toBe(written);
      expect(applied(text, item?.textEdit && 'range' in item.textEdit ? [item.textEdit] : [])).toBe(expected);
      const after = overrides(`${expected} fp32`, smallModel({ name: odd, op: 'Add' })).analysis;
      expect(after.check.rules[0]?.nodes).toBe(1);
    }
  });

  test('in patterns: the next segments of what matches; operators of other domains', () => {
    expect(labels('/layers.*/|')).toEqual([
      '/layers.*/attn/**',
      '/layers.*/norm1/**',
      '/layers.*/Constant',
      '/layers.*/Shape',
    ]);
    expect(labels('**/So|')).toContain('**/Softmax');
    expect(labels('/layers.*|')).not.toContain('/layers.1/**');
    expect(labels('op:|')).toEqual(expect.arrayContaining(['Gelu', 'com.microsoft::Gelu']));
    expect(labels('op:|').indexOf('Softmax')).toBeLessThan(labels('op:|').indexOf('Constant'));
  });

  test('models near the file', () => {
    const more = { models: ['./bert.onnx', './old #1/bert.onnx'] };
    const pick = (marked: string, label: string) => {
      const { analysis, place, text } = overrides(marked, null, null, more);
      const item = overrideCompletion(analysis, place).items.find((one) => one.label === label);
      return item?.textEdit && 'range' in item.textEdit ? applied(text, [item.textEdit]) : null;
    };
    expect(pick('model |', './bert.onnx')).toBe('model ./bert.onnx');
    expect(pick('model   ./b|ad name.onnx # c', './bert.onnx')).toBe('model   ./bert.onnx # c');
    expect(pick('model "./b|"', './bert.onnx')).toBe('model "./bert.onnx"');
    expect(pick('model |', './old #1/bert.onnx')).toBe('model "./old #1/bert.onnx"');
  });

  test('what is picked replaces the word, quoted where it must be', () => {
    expect(picked('/layers.1/at|tn/x fp32', '/layers.1/attn/Softmax')).toBe('/layers.1/attn/Softmax fp32');
    expect(picked('op:Sof| fp32', 'Softmax')).toBe('op:Softmax fp32');
    expect(picked('中|', '中文层/卷积_1, a')).toBe('"中文层/卷积_1, a"');
    expect(picked('a f|', 'fp16')).toBe('a fp16');
    expect(picked('op:Softmax, not:/layers.1/at|', '/layers.1/attn/**')).toBe('op:Softmax, not:/layers.1/attn/**');
    expect(picked('mod|', 'model')).toBe('model ');
  });

  test('ForeignNodes of the last build', async () => {
    const { index, build } = await captured('tensorrt-10.6.0/vit_tiny.fp16');
    const { analysis, place } = overrides('group:|', index.facts, build);
    const [item] = overrideCompletion(analysis, place).items;
    expect(item?.label).toBe(build.foreignNodes[0]?.name);
    expect(item?.detail).toMatch(/^ForeignNode with \d+ nodes$/);
  });

  test('long lists are cut and asked for again', async () => {
    const { index } = await captured('tensorrt-10.6.0/vit_tiny.fp16');
    const { analysis, place } = overrides('/blocks/|', index.facts);
    const list = overrideCompletion(analysis, place);
    expect(list.isIncomplete).toBe(true);
    expect(list.items.length).toBeLessThan(450);
  });
});

describe('hints, lenses, symbols', () => {
  test('inlay hints', async () => {
    const { index, build } = await captured('tensorrt-10.6.0/vit_tiny.fp16');
    const { analysis } = overrides(
      'op:Softmax fp32\n/patch_embed/proj/Conv fp32 # x\n** fp16\nbroken',
      index.facts,
      build,
    );
    const hints = overrideInlayHints(analysis, whole);
    expect(hints.map(({ label }) => label)).toEqual([
      '12 nodes · 0 applied here · in ForeignNode 0',
      '1 node · 0 applied here',
      expect.stringMatching(/^636 nodes · \d+ in ForeignNode 0$/),
    ]);
    expect(hints[1]?.position).toEqual({ line: 1, character: 27 });
    expect(
      overrideInlayHints(analysis, { start: { line: 1, character: 0 }, end: { line: 1, character: 5 } }),
    ).toHaveLength(1);
  });

  test('code lenses: the file, then each rule, one with many nodes filled in when seen', async () => {
    const { index, build } = await captured('tensorrt-10.6.0/vit_tiny.fp16');
    const { analysis } = overrides('op:Softmax fp32\nop:Nothing fp32\n/blocks/** fp32', index.facts, build);
    const lenses = overrideLenses(analysis);
    expect(lenses.map(({ command }) => command?.command)).toEqual([
      languageCommands.buildWithOverrides,
      languageCommands.applyOverrides,
      languageCommands.verifyOverrides,
      languageCommands.showNodes,
      undefined,
    ]);
    expect(lenses[3]!.command?.title).toBe('Show 12 nodes in the graph');
    expect(lenses[3]!.command?.arguments).toMatchObject([{ uri, nodes: { length: 12 } }]);
    const { command } = resolveOverrideLens(analysis, lenses[4]!);
    expect(command?.title).toMatch(/^Show [1-9]\d\d nodes in the graph$/);
    expect(overrideLenses(overrides('# nothing').analysis)).toEqual([]);
  });

  test('the outline has sections by comments', () => {
    const { analysis } = overrides(
      'model m.onnx\n# attention\nop:Softmax fp32\nop:MatMul fp16\n\n# norms\nop:LayerNormalization fp32',
    );
    expect(
      overrideSymbols(analysis).map(({ name, children }) => [
        name,
        children?.map((child) => `${child.name} ${child.detail}`),
      ]),
    ).toEqual([
      ['model', undefined],
      ['attention', ['op:Softmax fp32', 'op:MatMul fp16']],
      ['norms', ['op:LayerNormalization fp32']],
    ]);
    expect(overrideFolding(analysis).map(({ startLine, endLine }) => [startLine, endLine])).toEqual([
      [1, 3],
      [5, 6],
    ]);
  });
});

test('regions are sections, too, and end where they say', () => {
  const { analysis } = overrides('#region attention\nop:Softmax fp32\n# endregion\nop:MatMul fp16\n');
  expect(overrideSymbols(analysis).map(({ name, children }) => [name, children?.length])).toEqual([
    ['attention', 1],
    ['op:MatMul', undefined],
  ]);
  expect(overrideFolding(analysis)).toMatchObject([{ startLine: 0, endLine: 2 }]);
});

describe('rename, definition, format', () => {
  test('rename changes every same selector, and quotes where it must', () => {
    const { analysis, place, text } = overrides(
      '/layers.1/attn/Soft|max, op:Softmax fp32\nop:MatMul, not:/layers.1/attn/Softmax fp16',
    );
    expect(prepareOverrideRename(analysis, place)).toEqual({
      range: { start: { line: 0, character: 0 }, end: { line: 0, character: 22 } },
      placeholder: '/layers.1/attn/Softmax',
    });
    expect(overrideHighlights(analysis, place)).toHaveLength(2);
    const edit = overrideRename(analysis, place, 'new name');
    expect(applied(text, edit?.changes?.[uri])).toBe('"new name", op:Softmax fp32\nop:MatMul, not:"new name" fp16');
    expect(overrideRename(analysis, place, '')).toBeNull();
    expect(prepareOverrideRename(...pair('op:Softmax fp|32'))).toBeNull();
    const glob = overrides('/a|/* fp32');
    expect(applied(glob.text, overrideRename(glob.analysis, glob.place, '/b/*')?.changes?.[uri])).toBe('/b/* fp32');
  });

  test.each([
    ['/a|/* fp32', '/b/x', '/b/x fp32'],
    ['/a|/* fp32', 'base', '"base" fp32'],
    ['/a|/* fp32', 'op:*', '"op:*" fp32'],
    ['op:m::Ge|lu fp32', 'Relu', 'op:m::Relu fp32'],
    ['op:m::Ge|lu fp32', 'ai.onnx::Gelu', 'op:ai.onnx::Gelu fp32'],
    ['op:Ge|lu fp32', 'm::Gelu', 'op:m::Gelu fp32'],
  ])('%s to %s', (marked, name, expected) => {
    const { analysis, place, text } = overrides(marked);
    expect(applied(text, overrideRename(analysis, place, name)?.changes?.[uri])).toBe(expected);
  });

  test('definition: nodes as lines of the model', () => {
    const links = overrideDefinition(...pair('op:Soft|max fp32'));
    expect(links.map(({ targetUri, targetRange }) => [targetUri, targetRange.start.line])).toEqual([
      ['file:///work/model.onnx', 2],
      ['file:///work/model.onnx', 5],
      ['file:///work/model.onnx', 7],
    ]);
  });

  test('formatting changes only lines that need it', () => {
    const { analysis, text } = overrides('a  fp32\nbcd   float16\n\n# x\n');
    const edits = formatEdits(analysis.document);
    expect(edits).toHaveLength(2);
    expect(applied(text, edits)).toBe('a    fp32\nbcd  fp16\n\n# x\n');
    expect(
      formatEdits(analysis.document, { start: { line: 1, character: 0 }, end: { line: 1, character: 1 } }),
    ).toHaveLength(1);
    // Two whole lines, up to the beginning of the third.
    const { document } = overrides('a  half\nb half\nc half').analysis;
    expect(formatEdits(document, { start: { line: 0, character: 0 }, end: { line: 2, character: 0 } })).toHaveLength(2);
  });
});

describe('requests of the host', () => {
  test('nodes at a place', () => {
    const { analysis, place } = overrides('op:Softmax, /layers.1/norm1/LayerNorm|alization fp32\nop:Softmax fp16');
    expect(overrideNodesAt(analysis, { uri, ...place })).toEqual(['3']);
    expect(overrideNodesAt(analysis, { uri, line: 1, character: 4 })).toEqual(['2', '5', '7']);
  });

  test('keep a selection: short selectors for exactly these nodes', async () => {
    const { analysis } = overrides('op:Softmax fp32');
    expect(keepInfo(analysis, { uri, nodes: ['2', '5', '7'], type: 'fp32' })).toEqual({ text: '', selectors: [] });
    expect(keepInfo(analysis, { uri, nodes: ['1', '2', '3'], type: 'fp32' }).selectors).toEqual([
      '/layers.1/attn/MatMul',
      '/layers.1/norm1/LayerNormalization',
    ]);
    expect(keepInfo(analysis, { uri, nodes: ['2', '5', '7'], type: 'bf16' }).text).toBe('\nop:Softmax  bf16\n');
    expect(keepInfo(analysis, { uri, nodes: ['15'], type: 'half' }).text).toBe('\n"中文层/卷积_1, a"  fp16\n');
    const { index, build } = await captured('tensorrt-10.6.0/vit_tiny.fp16');
    const big = overrides('', index.facts, build).analysis;
    const block = index.nodes.filter(({ name }) => name.startsWith('/blocks/blocks.3/')).map(({ id }) => id);
    expect(keepInfo(big, { uri, nodes: block, type: 'fp32' }).text).toBe('/blocks/blocks.3/**  fp32\n');
    // What is kept already may be inside a wider pattern; what the rules would change may not.
    const kept = overrides('/blocks/blocks.3/attn/** fp32\n', index.facts, build).analysis;
    expect(keepInfo(kept, { uri, nodes: block, type: 'fp32' }).selectors).toEqual(['/blocks/blocks.3/**']);
    const other = overrides('/blocks/blocks.3/attn/** fp32 -> fp16\n', index.facts, build).analysis;
    const { text } = keepInfo(other, { uri, nodes: block, type: 'fp32' });
    expect(text).not.toContain('/blocks/blocks.3/**');
    const again = overrides(`/blocks/blocks.3/attn/** fp32 -> fp16\n${text}`, index.facts, build).analysis;
    const { winner } = again.check.resolution!;
    const decided = new Set(index.nodes.flatMap(({ id }, i) => (winner[i]! >= 0 ? [id] : [])));
    const computing = index.nodes.filter(({ exempt }) => exempt === null).map(({ id }) => id);
    expect(computing.filter((id) => decided.has(id))).toEqual(computing.filter((id) => block.includes(id)));
    const everything = keepInfo(big, { uri, nodes: computing, type: 'fp32' });
    expect(everything.text).toBe('**  fp32\n');
    const mixed = index.nodes.filter(({ op }) => op === 'Softmax' || op === 'LayerNormalization').map(({ id }) => id);
    expect(keepInfo(big, { uri, nodes: mixed, type: 'fp32' }).selectors.toSorted()).toEqual([
      'op:LayerNormalization',
      'op:Softmax',
    ]);
  });

  test('verdicts', async () => {
    const { index, build } = await captured('tensorrt-10.6.0/vit_tiny.prec_obey');
    const { analysis } = overrides(
      '/blocks/blocks.0/norm1/LayerNormalization fp32\n/patch_embed/proj/Conv fp32',
      index.facts,
      build,
    );
    expect(verdictInfos(analysis).map(({ line, verdict }) => [line, verdict])).toEqual([
      [0, 'obeyed'],
      [1, 'unbuilt'],
    ]);
    expect(verdictInfos(overrides('op:Softmax fp32').analysis)).toEqual([]);
  });

  test('what a build has obeyed is no problem any more', async () => {
    const { index, build } = await captured('tensorrt-10.6.0/vit_tiny.prec_obey');
    const rules = '/blocks/blocks.0/norm1/LayerNormalization fp32';
    const codes = (of: typeof build) =>
      overrideDiagnostics(overrides(rules, index.facts, of).analysis).map(({ code }) => code);
    // The same node in a build without these rules: it may not take them.
    const plain = await captured('tensorrt-10.6.0/vit_tiny.fp16');
    expect(codes(plain.build)).toContain('inside-foreign-node');
    expect(codes(build)).toEqual([]);
    // A typed copy of the model was built, as the hint says.
    const rtx = { ...plain.build!, product: 'tensorrt-rtx', version: '1.7.1' } as NonNullable<typeof build>;
    expect(codes(rtx)).toContain('no-layer-flags');
    expect(codes({ ...rtx, declared: index.nodes.map(() => 'fp16' as const) })).not.toContain('no-layer-flags');
  });
});
