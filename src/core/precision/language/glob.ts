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
