import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { lexOverrideLine, precisionType } from '../../../../src/kernel/rules/overrideFile.ts';

interface Pattern {
  include?: string;
  match?: string;
  begin?: string;
  end?: string;
  name?: string;
  captures?: Record<string, { name: string }>;
  beginCaptures?: Record<string, { name: string }>;
  endCaptures?: Record<string, { name: string }>;
  patterns?: Pattern[];
}

interface Grammar {
  scopeName: string;
  patterns: Pattern[];
  repository: Record<string, Pattern>;
}

const folder = fileURLToPath(new URL('../../../../syntaxes/', import.meta.url));
const grammar = JSON.parse(readFileSync(`${folder}trtprec.tmLanguage.json`, 'utf8')) as Grammar;

function flat(patterns: readonly Pattern[]): Pattern[] {
  return patterns.flatMap((pattern) => {
    if (pattern.include === undefined)
      return pattern.match === undefined && pattern.begin === undefined ? flat(pattern.patterns ?? []) : [pattern];
    const target = grammar.repository[pattern.include.slice(1)];
    if (!target) throw new Error(`The grammar includes ${pattern.include}, which is not there`);
    return flat([target]);
  });
}

/** The grammar's expressions use only what Oniguruma and JavaScript read alike, but for the flag at the start. */
function regexOf(source: string): RegExp {
  const insensitive = source.startsWith('(?i)');
  const body = (insensitive ? source.slice(4) : source).replaceAll('\\uFEFF', '\\uFEFF');
  return new RegExp(body, insensitive ? 'dgi' : 'dg');
}

/** One line as an editor colors it: pieces of text with their innermost scope. */
function tokenize(line: string): [string, string][] {
  const scopes = Array.from(line, () => '');
  paint(line, 0, line.length, grammar.patterns, scopes);
  const tokens: [string, string][] = [];
  for (const [i, scope] of scopes.entries()) {
    const last = tokens.at(-1);
    const character = line[i] ?? '';
    if (last && last[1] === scope) last[0] += character;
    else tokens.push([character, scope]);
  }
  return tokens
    .filter(([text, scope]) => text.trim() !== '' || scope !== '')
    .map(([text, scope]) => [text, scope.replace('.trtprec', '')]);
}

function paint(line: string, from: number, to: number, patterns: readonly Pattern[], scopes: string[]): void {
  let at = from;
  while (at < to) {
    const best = earliest(line, at, to, patterns);
    if (!best) return;
    const { pattern, found } = best;
    const start = found.index;
    let end = start + found[0].length;
    fill(scopes, start, end, pattern.name);
    captures(scopes, found, pattern.match === undefined ? pattern.beginCaptures : pattern.captures);
    if (pattern.begin !== undefined) {
      const close = regexOf(pattern.end ?? '$');
      close.lastIndex = end;
      const closed = close.exec(line);
      const inner = closed?.index ?? line.length;
      fill(scopes, end, inner, pattern.name);
      paint(line, end, inner, pattern.patterns ?? [], scopes);
      end = inner + (closed?.[0].length ?? 0);
      fill(scopes, inner, end, pattern.endCaptures?.['0']?.name ?? pattern.name);
    }
    at = Math.max(end, start + 1);
  }
}

function earliest(line: string, from: number, to: number, patterns: readonly Pattern[]) {
  let best: { pattern: Pattern; found: RegExpExecArray } | null = null;
  for (const pattern of flat(patterns)) {
    const regex = regexOf(pattern.match ?? pattern.begin ?? '');
    regex.lastIndex = from;
    const found = regex.exec(line);
    if (found && found.index < to && (!best || found.index < best.found.index)) best = { pattern, found };
  }
  return best;
}

function captures(scopes: string[], found: RegExpExecArray, names: Record<string, { name: string }> | undefined): void {
  for (const [group, { name }] of Object.entries(names ?? {})) {
    const place = found.indices?.[Number(group)];
    if (place) fill(scopes, place[0], place[1], name);
  }
}

function fill(scopes: string[], from: number, to: number, name: string | undefined): void {
  if (name !== undefined) scopes.fill(name, from, to);
}

describe('the TextMate grammar', () => {
  test.each<[string, [string, string][]]>([
    [
      'base   fp16',
      [
        ['base', 'keyword.control.directive'],
        ['fp16', 'constant.language'],
      ],
    ],
    [
      'model  ./a b.onnx  # c',
      [
        ['model', 'keyword.control.directive'],
        ['./a b.onnx', 'string.unquoted.path'],
        ['#', 'punctuation.definition.comment'],
        [' c', 'comment.line.number-sign'],
      ],
    ],
    [
      '**/attn/Softmax  fp32',
      [
        ['**/attn/Softmax', 'string.regexp.glob'],
        ['fp32', 'storage.type.precision'],
      ],
    ],
    [
      '/a#b,c half->fp32 # d',
      [
        ['/a#b', 'entity.name.tag.node'],
        [',', 'punctuation.separator.comma'],
        ['c', 'entity.name.tag.node'],
        ['half', 'storage.type.precision'],
        ['->', 'keyword.operator.arrow'],
        ['fp32', 'storage.type.precision'],
        ['#', 'punctuation.definition.comment'],
        [' d', 'comment.line.number-sign'],
      ],
    ],
    [
      'op:m::Gelu, not:op:Cast fp32',
      [
        ['op', 'keyword.other.selector'],
        [':', 'punctuation.separator'],
        ['m', 'entity.name.namespace'],
        ['::', 'punctuation.separator'],
        ['Gelu', 'entity.name.type.operator'],
        [',', 'punctuation.separator.comma'],
        ['not:', 'keyword.operator.logical.not'],
        ['op', 'keyword.other.selector'],
        [':', 'punctuation.separator'],
        ['Cast', 'entity.name.type.operator'],
        ['fp32', 'storage.type.precision'],
      ],
    ],
    [
      '"a\\n, b" fp32',
      [
        ['"', 'punctuation.definition.string.begin'],
        ['a', 'string.quoted.double'],
        ['\\n', 'constant.character.escape'],
        [', b', 'string.quoted.double'],
        ['"', 'punctuation.definition.string.end'],
        ['fp32', 'storage.type.precision'],
      ],
    ],
    [
      'group:{ForeignNode[a...b]} fp32',
      [
        ['group', 'keyword.other.selector'],
        [':', 'punctuation.separator'],
        ['{ForeignNode[a...b]}', 'entity.name.section.group'],
        ['fp32', 'storage.type.precision'],
      ],
    ],
    [
      'model, x fp32',
      [
        ['model', 'entity.name.tag.node'],
        [',', 'punctuation.separator.comma'],
        ['x', 'entity.name.tag.node'],
        ['fp32', 'storage.type.precision'],
      ],
    ],
  ])('%s', (line, expected) => {
    expect(tokenize(line)).toEqual(expected);
  });

  test.each([
    ['group:{ForeignNode[a,b...c]}, x fp32', ['{ForeignNode[a,b...c]}', ',', 'x']],
    ['group:{ForeignNode[a...b]}, x fp32', ['{ForeignNode[a...b]}', ',', 'x']],
    ['op:Conv->fp32', ['Conv', '->', 'fp32']],
    ['group:a->fp32', ['a', '->', 'fp32']],
  ])('%s: words end where the reader ends them', (line, words) => {
    const painted = tokenize(line).map(([text]) => text);
    for (const word of words) expect(painted).toContain(word);
  });

  test.each(['requirex obey', 'basement fp16', 'models x'])('%s is no directive', (line) => {
    expect(tokenize(line).map(([, scope]) => scope)).not.toContain('keyword.control.directive');
  });

  test('every word that the reader takes for a type is painted as one', () => {
    const words =
      'fp32 float32 float f32 single fp16 float16 half f16 bf16 bfloat16 int8 i8 fp8 float8 float8e4m3fn int4 i4';
    for (const word of `${words} int32 i32 int64 i64 bool boolean Half DataType.HALF`.split(' ')) {
      expect(precisionType(word), word).not.toBeNull();
      expect(
        tokenize(`a ${word} -> ${word}, ${word}`).filter(([, scope]) => scope === 'storage.type.precision'),
      ).toEqual([1, 2, 3].map(() => [word, 'storage.type.precision']));
    }
    expect(tokenize('a fp33').at(-1)).toEqual(['fp33', 'entity.name.tag.node']);
  });

  test('comments and quotes begin where the reader says', () => {
    for (const line of ['# a', 'a fp32 # b', 'a#b fp32', '"a # b" fp32', 'a fp32 -> fp16 #x', '  #x', '"open # x']) {
      const comment = lexOverrideLine(line).find(({ kind }) => kind === 'comment');
      const painted = tokenize(line)
        .filter(([, scope]) => scope.includes('comment'))
        .map(([text]) => text)
        .join('');
      expect(painted, line).toBe(comment ? line.slice(comment.start) : '');
    }
  });

  test('every scope names the language; the language configuration is JSON', () => {
    const names = [...JSON.stringify(grammar.repository).matchAll(/"name":"([^"]+)"/g)].map(([, name]) => name ?? '');
    expect(names.length).toBeGreaterThan(15);
    for (const name of names) expect(name).toMatch(/\.trtprec$/);
    expect(grammar.scopeName).toBe('source.trtprec');
    const configuration = JSON.parse(readFileSync(`${folder}trtprec.language-configuration.json`, 'utf8')) as {
      comments: { lineComment: string };
      wordPattern: string;
    };
    expect(configuration.comments.lineComment).toBe('#');
    expect('a, "b c" /x/y*'.match(new RegExp(configuration.wordPattern, 'g'))).toEqual(['a', '"b c"', '/x/y*']);
  });
});
