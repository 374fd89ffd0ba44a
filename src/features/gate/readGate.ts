// Reads, starts and completes a gate file.
import type { GateSide } from '../../kernel/rules/gateSide.ts';
import {
  type ErrorCode,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  type YAMLMap,
} from 'yaml';
import type { Problem, Read } from '../../kernel/base/problem.ts';
import { closestWords } from '../../kernel/base/text.ts';
import type { NetworkNode } from '../../kernel/report/buildDiff.ts';
import { attentions } from '../../kernel/network/modelGraph.ts';
import { precisionType, precisionTypes } from '../../kernel/rules/overrideFile.ts';
import { countRegions, isPlanned, listsEngine, runningLayers } from '../../kernel/report/words.ts';
import { judgeAttention } from './evaluateGate.ts';
import {
  type AccuracySetting,
  type Check,
  commonKeys,
  type GateFile,
  gateKeys,
  gateRules,
  type Limit,
  type Place,
  type RuleGrammar,
  type RuleName,
} from './gateFile.ts';
import { opaqueForeignNodes, totalMs } from '../../kernel/fusion/fusionReport.ts';
import { moduleTimes } from './internal/moduleTimes.ts';
import { selectorProblem } from './internal/gateSelector.ts';
import { readLimit } from './internal/readLimit.ts';

/**
 * Reads a gate file. What is wrong is in the problems, each with its line and column; the rest still counts.
 */
export function readGate(text: string): Read<GateFile> {
  const reader = new GateReader(text);
  const value = reader.read();
  const problems = reader.problems.toSorted((a, b) => a.line! - b.line! || a.column! - b.column!);
  return { value, problems };
}

const noRules = 'The file has no rules. Add `rules:`';

/** UTF-16 code units: comparing the keys of a table takes time quadratic in their number. */
const mostText = 2 ** 18;

/** Where the parser speaks to programmers. */
const yamlWords: Partial<Record<ErrorCode, string>> = {
  DUPLICATE_KEY: 'This key occurs twice in the table',
  RESOURCE_EXHAUSTION: 'The tables are nested too deeply',
  MULTIPLE_DOCS: 'The file contains several YAML documents: keep one',
};

class GateReader {
  readonly problems: Problem[] = [];
  readonly #lines = new LineCounter();
  readonly #text: string;
  readonly #checks: Check[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  /** undefined: it is nested so deeply that the parser, which calls itself for each level, gives up. */
  #document(): ReturnType<typeof parseDocument> | undefined {
    try {
      return parseDocument(this.#text, { lineCounter: this.#lines, prettyErrors: false, uniqueKeys: true });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#problem('yaml', 'The file is nested too deeply for a gate', this.#place(0, 1));
      return undefined;
    }
  }

  read(): GateFile | undefined {
    if (this.#text.length > mostText) {
      this.#problem('gate-value', 'The file is larger than 256 KiB, which is too large for a gate', this.#place(0, 1));
      return undefined;
    }
    const document = this.#document();
    if (document === undefined) return undefined;
    for (const { code, message, pos } of document.errors)
      this.#problem('yaml', yamlWords[code] ?? message.split('\n')[0]!, this.#place(pos[0], pos[1]));
    // What is not YAML need not mean what it seems to.
    if (document.errors.length > 0) return undefined;
    const root: unknown = document.contents;
    if (!isMap(root)) {
      this.#problem('yaml', noRules, this.#place(0, 1));
      return undefined;
    }
    const file: GateFile = { model: null, baseline: null, checks: this.#checks };
    for (const { key, value, pair } of this.#entries(root, gateKeys, 'key')) {
      if (key === 'rules') this.#rules(value, pair);
      else {
        const path = this.#string(value, key, pair);
        if (path !== null) file[key as 'model' | 'baseline'] = path;
      }
    }
    if (this.#checks.length === 0 && this.problems.length === 0)
      this.#problem('gate-value', noRules, this.#place(0, 1));
    return file;
  }

  #rules(value: unknown, at: Pair): void {
    if (!isMap(value)) {
      this.#problem('gate-value', 'rules: expected a table of rules', this.#placeOf(at.key));
      return;
    }
    for (const { key, value: rule, pair } of this.#entries(value, gateRules, 'rule'))
      this.#rule(key as RuleName, rule, pair);
  }

  #rule(rule: RuleName, value: unknown, at: Pair): void {
    const grammar = gateRules[rule];
    if (!isMap(value)) {
      const text = this.#string(value, rule, at);
      if (text !== null) this.#shortRule(rule, grammar, text, value ?? at.key);
      return;
    }
    const optional = this.#optional(value);
    const known = { ...grammar.keys, ...grammar.settings, ...commonKeys, ...(grammar.words && { is: '' }) };
    const [checks, problems] = [this.#checks.length, this.problems.length];
    const entries = this.#entries(value, known, `key of ${rule}`, grammar.patterns !== undefined);
    for (const { key, value: limit, pair } of entries) {
      if (key === 'optional' || Object.hasOwn(grammar.settings ?? {}, key)) continue;
      const text = this.#string(limit, `${rule}.${key}`, pair);
      if (text === null) continue;
      if (key === 'is' && grammar.words) this.#word(rule, grammar, text, limit, optional);
      else this.#add(rule, key, this.#limit(grammar, key, text), optional, pair.key, limit);
    }
    if (this.#checks.length === checks && this.problems.length === problems)
      this.#problem('gate-value', `${rule} has no limit; ${limitWords(grammar)}`, this.#placeOf(at.key));
    if (grammar.settings) this.#settings(rule, grammar.settings, value);
  }

  /** `kernels: 12`, `attention: fused`. */
  #shortRule(rule: RuleName, grammar: RuleGrammar, text: string, at: unknown): void {
    if (grammar.words) this.#word(rule, grammar, text, at, false);
    else if (grammar.short === undefined)
      this.#problem('gate-value', `${rule}: expected a table; ${limitWords(grammar)}`, this.#placeOf(at));
    else this.#add(rule, grammar.short, this.#limit(grammar, grammar.short, text), false, at, at);
  }

  #word(rule: RuleName, { words = [] }: RuleGrammar, text: string, at: unknown, optional: boolean): void {
    if (!words.includes(text))
      this.#problem(
        'gate-value',
        `'${text}' is not a value of ${rule}; values are ${listed(words)}`,
        this.#placeOf(at),
      );
    else
      this.#checks.push({ rule, id: rule, key: '', limit: { kind: 'word', text }, optional, place: this.#placeOf(at) });
  }

  #limit(grammar: RuleGrammar, key: string, text: string): Limit | string {
    const fixed = grammar.keys && Object.hasOwn(grammar.keys, key) ? grammar.keys[key] : undefined;
    if (fixed?.unit === 'error') {
      const limit = readLimit(text, 'error', { absolute: true });
      return typeof limit === 'string' || limit.kind !== 'max' ? limit : { kind: 'accuracy', value: limit.value, text };
    }
    if (fixed) return readLimit(text, fixed.unit, fixed);
    if (grammar.patterns === 'ms') return readLimit(text, 'ms');
    const type = precisionType(text);
    const wrong = selectorProblem(key);
    if (wrong !== null) return `'${key}' is not a selector: ${wrong}`;
    return type === null
      ? `'${text}' is not a type; types are ${listed(precisionTypes)}`
      : { kind: 'type', type, text };
  }

  #add(
    rule: RuleName,
    key: string,
    limit: Limit | string,
    optional: boolean,
    keyNode: unknown,
    valueNode: unknown,
  ): void {
    if (typeof limit === 'string') this.#problem('gate-value', `${rule}.${key}: ${limit}`, this.#placeOf(valueNode));
    else this.#checks.push({ rule, id: `${rule}.${key}`, key, limit, optional, place: this.#placeOf(keyNode) });
  }

  #optional(map: YAMLMap): boolean {
    const value: unknown = map.get('optional', true);
    if (value === undefined) return false;
    if (isScalar(value) && typeof value.value === 'boolean') return value.value;
    this.#problem('gate-value', "optional: expected 'true' or 'false'", this.#placeOf(value));
    return false;
  }

  #settings(rule: string, known: NonNullable<RuleGrammar['settings']>, map: YAMLMap): void {
    for (const name of Object.keys(known) as AccuracySetting[]) {
      const value: unknown = map.get(name, true);
      if (value === undefined) continue;
      const { values } = known[name];
      const text = isScalar(value) && typeof value.value === 'string' ? value.value : '';
      if (text === '' || values?.includes(text) === false) {
        const what = values ? `is not one of ${listed(values)}` : 'is not a path';
        this.#problem('gate-value', `${rule}.${name}: ${text && `'${text}' `}${what}`, this.#placeOf(value));
      }
      for (const { limit } of this.#checks) if (limit.kind === 'accuracy') limit[name] = text;
    }
  }

  /** The pairs of a table whose keys are known; the others are problems. */
  #entries(map: YAMLMap, known: object, what: string, open = false): { key: string; value: unknown; pair: Pair }[] {
    const names = Object.keys(known);
    return map.items.flatMap((pair) => {
      const name = isScalar(pair.key) ? pair.key.value : null;
      const text =
        typeof name === 'string' || typeof name === 'number' || typeof name === 'boolean' ? String(name) : '';
      const key = known === gateRules ? renamedRule(text) : text;
      if ((open && key !== '') || names.includes(key)) return [{ key, value: pair.value, pair }];
      this.#problem('gate-key', unknown(what, key, names), this.#placeOf(pair.key));
      return [];
    });
  }

  /** A plain value as it is written. */
  #string(value: unknown, what: string, pair: Pair): string | null {
    if (isScalar(value) && ['string', 'number', 'boolean'].includes(typeof value.value)) {
      const written = value.source ?? String(value.value);
      return typeof value.value === 'string' ? value.value : written;
    }
    const why = isAlias(value)
      ? 'is an alias: write the value itself'
      : isMap(value) || isSeq(value)
        ? 'is a table or a list: expected a single value'
        : 'has no value';
    this.#problem('gate-value', `${what} ${why}`, this.#placeOf(value ?? pair.key));
    return null;
  }

  #placeOf(node: unknown): Place {
    const range = typeof node === 'object' && node !== null && 'range' in node ? (node.range as number[] | null) : null;
    return this.#place(range?.[0] ?? 0, range?.[1] ?? 1);
  }

  #place(from: number, to: number): Place {
    const { line, col } = this.#lines.linePos(from);
    const end = this.#lines.linePos(Math.max(to, from + 1));
    return {
      line: Math.max(line, 1),
      column: Math.max(col, 1),
      endColumn: end.line === line ? end.col : Math.max(col, 1) + 1,
    };
  }

  #problem(code: string, message: string, place: Place): void {
    this.problems.push({ severity: 'error', code, message, ...place });
  }
}

/** Gate files of version 0.1 spell this rule with an s. */
const renamedRule = (name: string): string => name.replace(/^quantised(?=\.|$)/, 'quantized');

function unknown(what: string, word: string, known: readonly string[]): string {
  const [near] = closestWords(word, known, 1);
  return `'${word}' is not a ${what}; ${near ? `did you mean '${near}'? ` : ''}Known: ${listed(known)}`;
}

const listed = (words: readonly string[]): string => words.join(', ');

const limitWords = ({ keys = {}, patterns, words }: RuleGrammar): string =>
  words
    ? `write 'is: ${words[0]}'`
    : `keys are ${listed([...Object.keys(keys), ...(patterns ? ['patterns of node names'] : [])])}`;

/**
 * The text of a gate file that a build passes: what holds today, with some room for what varies.
 * @param model path of the model, relative to the gate file
 * @param baseline path that the baseline report gets, relative to the gate file
 */
export function initGate(model: string, baseline: string, side: GateSide): string {
  const { report, network = [], figures } = side;
  const { layers, foreignNodes, accounting, nodes } = report;
  const lines = ['rules:'];
  const add = (line: string, why: string) => lines.push(`  ${line.padEnd(44)} # ${why}`);
  if (attentions(network as NetworkNode[]).length > 0) {
    const { kept } = judgeAttention(side);
    if (kept === true) add('attention: fused', 'each attention is one kernel');
    else add('# attention: fused', kept === false ? 'not the case in this build' : 'this build does not list kernels');
  }
  if (listsEngine(report)) {
    add(`foreignNodes: { max: ${countRegions(foreignNodes).foreignNodes} }`, 'Myelin regions');
    if (layers.every(({ kind }) => kind !== 'foreign'))
      add('kernels: { max: +5% }', `${runningLayers(report).length} in the baseline`);
    add(`reformats: { max: ${layers.filter(({ kind }) => kind === 'reformat').length} }`, 'layers that only copy');
  }
  if (!isPlanned(report)) add(`nodes: { unknown: ${accounting.unknown} }`, 'nodes with an unknown fate');
  if (report.lostNodes?.checked) add(`unaccounted: ${accounting.unaccounted}`, 'nodes that TensorRT may have lost');
  if (nodes.some(({ op }) => op === 'QuantizeLinear'))
    add('quantized: { unfused: 0, optional: true }', 'Q/DQ nodes with kernels of their own');
  if (totalMs(layers) !== null) {
    const modules = moduleTimes([report], opaqueForeignNodes(report)).size > 0;
    add(`time: { total: '+10%'${modules ? ", modules: '+25%'" : ''} }`, 'pass several profiles if times vary');
  }
  if (side.marked)
    add(
      `marked: { outputs: ${side.marked.outputs.length}, debug: ${side.marked.debug.length} }`,
      'tensors that only debugging needs',
    );
  if (figures?.activationMemory) add("memory: { activation: '+10%' }", 'according to the build log');
  return `# The rules for a build of this model. To check one: trtlens gate FILE --build FOLDER\nmodel: ${JSON.stringify(model)}\nbaseline: ${JSON.stringify(baseline)}\n${lines.join('\n')}\n`;
}

/** A word that may be at a place of a gate file. */
export interface GateWord {
  label: string;
  about: string;
  /** A key, or a value behind one. */
  kind: 'key' | 'value';
}

/** The words that may be at an offset: keys of the table there, or values of the key before it. */
export function completeGate(text: string, offset: number): GateWord[] {
  const path = gatePath(text, offset);
  const [top, second, key] = path.keys;
  if (path.value) return valuesOf(path.keys);
  if (top === undefined) return keys(gateKeys);
  if (top !== 'rules') return [];
  if (second === undefined)
    return keys(Object.fromEntries(Object.entries(gateRules).map(([name, { about }]) => [name, about])));
  const grammar = grammarOf(second);
  return grammar === undefined || key !== undefined ? [] : keys(keysOf(grammar));
}

/** What the word at an offset means; null if it is not a word of gate files. */
export function hoverGate(text: string, offset: number): { about: string; from: number; to: number } | null {
  const isWord = (at: number) => /[\w]/.test(text.charAt(at));
  let from = offset;
  while (from > 0 && isWord(from - 1)) from -= 1;
  let to = offset;
  while (to < text.length && isWord(to)) to += 1;
  const word = text.slice(from, to);
  const found = completeGate(text, from).find(({ label }) => label === word);
  return found && found.about !== '' ? { about: found.about, from, to } : null;
}

const keys = (known: Readonly<Record<string, string>>): GateWord[] =>
  Object.entries(known).map(([label, about]) => ({ label, about, kind: 'key' }));

const grammarOf = (name: string): RuleGrammar | undefined =>
  Object.hasOwn(gateRules, name) ? gateRules[name as RuleName] : undefined;

function keysOf(grammar: RuleGrammar): Record<string, string> {
  const own = Object.entries(grammar.keys ?? {}).map(([name, { about }]) => [name, about]);
  return {
    ...(Object.fromEntries(own) as Record<string, string>),
    ...(grammar.words && { is: grammar.about }),
    ...Object.fromEntries(Object.entries(grammar.settings ?? {}).map(([name, { about }]) => [name, about])),
    ...commonKeys,
  };
}

function valuesOf([top, rule = '', key]: readonly string[]): GateWord[] {
  const value = (label: string): GateWord => ({ label, about: '', kind: 'value' });
  const grammar = top === 'rules' ? grammarOf(rule) : undefined;
  if (key === 'optional') return ['true', 'false'].map(value);
  if (grammar?.words && (key === undefined || key === 'is')) return grammar.words.map(value);
  if (grammar?.patterns === 'type' && key !== undefined) return precisionTypes.map(value);
  const setting = Object.entries(grammar?.settings ?? {}).find(([name]) => name === key)?.[1];
  if (setting?.values) return setting.values.map(value);
  return [];
}

/** The keys above a place, outermost first, and whether the place is behind the colon of the last one. */
export function gatePath(text: string, offset: number): { keys: string[]; value: boolean } {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const before = text.slice(lineStart, offset);
  const outer: string[] = [];
  let indent = before.length - before.trimStart().length;
  let rest = before.trimStart();
  if (rest.startsWith('- ')) {
    indent += 1;
    rest = rest.slice(2);
  }
  // Lines above with less indentation hold the tables that this line is in.
  for (const line of text.slice(0, lineStart).split('\n').slice(0, -1).toReversed()) {
    const content = line.trim();
    const own = line.length - line.trimStart().length;
    if (content === '' || content.startsWith('#') || own >= indent) continue;
    const keyIndent = content.startsWith('- ') ? own + 2 : own;
    if (keyIndent >= indent) {
      // The first key of the same list item.
      indent = own;
      continue;
    }
    const key = /^(?:- )?\s*("[^"]*"|'[^']*'|[^\s:#,{}[\]]+)\s*:/.exec(content)?.[1];
    if (key !== undefined) outer.unshift(plain(key));
    indent = own;
    if (own === 0) break;
  }
  return flowPath(rest, outer);
}

/** Goes on through the flow tables of one line: `reformats: { max: 6, mic`. */
function flowPath(line: string, outer: string[]): { keys: string[]; value: boolean } {
  const path = [...outer];
  const depth: number[] = [];
  let value = false;
  for (const [token] of line.matchAll(/"[^"]*"|'[^']*'|[{}[\],:]|#.*$|[^\s{}[\],:"']+/g)) {
    if (token === ':') value = true;
    else if (token === '{' || token === '[') {
      depth.push(path.length);
      value = false;
    } else if (token === '}' || token === ']') {
      path.length = depth.pop() ?? path.length;
      value = true;
    } else if (token === ',') {
      path.length = depth.at(-1) ?? path.length;
      value = false;
    } else if (!value) {
      path.length = depth.at(-1) ?? outer.length;
      path.push(plain(token));
    }
  }
  // A word that is still being typed is no key yet.
  if (!value && path.length > (depth.at(-1) ?? outer.length)) path.pop();
  return { keys: path, value };
}

const plain = (key: string): string => key.replaceAll(/^["']|["']$/g, '');
