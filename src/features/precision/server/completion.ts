import {
  type CompletionItem,
  CompletionItemKind,
  type CompletionList,
  type Position,
  type Range,
} from 'vscode-languageserver';
import {
  directiveNames,
  isBareName,
  lexOverrideLine,
  type OverrideToken,
  precisionType,
  quoteName,
  type WordToken,
  writeName,
  writePath,
} from '../../../kernel/rules/overrideFile.ts';
import { hasLayerFlags, typeSince } from '../../../kernel/rules/buildFacts.ts';
import type { NodeIndex } from '../../../kernel/rules/resolveOverrides.ts';
import type { OverrideAnalysis } from './overrideAnalysis.ts';
import { counted } from '../../../kernel/base/text.ts';
import { isStandardDomain } from '../../../kernel/network/modelGraph.ts';

/** Longest list that is sent at once; the editor asks again while the user types. */
const most = 200;

const none: CompletionList = { isIncomplete: false, items: [] };

/** What can be at a place of an override file: directives, names, modules, operators, ForeignNodes or types. */
export function overrideCompletion(analysis: OverrideAnalysis, place: Position): CompletionList {
  const { document } = analysis;
  const text = document
    .getText({ start: { line: place.line, character: 0 }, end: { line: place.line + 1, character: 0 } })
    .replace(/[\r\n]+$/, '');
  const tokens = lexOverrideLine(text);
  if (tokens.some(({ kind, start }) => kind === 'comment' && start < place.character)) return none;
  const before = tokens.filter(({ start }) => start < place.character);
  const current = before.at(-1);
  const touching = current?.kind === 'word' && current.end >= place.character ? current : null;
  const settled = touching ? before.slice(0, -1) : before;
  const range = wordRange(place, touching);
  if (wantsValue(settled)) return directiveValues(analysis, settled[0], text, place);
  if (wantsType(settled)) return { isIncomplete: false, items: typeItems(analysis, settled, range) };
  return selectorItems(analysis, touching, place, settled.length === 0);
}

/** The word that the cursor touches, up to its end; an empty range at the cursor without one. */
function wordRange(place: Position, word: WordToken | null): Range {
  const at = (character: number) => ({ line: place.line, character });
  if (!word) return { start: place, end: place };
  // Without its closing quote a word goes on to the end of the line, which is to stay.
  const end = word.flaw === 'unclosed' ? place.character : Math.max(word.end, place.character);
  return { start: at(word.start), end: at(end) };
}

function isDirective(token: OverrideToken | undefined): token is WordToken {
  return token?.kind === 'word' && !token.quoted && token.prefix === null && directiveNames.includes(token.text);
}

function wantsValue(settled: OverrideToken[]): boolean {
  return settled.length === 1 && isDirective(settled[0]);
}

/** After selectors and a space, or after the arrow. */
function wantsType(settled: OverrideToken[]): boolean {
  if (settled.some(({ kind }) => kind === 'arrow')) return true;
  return settled.at(-1)?.kind === 'word';
}

function directiveValues(
  { facts }: OverrideAnalysis,
  directive: OverrideToken | undefined,
  text: string,
  place: Position,
): CompletionList {
  const start = directive ? directive.end + (/^\s*/.exec(text.slice(directive.end))?.[0].length ?? 0) : 0;
  const end = text.replace(/\s+(?:#.*)?$/, '').length;
  const range: Range = {
    start: { line: place.line, character: Math.min(start, place.character) },
    end: { line: place.line, character: Math.max(end, place.character) },
  };
  const values: Record<string, [string, string][]> = {
    base: [
      ['keep', 'other nodes keep the type of the model'],
      ['fp16', 'other nodes become FP16'],
      ['bf16', 'other nodes become BF16'],
    ],
    require: [
      ['obey', 'the build fails if a rule cannot be obeyed (TensorRT 10 and earlier)'],
      ['prefer', 'TensorRT may disobey a rule (TensorRT 10 and earlier)'],
    ],
  };
  if (directive?.kind === 'word' && directive.text === 'model') return modelPaths(facts.models, text, range);
  const words = directive?.kind === 'word' ? (values[directive.text] ?? []) : [];
  return {
    isIncomplete: false,
    items: words.map(([label, detail]) => ({
      label,
      detail,
      kind: CompletionItemKind.EnumMember,
      textEdit: { range, newText: label },
    })),
  };
}

/** Paths of models near the file, written so that a path with ` #` in it stays whole. */
function modelPaths(paths: readonly string[], text: string, range: Range): CompletionList {
  const quoted = text.charAt(range.start.character) === '"';
  return {
    isIncomplete: false,
    items: paths.map((path, i) => ({
      label: path,
      kind: CompletionItemKind.File,
      sortText: String(i).padStart(4, '0'),
      filterText: quoted ? quoteName(path) : path,
      textEdit: { range, newText: quoted ? quoteName(path) : writePath(path) },
    })),
  };
}

/** Types that a rule can request; after a type only the arrow can stand, after an output type nothing but a comma. */
function typeItems(analysis: OverrideAnalysis, settled: OverrideToken[], range: Range): CompletionItem[] {
  const last = settled.at(-1);
  if (last?.kind === 'word' && !last.quoted && precisionType(last.text) !== null && settled.length > 1) {
    if (settled.some(({ kind }) => kind === 'arrow')) return [];
    const arrow = { label: '->', detail: 'output types', kind: CompletionItemKind.Operator };
    return [{ ...arrow, textEdit: { range, newText: '-> ' } }];
  }
  const { target } = analysis.facts;
  const types = (['fp32', 'fp16', 'bf16', 'int8'] as const).filter(
    (type) => typeSince(type, target) === null && (type !== 'int8' || hasLayerFlags(target) !== false),
  );
  return types.map((type, i) => ({
    label: type,
    kind: CompletionItemKind.EnumMember,
    sortText: String(i),
    textEdit: { range, newText: type },
  }));
}

function selectorItems(
  analysis: OverrideAnalysis,
  word: WordToken | null,
  place: Position,
  first: boolean,
): CompletionList {
  const { index } = analysis.facts;
  const start = word ? word.textStart : place.character;
  // Inside "op:" or "not:" nothing can be put in.
  if (place.character < start) return none;
  const typed = word ? typedText(word, place) : '';
  const range: Range = { start: { line: place.line, character: start }, end: wordRange(place, word).end };
  if (word?.prefix === 'op') return { isIncomplete: false, items: opItems(index, range, '', word.quoted) };
  if (word?.prefix === 'group') return { isIncomplete: false, items: groupItems(analysis, range, '') };
  if (word?.quoted) return quotedItems(index, typed, range);
  const items = word?.negations ? [] : keywordItems(analysis, range, first);
  if (!index) return { isIncomplete: false, items };
  if (/[*?[]/.test(typed)) return { isIncomplete: true, items: patternItems(index, typed, range) };
  if (typed === '' || 'op:'.startsWith(typed)) items.push(...opItems(index, range, 'op:'));
  if (typed === '' || 'group:'.startsWith(typed)) items.push(...groupItems(analysis, range, 'group:'));
  const names = nameItems(index, typed, range);
  return { isIncomplete: names.length >= most, items: [...items, ...names] };
}

/** In double quotes only names can stand. */
function quotedItems(index: NodeIndex | null, typed: string, range: Range): CompletionList {
  const names = (index ? nameItems(index, typed, range) : []).filter(({ kind }) => kind === CompletionItemKind.Value);
  const items = names.map((item) => {
    const written = item.textEdit?.newText ?? '';
    const quoted = written.startsWith('"') ? written : quoteName(written);
    return { ...item, filterText: quoted, textEdit: { range, newText: quoted } };
  });
  return { isIncomplete: names.length >= most, items };
}

/** What can follow the last slash of a pattern: the next segments of the names that it matches so far. */
function patternItems(index: NodeIndex, typed: string, range: Range): CompletionItem[] {
  const base = typed.slice(0, typed.lastIndexOf('/') + 1);
  if (base === '' || /[*?[]/.test(typed.slice(base.length))) return [];
  const across = base.includes('**');
  const depth = base.split('/').length - 1;
  const counts = new Map<string, number>();
  for (const i of index.matching(`${base}**`)) {
    const segments = (index.names[i] ?? '').split('/');
    // After a "**" a segment has no fixed place: there the names' ends are offered.
    const at = across ? segments.length - 1 : depth;
    const segment = segments[at] ?? '';
    if (!isBareName(segment)) continue;
    const pattern = base + segment + (at < segments.length - 1 ? '/**' : '');
    counts.set(pattern, (counts.get(pattern) ?? 0) + 1);
  }
  return [...counts].slice(0, most).map(([pattern]) => {
    const nodes = index.matching(pattern).length;
    return {
      label: pattern,
      detail: counted(nodes, 'node'),
      kind: pattern.endsWith('/**') ? CompletionItemKind.Folder : CompletionItemKind.Value,
      textEdit: { range, newText: pattern },
    };
  });
}

/** What has been typed of a word before the cursor, without its prefixes and opening quote. */
function typedText(word: WordToken, place: Position): string {
  const length = place.character - word.textStart - (word.quoted ? 1 : 0);
  return word.text.slice(0, Math.max(0, length));
}

/** What begins a line, or what else begins a selector. */
function keywordItems({ file }: OverrideAnalysis, range: Range, first: boolean): CompletionItem[] {
  if (!first) {
    const detail = 'exclude from the selectors before it';
    return [{ label: 'not:', detail, kind: CompletionItemKind.Keyword, textEdit: { range, newText: 'not:' } }];
  }
  const details = {
    model: 'the model of these rules',
    base: 'the type of all other nodes',
    require: 'obey or prefer (TensorRT 10 and earlier)',
    scales: 'a calibration cache or samples for int8 rules',
  };
  return (['model', 'base', 'require', 'scales'] as const)
    .filter((name) => file[name] === null)
    .map((name) => ({
      label: name,
      detail: details[name],
      kind: CompletionItemKind.Keyword,
      sortText: ` ${name}`,
      textEdit: { range, newText: `${name} ` },
    }));
}

/**
 * The model's operator types, first those that accept a precision, the most frequent first; those of other domains in
 * full, too.
 */
function opItems(index: NodeIndex | null, range: Range, prefix: string, quoted = false): CompletionItem[] {
  const ops = new Map<string, { op: string; count: number; computing: number }>();
  for (const [i, { op, domain }] of (index?.nodes ?? []).entries()) {
    for (const name of isStandardDomain(domain) ? [op] : [op, `${domain}::${op}`]) {
      const known = ops.get(name) ?? { op: name, count: 0, computing: 0 };
      known.count++;
      known.computing += index?.computes[i] ?? 0;
      ops.set(name, known);
    }
  }
  return [...ops.values()]
    .sort((x, y) => Math.sign(y.computing) - Math.sign(x.computing) || y.count - x.count)
    .map(({ op, count }, i) => {
      const written = quoted ? quoteName(op) : writeName(op);
      return {
        label: `${prefix}${op}`,
        detail: counted(count, 'node'),
        kind: CompletionItemKind.Class,
        sortText: `2${String(i).padStart(4, '0')}`,
        filterText: prefix + written,
        textEdit: { range, newText: prefix + written },
      };
    });
}

function groupItems({ build }: OverrideAnalysis, range: Range, prefix: string): CompletionItem[] {
  const counts = new Map<number, number>();
  for (const { foreign } of build?.nodes ?? []) counts.set(foreign, (counts.get(foreign) ?? 0) + 1);
  return (build?.foreignNodes ?? []).slice(0, most).map(({ name }, i) => ({
    label: `${prefix}${name}`,
    detail: `ForeignNode with ${counted(counts.get(i) ?? 0, 'node')}`,
    kind: CompletionItemKind.Module,
    filterText: `${prefix}${quoteName(name)}`,
    sortText: `5${String(i).padStart(4, '0')}`,
    textEdit: { range, newText: prefix + quoteName(name) },
  }));
}

/** Nodes that compute come before those whose type nothing can change; in each, names that begin with what is typed. */
const rankOf = (computes: boolean, begins: boolean): number => (computes ? 3 : 6) + (begins ? 0 : 1);

/** The next level of the module tree below what is typed, and full names that contain it. */
function nameItems(index: NodeIndex, typed: string, range: Range): CompletionItem[] {
  const items = new Map<string, CompletionItem>();
  const lower = typed.toLowerCase();
  const base = typed.slice(0, typed.lastIndexOf('/') + 1);
  const modules = new Map<string, number>();
  for (const name of index.names) {
    if (!name.startsWith(base)) continue;
    const slash = name.indexOf('/', base === '' ? 1 : base.length);
    const module = slash > 0 ? name.slice(0, slash) : null;
    if (module?.toLowerCase().startsWith(lower)) modules.set(module, (modules.get(module) ?? 0) + 1);
  }
  for (const [module, count] of [...modules].slice(0, most)) {
    const pattern = `${module}/**`;
    if (writeName(module) !== module) continue;
    items.set(pattern, {
      label: pattern,
      detail: `module, ${counted(count, 'node')}`,
      kind: CompletionItemKind.Folder,
      sortText: `1${pattern}`,
      textEdit: { range, newText: pattern },
    });
  }
  for (const [i, name] of index.names.entries()) {
    if (items.size >= most) break;
    if (items.has(name) || !name.toLowerCase().includes(lower)) continue;
    items.set(name, {
      // A line break in a name would tear the list apart.
      label: /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(name) ? quoteName(name) : name,
      detail: index.nodes[i]?.op ?? '',
      kind: CompletionItemKind.Value,
      filterText: writeName(name),
      sortText: `${rankOf(index.computes[i] === 1, name.toLowerCase().startsWith(lower))}${name}`,
      textEdit: { range, newText: writeName(name) },
    });
  }
  return [...items.values()];
}
