// Which nodes its rules select.
import { addTo } from '../base/addTo.ts';
import { editDistance } from '../base/text.ts';
import { fromFirstLayer } from '../network/layerName.ts';
import { graphPathOf } from '../network/modelGraph.ts';
import { NodesByName, parserName } from '../network/nodeNames.ts';
import type { BuildFacts, ModelFacts, NodeFacts } from './buildFacts.ts';
import { buildIndexOf } from './buildIndex.ts';
import { isBareName, type OverrideFile, quoteName, type Rule, type Selector, writeName } from './overrideFile.ts';

/** A compiled pattern: `*` within one path segment, `**` across segments, `?` one character, `[abc]` one of a set. */
export interface Glob {
  parts: GlobPart[];
  /** Texts that every match contains, in order; the longest runs of plain characters. */
  literals: string[];
  /** The plain beginning, up to the first wildcard. */
  prefix: string;
}

type GlobPart =
  | { kind: 'char'; char: string }
  | { kind: 'any' }
  | { kind: 'set'; negated: boolean; ranges: [number, number][] }
  | { kind: 'star' }
  | { kind: 'globstar' }
  | { kind: 'globstar-slash' };

/** Compiles a pattern. Every text is a pattern: a `[` without its `]` stands for itself. */
export function compileGlob(pattern: string): Glob {
  const parts: GlobPart[] = [];
  const lastClose = pattern.lastIndexOf(']');
  let at = 0;
  while (at < pattern.length) {
    const c = pattern.charAt(at);
    if (c === '*') at = star(pattern, at, parts);
    else if (c === '?') {
      parts.push({ kind: 'any' });
      at++;
    } else if (c === '[') at = set(pattern, at, lastClose, parts);
    else {
      parts.push({ kind: 'char', char: c });
      at++;
    }
  }
  const literals = plainRuns(parts);
  return { parts, literals, prefix: parts[0]?.kind === 'char' ? (literals[0] ?? '') : '' };
}

/** A star or, of two or more, one that crosses segments; `**` + `/` at a segment's start also stands for no segment at all. */
function star(pattern: string, start: number, parts: GlobPart[]): number {
  let end = start;
  while (pattern.charAt(end) === '*') end++;
  if (end - start === 1) {
    parts.push({ kind: 'star' });
    return end;
  }
  const atSegment = start === 0 || pattern.charAt(start - 1) === '/';
  if (atSegment && pattern.charAt(end) === '/') {
    parts.push({ kind: 'globstar-slash' });
    return end + 1;
  }
  parts.push({ kind: 'globstar' });
  return end;
}

/** `lastClose`: the place of the pattern's last `]`. */
function set(pattern: string, open: number, lastClose: number, parts: GlobPart[]): number {
  const negated = pattern.charAt(open + 1) === '!' || pattern.charAt(open + 1) === '^';
  const first = open + (negated ? 2 : 1);
  const close = first < lastClose ? pattern.indexOf(']', first + 1) : -1;
  if (close < 0) {
    parts.push({ kind: 'char', char: '[' });
    return open + 1;
  }
  const ranges: [number, number][] = [];
  for (let at = first; at < close; at++) {
    const from = pattern.charCodeAt(at);
    const isRange = pattern.charAt(at + 1) === '-' && at + 2 < close;
    ranges.push([from, isRange ? pattern.charCodeAt(at + 2) : from]);
    if (isRange) at += 2;
  }
  parts.push({ kind: 'set', negated, ranges });
  return close + 1;
}

function plainRuns(parts: readonly GlobPart[]): string[] {
  const runs: string[] = [];
  let run = '';
  for (const part of parts) {
    if (part.kind === 'char') run += part.char;
    else if (run !== '') {
      runs.push(run);
      run = '';
    }
  }
  if (run !== '') runs.push(run);
  return runs;
}

/**
 * Whether a whole text matches. Backtracks to the last `*` of the segment and to the last `**` only, so a hostile
 * pattern costs at most pattern × text × text steps.
 */
export function matchesGlob(glob: Glob, text: string): boolean {
  const { parts } = glob;
  let p = 0;
  let t = 0;
  let starPart = -1;
  let starText = 0;
  let globPart = -1;
  let globText = 0;
  for (;;) {
    const part = parts[p];
    if (part === undefined && t === text.length) return true;
    if (part?.kind === 'globstar' || part?.kind === 'globstar-slash') {
      globPart = p++;
      globText = t;
      starPart = -1;
    } else if (part?.kind === 'star') {
      starPart = p++;
      starText = t;
    } else if (part !== undefined && t < text.length && matchesOne(part, text, t)) {
      p++;
      t++;
    } else if (starPart >= 0 && starText < text.length && text.charAt(starText) !== '/') {
      t = ++starText;
      p = starPart + 1;
    } else if (globPart >= 0) {
      starPart = -1;
      globText = grown(parts[globPart], text, globText);
      if (globText < 0) return false;
      t = globText;
      p = globPart + 1;
    } else {
      return false;
    }
  }
}

/**
 * The next end of a `**` that consumes one more character, or of a `**` + `/` that consumes one more segment; -1: none.
 */
function grown(part: GlobPart | undefined, text: string, end: number): number {
  if (part?.kind === 'globstar-slash') {
    const slash = text.indexOf('/', end);
    return slash < 0 ? -1 : slash + 1;
  }
  return end < text.length ? end + 1 : -1;
}

function matchesOne(part: GlobPart, text: string, at: number): boolean {
  if (part.kind === 'char') return text.charAt(at) === part.char;
  const code = text.charCodeAt(at);
  if (code === 47) return false;
  if (part.kind === 'any') return true;
  if (part.kind !== 'set') return false;
  return part.ranges.some(([from, to]) => from <= code && code <= to) !== part.negated;
}

const none = new Int32Array(0);

/**
 * A model's nodes by name, operator and pattern. Positions are positions in `facts.nodes`; every answer is sorted.
 * Answers are kept, so that thousands of rules cost little at each keystroke.
 */
export class NodeIndex {
  readonly facts: ModelFacts;
  readonly nodes: readonly NodeFacts[];
  /** Parser names by position. */
  readonly names: readonly string[];
  /** Nodes by exact name. */
  readonly byName: NodesByName;
  /** By position: 1 for nodes that accept a precision. */
  readonly computes: Uint8Array;
  /** How many nodes accept a precision. */
  readonly computing: number;
  private readonly byOp = new Map<string, number[]>();
  /** Nodes that repairs wrote, by the name of the node of the original that they compute. */
  private readonly byOriginal = new Map<string, number[]>();
  private readonly opAnswers = new Map<string, Int32Array>();
  private readonly answers = new Map<string, Int32Array>();
  private readonly nearest = new Map<string, string[]>();
  private distinctNames: string[] | null = null;
  private lazyNames: NameIndex | null = null;
  private lazyOutputs: Map<string, number> | null = null;
  /** Counts of `similar`, all zero between its calls. */
  private lazyHits: Uint8Array | null = null;

  constructor(facts: ModelFacts) {
    this.facts = facts;
    this.nodes = facts.nodes;
    this.names = facts.nodes.map(parserName);
    this.byName = new NodesByName(facts.nodes);
    this.computes = Uint8Array.from(facts.nodes, ({ exempt }) => (exempt === null ? 1 : 0));
    this.computing = this.computes.reduce((sum, one) => sum + one, 0);
    for (const [i, { op, original }] of facts.nodes.entries()) {
      addTo(this.byOp, op, i);
      if (original !== undefined) addTo(this.byOriginal, original, i);
    }
  }

  /** Whether a node has this name exactly. */
  has(name: string): boolean {
    return this.byName.has(name) || this.byOriginal.has(name);
  }

  /** Positions of the nodes with this name exactly: several where the model repeats a name. */
  named(name: string): Int32Array {
    const found = [...this.byName.nodesOf(name), ...(this.byOriginal.get(name) ?? [])].toSorted((a, b) => a - b);
    return found.length > 0 ? Int32Array.from(found) : none;
  }

  /** Positions of the nodes of an operator type; `domain` null means any domain. */
  ofOp(op: string, domain: string | null): Int32Array {
    const key = domain === null ? op : `${domain}::${op}`;
    let answer = this.opAnswers.get(key);
    if (!answer) {
      const found = this.byOp.get(op) ?? [];
      const kept = domain === null ? found : found.filter((i) => sameDomain(this.nodes[i]?.domain ?? '', domain));
      answer = Int32Array.from(kept);
      if (this.byOp.has(op)) this.opAnswers.set(key, answer);
    }
    return answer;
  }

  /** Operator types of the model with their number of nodes. */
  ops(): { op: string; count: number }[] {
    return [...this.byOp].map(([op, found]) => ({ op, count: found.length }));
  }

  /** Positions of the nodes whose name matches a glob pattern. */
  matching(pattern: string): Int32Array {
    let answer = this.answers.get(pattern);
    if (!answer) {
      answer = this.parts().matching(pattern);
      if (this.answers.size > 50_000) this.answers.clear();
      this.answers.set(pattern, answer);
    }
    return answer;
  }

  /** Position of the node that makes a tensor, in the main graph if one there does; undefined for no node's output. */
  makerOf(tensor: string): number | undefined {
    if (!this.lazyOutputs) {
      this.lazyOutputs = new Map();
      for (const [i, { id, outputs }] of this.nodes.entries())
        for (const name of outputs)
          if (graphPathOf(id) === '' || !this.lazyOutputs.has(name)) this.lazyOutputs.set(name, i);
    }
    return this.lazyOutputs.get(tensor);
  }

  /** Up to three names that are closest to a text that is none: they share its rarest parts and differ little. */
  nearestNames(text: string): string[] {
    let found = this.nearest.get(text);
    if (!found) {
      found = this.findNearest(text);
      if (this.nearest.size > 50_000) this.nearest.clear();
      this.nearest.set(text, found);
    }
    return found;
  }

  private parts(): NameIndex {
    return (this.lazyNames ??= new NameIndex(this.names));
  }

  private findNearest(text: string): string[] {
    this.distinctNames ??= [...this.byName.names()];
    const pool = this.distinctNames.length <= 400 ? this.distinctNames : this.similar(text);
    const limit = Math.max(2, Math.floor(text.length * 0.4));
    const lower = text.toLowerCase();
    return pool
      .map((name) => ({ name, distance: distanceOf(lower, name, limit) }))
      .filter(({ distance }) => distance <= limit)
      .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
      .slice(0, 3)
      .map(({ name }) => name);
  }

  /** Names that share most of the text's twelve rarest trigrams. */
  private similar(text: string): string[] {
    const lists: ArrayLike<number>[] = [];
    for (let at = 0; at + 3 <= text.length; at++) {
      const found = this.parts().having(text, at);
      if (found.length > 0) lists.push(found);
    }
    lists.sort((a, b) => a.length - b.length);
    const hits = (this.lazyHits ??= new Uint8Array(this.names.length));
    const touched: number[] = [];
    let budget = 4000;
    for (const list of lists.slice(0, 12)) {
      for (let at = 0; at < list.length; at++) {
        if (budget-- < 0) break;
        const i = list[at]!;
        if (hits[i] === 0) touched.push(i);
        hits[i] = (hits[i] ?? 0) + 1;
      }
    }
    const byHits: number[][] = [];
    for (const i of touched) (byHits[12 - (hits[i] ?? 0)] ??= []).push(i);
    for (const i of touched) hits[i] = 0;
    return byHits
      .flat()
      .slice(0, 24)
      .map((i) => this.names[i] ?? '');
  }
}

/** A name that ends like the text (another module, or the module omitted) counts as close. */
function distanceOf(lower: string, name: string, limit: number): number {
  const candidate = name.toLowerCase();
  if (candidate === lower) return 0;
  if (candidate.endsWith(`/${lower.replace(/^\//, '')}`)) return 1;
  return editDistance(lower, candidate, limit);
}

function sameDomain(a: string, b: string): boolean {
  return (a === '' ? 'ai.onnx' : a) === (b === '' ? 'ai.onnx' : b);
}

/** What each rule selects and which rule applies to each node: the last usable one that selects it. */
export interface ResolvedRules {
  /** One entry a rule, in order; unusable rules select nothing. */
  matches: RuleMatch[];
  /** By position of the node: position of the deciding rule in `matches`, or -1. */
  winner: Int32Array;
}

export interface RuleMatch {
  rule: Rule;
  /** Positions of the nodes that each selector names by itself, in the selectors' order. */
  selected: Int32Array[];
  /** Positions of the nodes that the rule selects, `not:` taken away. */
  nodes: Int32Array;
  /** How many of them it applies to. */
  effective: number;
}

/** A `group:` text against the ForeignNodes of a build: their positions, one when it is right. */
export function groupsNamed(text: string, build: BuildFacts): number[] {
  const names = build.foreignNodes.map(({ name }) => name);
  const exact = names.indexOf(text);
  if (exact >= 0) return [exact];
  const positions = names.map((_, i) => i);
  return positions.filter((i) => names[i]?.startsWith(text) || fromFirstLayer(names[i] ?? '').startsWith(text));
}

/** Positions of the nodes that one selector names, without regard to `not:`. */
export function selectNodes(selector: Selector, index: NodeIndex, build: BuildFacts | null): Int32Array {
  switch (selector.kind) {
    case 'name':
      return index.named(selector.text);
    case 'glob':
      return index.matching(selector.text);
    case 'op':
      return index.ofOp(selector.text, selector.domain);
    case 'group': {
      const found = build ? groupsNamed(selector.text, build) : [];
      return build && found.length === 1 ? membersOf(found[0] ?? -1, build, index.nodes.length) : none;
    }
  }
}

/** A rule reaches the model's own nodes, the first `count`, not those inside functions. */
function membersOf(group: number, { nodes }: BuildFacts, count: number): Int32Array {
  const members: number[] = [];
  for (const [i, node] of nodes.slice(0, count).entries()) if (node.foreign === group) members.push(i);
  return Int32Array.from(members);
}

/** Applies a file's rules to a model. `group:` selectors need the build. */
export function resolveOverrides(file: OverrideFile, index: NodeIndex, build: BuildFacts | null): ResolvedRules {
  const size = index.nodes.length;
  const winner = new Int32Array(size).fill(-1);
  const marks = new Marks(size);
  const matches = file.rules.map((rule): RuleMatch => {
    const { selected, nodes } = select(rule, index, build, marks);
    return { rule, selected, nodes, effective: 0 };
  });
  for (const [r, match] of matches.entries()) for (const node of match.nodes) winner[node] = r;
  for (const r of winner) {
    const match = matches[r];
    if (match) match.effective++;
  }
  return { matches, winner };
}

type Selected = Pick<RuleMatch, 'selected' | 'nodes'>;

/** What was selected by rules of this text, in whatever line: the next keystroke asks for nearly all of them again. */
const selections = new WeakMap<NodeIndex, { build: BuildFacts | null; found: Map<string, Selected> }>();

function select(rule: Rule, index: NodeIndex, build: BuildFacts | null, marks: Marks): Selected {
  let known = selections.get(index);
  if (known?.build !== build || known.found.size > 50_000) selections.set(index, (known = { build, found: new Map() }));
  let answer = known.found.get(rule.text);
  if (!answer) {
    const selected = rule.selectors.map((selector) => selectNodes(selector, index, build));
    const [first = none] = selected;
    const nodes = !rule.usable ? none : selected.length === 1 ? first : combine(rule, selected, marks);
    known.found.set(rule.text, (answer = { selected, nodes }));
  }
  return answer;
}

function combine(rule: Rule, selected: Int32Array[], marks: Marks): Int32Array {
  marks.clear();
  for (const [i, selector] of rule.selectors.entries()) {
    for (const node of selected[i] ?? none) marks.set(node, !selector.negated);
  }
  return marks.list();
}

/** A set of positions that can be emptied without touching every entry. */
class Marks {
  private readonly state: Uint8Array;
  private touched: number[] = [];

  constructor(size: number) {
    this.state = new Uint8Array(size);
  }

  clear(): void {
    for (const node of this.touched) this.state[node] = 0;
    this.touched = [];
  }

  set(node: number, on: boolean): void {
    if (this.state[node] === 0) this.touched.push(node);
    this.state[node] = on ? 2 : 1;
  }

  list(): Int32Array {
    return Int32Array.from(this.touched.filter((node) => this.state[node] === 2)).sort();
  }
}

/** Shorter lists than this are written out where a ForeignNode would say it, too: its name lasts until the next build. */
const fewSelectors = 12;

/**
 * Short selectors that select exactly these nodes (positions) of those that accept a precision: the whole model, whole
 * modules, whole operator types, and names for the rest, or a whole ForeignNode where that is much shorter. Nodes in
 * `also` may be selected, too. Nodes that share a name with others can only be taken together with them.
 */
export function selectorsForNodes(
  positions: readonly number[],
  index: NodeIndex,
  build: BuildFacts | null = null,
  also: ReadonlySet<number> = new Set(),
): string[] {
  const wanted = new Set(positions.filter((i) => index.nodes[i] !== undefined));
  if (wanted.size === 0) return [];
  const fits = (i: number) => wanted.has(i) || also.has(i) || index.computes[i] !== 1;
  if (wanted.size > 2 && index.nodes.every((_, i) => fits(i))) return ['**'];
  const rest = new Set(wanted);
  const selectors: string[] = [];
  const take = (selector: string, found: Int32Array, least: number) => {
    const own = found.filter((i) => rest.has(i));
    if (own.length < least || !found.every(fits)) return;
    selectors.push(selector);
    for (const i of own) rest.delete(i);
  };
  const ops = new Set([...wanted].map((i) => index.nodes[i]?.op ?? '').filter(isBareName));
  if (ops.size === 1) for (const op of ops) take(`op:${op}`, index.ofOp(op, null), 2);
  for (const pattern of modulesOf(wanted, index)) take(pattern, index.matching(pattern), 3);
  for (const op of ops) take(`op:${op}`, index.ofOp(op, null), 3);
  const names = new Set([...rest].sort((a, b) => a - b).map((i) => index.names[i] ?? ''));
  const all = [...selectors, ...[...names].map(writeName)];
  const group = all.length > fewSelectors ? wholeGroup(wanted, fits, index, build) : null;
  return group === null ? all : [group];
}

function wholeGroup(
  wanted: ReadonlySet<number>,
  fits: (position: number) => boolean,
  index: NodeIndex,
  build: BuildFacts | null,
): string | null {
  if (!build || build.nodes.length < index.nodes.length) return null;
  const { foreign } = buildIndexOf(build);
  const group = foreign[[...wanted][0] ?? -1] ?? -1;
  if (group < 0 || [...wanted].some((i) => foreign[i] !== group)) return null;
  if (!foreign.every((own, i) => own !== group || fits(i))) return null;
  return `group:${quoteName(build.foreignNodes[group]?.name ?? '')}`;
}

/** Patterns of the modules above the nodes, the widest first. */
function modulesOf(wanted: ReadonlySet<number>, index: NodeIndex): string[] {
  const modules = new Set<string>();
  for (const i of wanted) {
    const name = index.names[i] ?? '';
    for (let slash = name.indexOf('/', 1); slash > 0; slash = name.indexOf('/', slash + 1))
      modules.add(name.slice(0, slash));
  }
  return [...modules]
    .filter((module) => isBareName(module))
    .sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
    .map((module) => `${module}/**`);
}

/** Positions of names, in ascending order. */
type Positions = ArrayLike<number>;

/**
 * Finds the names that a pattern matches, or that share rare parts with a text, without trying all: by the plain
 * beginning in the sorted names, otherwise by the rarest three characters.
 */
export class NameIndex {
  readonly #names: readonly string[];
  /** Positions in the order of their names. */
  readonly #sorted: Uint32Array;
  #trigrams: Trigrams | null = null;

  constructor(names: readonly string[]) {
    this.#names = names;
    this.#sorted = Uint32Array.from(names, (_, i) => i).sort((a, b) =>
      names[a]! < names[b]! ? -1 : names[a] === names[b] ? a - b : 1,
    );
  }

  /** Positions of the names that match a glob pattern. */
  matching(pattern: string): Int32Array {
    const glob = compileGlob(pattern);
    const found: number[] = [];
    const candidates = this.#withPrefix(glob.prefix) ?? this.#rarest(glob.literals);
    if (candidates === null) {
      for (const [i, name] of this.#names.entries()) if (matchesGlob(glob, name)) found.push(i);
    } else {
      for (let at = 0; at < candidates.length; at++) {
        const i = candidates[at]!;
        if (matchesGlob(glob, this.#names[i]!)) found.push(i);
      }
    }
    return Int32Array.from(found).sort();
  }

  /** Positions of the names with these three characters, none of which is beyond the end of `text`. */
  having(text: string, at: number): Positions {
    this.#trigrams ??= new Trigrams(this.#names);
    return this.#trigrams.having(text, at);
  }

  /** null: more names begin like this than are worth trying. */
  #withPrefix(prefix: string): Positions | null {
    if (prefix === '') return null;
    const from = this.#firstNotBefore(prefix);
    // No name goes on with a character beyond the last one.
    const to = this.#firstNotBefore(`${prefix}\uffff\uffff`);
    return to - from <= fewNames ? this.#sorted.subarray(from, to) : null;
  }

  #firstNotBefore(text: string): number {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#names[this.#sorted[middle]!]! < text) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Positions that contain the rarest trigram of the plain parts; null: no part is long enough. */
  #rarest(literals: readonly string[]): Positions | null {
    let best: Positions | null = null;
    for (const literal of literals) {
      for (let at = 0; at + 3 <= literal.length; at++) {
        const found = this.having(literal, at);
        if (found.length === 0) return found;
        if (best === null || found.length < best.length) best = found;
      }
    }
    return best;
  }
}

/** So many names are tried in less time than the index of their trigrams takes. */
const fewNames = 2000;

/** The names with each three characters: one list of positions, and where in it those of each trigram begin. */
class Trigrams {
  /** By UTF-16 unit: its number, from 1; 0: in no name. */
  readonly #letters = new Uint16Array(1 << 16);
  #count = 0;
  readonly #begins: Uint32Array;
  readonly #positions: Uint32Array;

  constructor(names: readonly string[]) {
    for (const name of names)
      for (let at = 0; at < name.length; at++) {
        const unit = name.charCodeAt(at);
        if (this.#letters[unit] === 0) this.#letters[unit] = ++this.#count;
      }
    // More letters share numbers: then the lists of several trigrams are one, and hold names that lack some of them.
    this.#count = Math.min(this.#count, mostLetters);
    const size = this.#count ** 3;
    const begins = new Uint32Array(size + 1);
    const last = new Int32Array(size).fill(-1);
    this.#each(names, (key, i) => {
      if (last[key] === i) return;
      last[key] = i;
      begins[key + 1]!++;
    });
    for (let key = 0; key < size; key++) begins[key + 1]! += begins[key]!;
    this.#positions = new Uint32Array(begins[size]!);
    const next = begins.slice();
    last.fill(-1);
    this.#each(names, (key, i) => {
      if (last[key] === i) return;
      last[key] = i;
      this.#positions[next[key]!++] = i;
    });
    this.#begins = begins;
  }

  having(text: string, at: number): Positions {
    const key = this.#keyOf(text, at);
    return key < 0 ? [] : this.#positions.subarray(this.#begins[key], this.#begins[key + 1]);
  }

  #each(names: readonly string[], visit: (key: number, name: number) => void): void {
    for (const [i, name] of names.entries())
      for (let at = 0; at + 3 <= name.length; at++) visit(this.#keyOf(name, at), i);
  }

  /** -1: a character is in no name. */
  #keyOf(text: string, at: number): number {
    let key = 0;
    for (let i = at; i < at + 3; i++) {
      const letter = this.#letters[text.charCodeAt(i)]!;
      if (letter === 0) return -1;
      key = key * this.#count + ((letter - 1) % this.#count);
    }
    return key;
  }
}

/** At most so many letters are told apart: their trigrams are a table of 2 million. */
const mostLetters = 128;
