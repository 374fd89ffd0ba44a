// The grammar of TensorRT's layer names.

/** What the text of a layer's or tensor's name says by itself; `parseLayerName` reads a whole one against a model. */

/** `{ForeignNode[a...b]}`, with or without what follows it. */
export const isForeignNodeName = (name: string): boolean => name.startsWith('{ForeignNode[');

/** The whole text is the name of a ForeignNode, its braces or not. */
export const looksLikeForeignNode = (text: string): boolean => /^\{?ForeignNode\[.*\]\}?$/.test(text);

/** The name of a ForeignNode from its first layer on: `a...b]}`. */
export const fromFirstLayer = (name: string): string => name.replace(/^\{ForeignNode\[/, '');

/** The layers that the name of a ForeignNode gives as its first and its last. */
export function endsOfForeignNode(name: string): [first: string[], last: string[]] | undefined {
  const ends = /^\{ForeignNode\[([^]*?)\.\.\.([^]*)\]\}/.exec(name);
  return ends === null ? undefined : [ends[1]!.split(' + '), ends[2]!.split(' + ')];
}

/** The ForeignNode for which a tensor was reformatted: `X` of `Reformatted Input Tensor 0 to X`. */
export const reformattedFor = (tensor: string): string | undefined =>
  /^Reformatted (?:Input|Output) Tensor \d+ to (\{ForeignNode\[[^]*\]\}(?: \[profile \d+\])?)$/.exec(tensor)?.[1];

/** The optimization profile in a name: ` [profile 1]` at its end, or before `_myl…` in a kernel's name; 0 without. */
export function profileOf(name: string): number {
  if (!name.includes(' [profile ')) return 0;
  const match = / \[profile (\d+)\](?:_myl\d+(?:_\d+)?)?$/.exec(name);
  return match ? Number(match[1]) : 0;
}

/** The optimization profile that is named anywhere in a text, as in names of several layers; 0 without. */
export const mentionedProfile = (name: string): number =>
  name.includes(' [profile ') ? Number(/ \[profile (\d+)\]/.exec(name)?.[1] ?? 0) : 0;

/** The name of which this is the copy for a further optimization profile: without ` [profile 1]` at its end. */
export const withoutProfile = (name: string): string => name.replace(/ \[profile \d+\]$/, '');

/** Place of a kernel's ForeignNode among the engine's layers: 2 of `_myl2_14` and `_myl2`; undefined: not a kernel. */
export function kernelRegion(name: string): number | undefined {
  const region = /_myl(\d+)(?:_\d+)?$/.exec(name)?.[1];
  return region === undefined ? undefined : Number(region);
}

/** A kernel with its number in the region, `_myl2_14`: the form in layer information. */
export const isNumberedKernel = (name: string): boolean => /_myl\d+_\d+$/.test(name);

/** A kernel's name without its place: `__myl_Add` of `__myl_Add_myl2_14`. */
export const withoutKernelPlace = (name: string): string => name.replace(/_myl\d+_\d+$/, '');

/** The name that a tensor at a layer's border has in the model: `x` of `x_myl2` and of `x.1_0`. */
export const bareTensorName = (name: string): string => name.replace(/_myl\d+$/, '').replace(/\.\d+(?:_\d+)*$/, '');

/** A kernel's name without its number in the region: `__myl_Add_myl2` of `__myl_Add_myl2_14`. */
export const withoutKernelNumber = (name: string): string => name.replace(/(_myl\d+)_\d+$/, '$1');

/** A name without what Myelin numbers again in every build: `_myl7_12`, `__mye141996_0`, `hvar^65561i64`. */
export const withoutMyelinNumbers = (name: string): string =>
  name
    .replace(/_myl\d+(?:_\d+)?$/, '')
    .replaceAll(/__mye\d+(?:_\d+)?/g, '__mye')
    .replaceAll(/hvar\^\d+/g, 'hvar');

/** A kernel that Myelin made up: its name carries operations, no node. */
export const isMadeUpKernel = (name: string): boolean => name.startsWith('__myl_');

/** A part of a layer's name that TensorRT or Myelin made up, so that no node of a model is called so. */
export const isMadeUpWord = (word: string): boolean =>
  /^(?:__|_gem[mv]_|\$\$|\[)|\(Unnamed |^ONNXTRT_|_myl\d/.test(word);

/** A tensor with the factor alpha or beta of a matrix product, which FP16 kernels take in FP32. */
export const isProductFactor = (tensor: string): boolean => /_(?:alpha|beta)(?:_myl\d+)?$/.test(tensor);

/** A name that no node of a model has, only a layer of an engine. */
export const isEngineLayerName = (name: string): boolean =>
  /^Reformatting CopyNode for |\{ForeignNode\[|^__my/.test(name) || isNumberedKernel(name);

/**
 * The grammar of TensorRT's layer names: what was fused, and how.
 * Names of models may contain every character of the grammar (` + `, `, `, `)`, `...`), so a text is read against the
 * names that the model has, the longest first. Printing a parsed name gives the text back, byte for byte.
 */
export type LayerName =
  /** A layer, node, initializer or tensor; also everything that follows no rule. */
  | { kind: 'atom'; text: string }
  /** `A + B`: vertical fusion. */
  | { kind: 'vertical'; parts: LayerName[] }
  /** `A || B`: horizontal fusion; binds weaker than ` + `. */
  | { kind: 'horizontal'; parts: LayerName[] }
  /** `PWN(A, B)`: pointwise network, may be nested. */
  | { kind: 'pointwise'; parts: LayerName[] }
  /** `{ForeignNode[A...B]}`, `{ForeignNode[A]}`: the first and last layer of a Myelin region in TensorRT's order. */
  | { kind: 'foreign'; first: LayerName; last: LayerName | null }
  /** `Reformatting CopyNode for Input Tensor 0 to X`. */
  | { kind: 'reformat'; side: 'Input' | 'Output'; index: number; of: LayerName }
  /** `T copy`: the copy of a tensor that a concatenation or a slice left behind. */
  | { kind: 'copy'; tensor: string }
  /** `reshape_before_X`: a layer that TensorRT added next to X. */
  | { kind: 'helper'; prefix: string; of: LayerName }
  /** `X_myl3_14`, `__myl_AddTanh_myl0_2`: kernel 14 of the Myelin region that is number 3 among the engine's layers. */
  | { kind: 'kernel'; base: string; profile: number | null; group: number; index: number | null }
  /** `X [profile 1]`: the copy for a further optimization profile. */
  | { kind: 'profile'; of: LayerName; profile: number };

/** The names against which a text is read. */
export interface KnownNames {
  has(name: string): boolean;
  /** Length of the longest of them: no longer piece needs to be looked up. */
  longest: number;
}

/** No names known: every rule of the grammar applies wherever it can. */
export const noNames: KnownNames = { has: () => false, longest: 0 };

/** Prefixes of layers that the optimizer puts next to another. */
const helperPrefix =
  /^(?:copied_)?(?:reshape|transpose|squeeze|unsqueeze|shuffle|cast|identity)_(?:node_)?(?:before|after)_/;
/** `(Unnamed Layer* 29) [Shuffle]`: TensorRT's name for a layer without one. */
const unnamed = /\(Unnamed Layer\* \d+\) \[[^\]]*\](?:_output(?:_\d+)?|_clone_\d+)?/y;
const reformat = /^Reformatting CopyNode for (Input|Output) Tensor (0|[1-9]\d{0,8}) to ([^]+)$/;
const kernel = /^([^]*?)(?: \[profile (0|[1-9]\d{0,8})\])?_myl(0|[1-9]\d{0,8})(?:_(0|[1-9]\d{0,8}))?$/;
const profileSuffix = /^([^]+) \[profile (0|[1-9]\d{0,8})\]$/;
/** Deeper nesting than this is not a name that TensorRT wrote. */
const deepest = 64;
/** In how many ways ForeignNodes' names are read, those inside others included: one has `...` once or twice. */
const mostReadings = 101;

/** Reads a layer's name; never fails, at worst the whole text is one atom. */
export function parseLayerName(text: string, known: KnownNames = noNames): LayerName {
  return new Parser(text, known).whole(0);
}

/** The text of a name, exactly as TensorRT would write it. */
export function printLayerName(name: LayerName): string {
  switch (name.kind) {
    case 'atom':
      return name.text;
    case 'vertical':
      return name.parts.map(printLayerName).join(' + ');
    case 'horizontal':
      return name.parts.map(printLayerName).join(' || ');
    case 'pointwise':
      return `PWN(${name.parts.map(printLayerName).join(', ')})`;
    case 'foreign':
      return `{ForeignNode[${printLayerName(name.first)}${name.last ? `...${printLayerName(name.last)}` : ''}]}`;
    case 'reformat':
      return `Reformatting CopyNode for ${name.side} Tensor ${name.index} to ${printLayerName(name.of)}`;
    case 'copy':
      return `${name.tensor} copy`;
    case 'helper':
      return name.prefix + printLayerName(name.of);
    case 'kernel':
      return `${name.base}${name.profile === null ? '' : ` [profile ${name.profile}]`}_myl${name.group}${
        name.index === null ? '' : `_${name.index}`
      }`;
    case 'profile':
      return `${printLayerName(name.of)} [profile ${name.profile}]`;
  }
}

/** The atoms of a fused name, in order. A reformat, a copy and a kernel have none: they name what is next to them. */
export function atomsOf(name: LayerName): string[] {
  switch (name.kind) {
    case 'atom':
      return [name.text];
    case 'vertical':
    case 'horizontal':
    case 'pointwise':
      return name.parts.flatMap(atomsOf);
    case 'foreign':
      return [...atomsOf(name.first), ...(name.last ? atomsOf(name.last) : [])];
    case 'helper':
    case 'profile':
      return atomsOf(name.of);
    default:
      return [];
  }
}

const isForeign = (text: string): boolean => text.startsWith('{ForeignNode[') && text.endsWith(']}');

class Parser {
  readonly #text: string;
  readonly #known: KnownNames;
  /** Every place where a piece can end: before ` + `, ` || `, `, `, `)`, and at the end. */
  readonly #ends: number[] = [];
  readonly #allKnown: boolean;
  /** Spares a parse that failed inside a `PWN(` from being tried again. */
  #notPointwise: Set<number> | undefined;
  /** Shared with the readings of all parts: each may have as many of its own, and so on inside. */
  readonly #readings: { left: number };

  constructor(text: string, known: KnownNames, readings = { left: mostReadings }) {
    this.#text = text;
    this.#known = known;
    this.#readings = readings;
    this.#allKnown = text.length <= known.longest && known.has(text);
    for (let i = 0; i < text.length; i++) {
      const c = text.charCodeAt(i);
      if (c === 0x29 || (c === 0x2c && text[i + 1] === ' ') || this.#isSeparator(i)) this.#ends.push(i);
    }
    this.#ends.push(text.length);
  }

  #isSeparator(i: number): boolean {
    const text = this.#text;
    return text[i] === ' ' && (text.startsWith(' + ', i) || text.startsWith(' || ', i));
  }

  whole(depth: number): LayerName {
    const text = this.#text;
    if (this.#allKnown || depth > deepest) return { kind: 'atom', text };
    const [fused, fusedEnd] = this.#horizontal(0, false, depth);
    // Names of the model come first: one of them may end like a copy, a kernel or a profile's layer.
    if (fusedEnd === text.length && fused.kind !== 'atom' && this.#isKnown(fused)) return fused;
    const inner = (of: string) => new Parser(of, this.#known, this.#readings).whole(depth + 1);
    let match = profileSuffix.exec(text);
    if (match) return { kind: 'profile', of: inner(match[1]!), profile: Number(match[2]) };
    if (isForeign(text)) return this.#foreign(text.slice('{ForeignNode['.length, -2), inner);
    match = reformat.exec(text);
    if (match) {
      return { kind: 'reformat', side: match[1] as 'Input' | 'Output', index: Number(match[2]), of: inner(match[3]!) };
    }
    match = text.includes('_myl') ? kernel.exec(text) : null;
    if (match) {
      const [, base = '', profile, group, index] = match;
      return {
        kind: 'kernel',
        base,
        profile: profile === undefined ? null : Number(profile),
        group: Number(group),
        index: index === undefined ? null : Number(index),
      };
    }
    if (text.endsWith(' copy') && text.length > 5) return { kind: 'copy', tensor: text.slice(0, -5) };
    return fusedEnd === text.length ? fused : { kind: 'atom', text };
  }

  #isKnown(name: LayerName): boolean {
    return atomsOf(name).every((atom) => this.#known.has(atom) || isUnnamed(atom));
  }

  /** Of all places where `A...B` could be cut, the last where both ends are names of the model, otherwise the first. */
  #foreign(text: string, inner: (of: string) => LayerName): LayerName {
    const cuts: number[] = [];
    for (let at = text.indexOf('...', 1); at >= 0 && cuts.length < 100; at = text.indexOf('...', at + 1)) {
      if (at + 3 < text.length) cuts.push(at);
    }
    if (cuts.length === 0) return { kind: 'foreign', first: inner(text), last: null };
    const cutAt = (at: number) => ({ first: inner(text.slice(0, at)), last: inner(text.slice(at + 3)) });
    for (const at of cuts.toReversed()) {
      if (this.#readings.left-- <= 0) break;
      const both = cutAt(at);
      if (this.#isKnown(both.first) && this.#isKnown(both.last)) return { kind: 'foreign', ...both };
    }
    const single = this.#readings.left-- > 0 ? inner(text) : null;
    if (single && this.#isKnown(single)) return { kind: 'foreign', first: single, last: null };
    return { kind: 'foreign', ...cutAt(cuts[0]!) };
  }

  #horizontal(from: number, inside: boolean, depth: number): [LayerName, number] {
    return this.#list(' || ', 'horizontal', from, (at) =>
      this.#list(' + ', 'vertical', at, (start) => this.#item(start, inside, depth)),
    );
  }

  #list(
    separator: string,
    kind: 'horizontal' | 'vertical',
    from: number,
    item: (at: number) => [LayerName, number],
  ): [LayerName, number] {
    const parts: LayerName[] = [];
    let [part, end] = item(from);
    parts.push(part);
    while (this.#text.startsWith(separator, end)) {
      [part, end] = item(end + separator.length);
      parts.push(part);
    }
    return [parts.length === 1 ? parts[0]! : { kind, parts }, end];
  }

  #item(from: number, inside: boolean, depth: number): [LayerName, number] {
    const longest = this.#longestKnown(from, inside);
    if (longest > from) return [{ kind: 'atom', text: this.#text.slice(from, longest) }, longest];
    if (this.#text.startsWith('PWN(', from) && depth < deepest && !this.#notPointwise?.has(from)) {
      const found = this.#pointwise(from, inside, depth);
      if (found) return found;
      (this.#notPointwise ??= new Set()).add(from);
    }
    const end = this.#unknownEnd(from, inside);
    const text = this.#text.slice(from, end);
    const prefix = helperPrefix.exec(text)?.[0];
    if (prefix && prefix.length < text.length) {
      return [{ kind: 'helper', prefix, of: { kind: 'atom', text: text.slice(prefix.length) } }, end];
    }
    return [{ kind: 'atom', text }, end];
  }

  #pointwise(from: number, inside: boolean, depth: number): [LayerName, number] | null {
    const parts: LayerName[] = [];
    let at = from + 4;
    for (;;) {
      const [part, end] = this.#horizontal(at, true, depth + 1);
      if (end === at) return null;
      parts.push(part);
      if (this.#text.startsWith(', ', end)) {
        at = end + 2;
      } else if (this.#text[end] === ')' && this.#isEnd(end + 1, inside)) {
        return [{ kind: 'pointwise', parts }, end + 1];
      } else {
        return null;
      }
    }
  }

  #isEnd(at: number, inside: boolean): boolean {
    const text = this.#text;
    if (at === text.length || this.#isSeparator(at)) return true;
    return inside && (text[at] === ')' || text.startsWith(', ', at));
  }

  /** End of the longest known name that starts here and is followed by a separator; `from` if there is none. */
  #longestKnown(from: number, inside: boolean): number {
    let low = 0;
    let high = this.#ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#ends[middle]! - from <= this.#known.longest) low = middle + 1;
      else high = middle;
    }
    for (let i = low - 1; i >= 0 && this.#ends[i]! > from; i--) {
      const end = this.#ends[i]!;
      if (this.#isEnd(end, inside) && this.#known.has(this.#text.slice(from, end))) return end;
    }
    return from;
  }

  /** End of a name that the model does not have: the next separator outside its own parentheses. */
  #unknownEnd(from: number, inside: boolean): number {
    unnamed.lastIndex = from;
    const match = unnamed.exec(this.#text);
    if (match && this.#isEnd(from + match[0].length, inside)) return from + match[0].length;
    let open = 0;
    for (let at = from; at < this.#text.length; at++) {
      const c = this.#text[at];
      if (open === 0 && at > from && this.#isEnd(at, inside)) return at;
      if (c === '(') open++;
      else if (c === ')' && open > 0) open--;
    }
    return this.#text.length;
  }
}

function isUnnamed(text: string): boolean {
  unnamed.lastIndex = 0;
  return unnamed.exec(text)?.[0].length === text.length;
}

/** One `[ONNX Layer: …]` of a layer's metadata. */
export interface MetadataToken {
  /** Everything between `[ONNX Layer: ` and `]`. */
  text: string;
  /**
   * The parts between ` | `: the node, then for a node inside a branch its graph and attribute (`then_branch (then_branch)`)
   * and the owner (`if (If)`), for one inside a function `Local Function: name`. A node's name may itself contain ` | `.
   */
  parts: string[];
}

/** What a layer's metadata says. */
export interface LayerMetadata {
  tokens: MetadataToken[];
  /** True where a token lost its beginning or end: the parser cuts metadata over 4000 characters to `first ... last`. */
  cut: boolean;
  /** Text that is no token: metadata of another writer (Torch-TensorRT), or the remains of a cut. */
  rest: string;
}

const opening = '[ONNX Layer: ';
const adjacent = `]${opening}`;

/**
 * Splits metadata into its tokens. U+001E separates layers that TensorRT fused, U+001F nodes inside a Myelin kernel;
 * in some logs the tokens are adjacent. `likeTokens`: the names that contain all of this (`readsLikeTokens`).
 */
export function parseMetadata(text: string, likeTokens: ReadonlySet<string> = new Set()): LayerMetadata {
  const found: { from: number; to: number }[] = [];
  const rest: string[] = [];
  let cut = false;
  let end = -1;
  // A name may contain a separator: one that separates has a token after it, or nothing.
  for (const piece of text.split(/[\u001e\u001f](?=[\u001e\u001f]|\[ONNX Layer: |$)|(?<=\])[\u001e\u001f]/)) {
    const place = end + 1;
    end = place + piece.length;
    if (piece === '') continue;
    const start = piece.indexOf(opening);
    if (start !== 0) rest.push(start < 0 ? piece : piece.slice(0, start));
    if (start < 0) continue;
    let from = start + opening.length;
    for (;;) {
      const next = piece.indexOf(adjacent, from);
      if (next < 0) break;
      found.push({ from: place + from, to: place + next });
      from = next + adjacent.length;
    }
    if (piece.endsWith(']') && piece.length > from) found.push({ from: place + from, to: end - 1 });
    else if (/^\s*$/.test(piece.slice(from))) cut = true;
    else {
      // A last token may be followed by text of another kind (`…] something`); without a bracket it was cut off.
      const close = piece.lastIndexOf(']');
      if (close > from) found.push({ from: place + from, to: place + close });
      else cut = true;
      rest.push(piece.slice(Math.max(close + 1, from)));
    }
  }
  return { tokens: readTokens(text, found, likeTokens), cut, rest: rest.join(' ').trim() };
}

/** Whether metadata that has this name seems to have several. */
export const readsLikeTokens = (name: string): boolean => name.includes(opening);

/** Tokens at these places; several are one where they are such a name, the longest first. */
function readTokens(
  text: string,
  found: readonly { from: number; to: number }[],
  likeTokens: ReadonlySet<string>,
): MetadataToken[] {
  let longest = 0;
  for (const { length } of likeTokens) longest = Math.max(longest, length);
  const tokens: MetadataToken[] = [];
  for (let at = 0; at < found.length; at++) {
    const { from } = found[at]!;
    for (let last = at + 1; last < found.length && found[last]!.to - from <= longest; last++)
      if (likeTokens.has(text.slice(from, found[last]!.to))) at = last;
    const whole = text.slice(from, found[at]!.to);
    tokens.push({ text: whole, parts: whole.split(' | ') });
  }
  return tokens;
}

/** Metadata as TensorRT writes it for tokens of a fused layer (U+001E) or a kernel (U+001F). */
export function printMetadata(names: string[], separator = '\u001e'): string {
  return names.map((name) => `${opening}${name}]`).join(separator);
}

/** The modules in a name, outermost first: `/blocks/blocks.0/attn/Mul` gives `blocks`, `blocks.0`, `attn`. */
export function scopeOf(name: string, scope: string | undefined): string[] {
  if (scope !== undefined) return scope.split('/').filter((part) => part !== '');
  if (name.includes('/'))
    return name
      .split('/')
      .slice(0, -1)
      .filter((part) => part !== '');
  const parts: string[] = [];
  for (const part of name.split('.')) {
    // `layers.0.attn`: the number belongs to what it counts.
    if (/^\d+$/.test(part) && parts.length > 0) parts[parts.length - 1] += `.${part}`;
    else if (part !== '') parts.push(part);
  }
  return parts.slice(0, -1);
}

const noScope: { scope?: string } = {};

/** torch.onnx (dynamo) writes a Python list of nested scopes, each with its parents in it: `['', 'encoder', 'encoder.0', 'linear']`. */
export function scopeFrom(metadata: readonly { key: string; value: string }[]): { scope?: string } {
  const list = metadata.find(({ key }) => key === 'pkg.torch.onnx.name_scopes')?.value;
  if (list === undefined) return noScope;
  const scopes = [...list.matchAll(/'((?:[^'\\]|\\(?:.|$))*)(?:'|$)|"((?:[^"\\]|\\(?:.|$))*)(?:"|$)/gs)].map(
    (found) => found[1] ?? found[2] ?? '',
  );
  // The last entry is the node itself; each scope repeats its parent's text.
  const parts: string[] = [];
  let parent = '';
  for (const scope of scopes.slice(0, -1)) {
    if (scope === '') continue;
    parts.push(parent !== '' && scope.startsWith(`${parent}.`) ? scope.slice(parent.length + 1) : scope);
    parent = scope;
  }
  return parts.length === 0 ? {} : { scope: parts.map((part) => part.replaceAll('/', '.')).join('/') };
}
