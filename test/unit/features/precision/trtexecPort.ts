/**
 * trtexec's own reading and matching of layer specs, rule by rule as its sources have it (sampleOptions, sampleUtils),
 * C++ quirks included. It shares nothing with the product: the differential test holds one against the other.
 */
export interface PortedDialect {
  /** Before 9.0 a separator at the end leaves no empty last part. */
  keepsEmptyTail: boolean;
  quotes: boolean;
  wildcard: boolean;
}

export const ported = {
  v84: { keepsEmptyTail: false, quotes: false, wildcard: false },
  v86: { keepsEmptyTail: false, quotes: true, wildcard: false },
  v10: { keepsEmptyTail: true, quotes: true, wildcard: true },
} satisfies Record<string, PortedDialect>;

export class InvalidArgument extends Error {}

function splitToVector(text: string, separator: string, maxSplit: number, dialect: PortedDialect): string[] {
  const result: string[] = [];
  let start = 0;
  while (start < text.length) {
    if (maxSplit >= 0 && result.length === maxSplit) {
      result.push(text.substring(start));
      break;
    }
    let at = text.indexOf(separator, start);
    if (at === -1) at = text.length;
    result.push(text.substring(start, at));
    if (dialect.keepsEmptyTail && at === text.length - 1) result.push('');
    start = at + 1;
  }
  return result;
}

function splitNameAndValue(text: string, dialect: PortedDialect): [string, string] {
  if (dialect.quotes) {
    const parts = splitToVector(text, "'", -1, dialect);
    if (parts.length !== 1) {
      if (parts.length !== 3) throw new InvalidArgument('wrong number of quotes');
      const tail = parts[2] as string;
      if (tail.length < 1) throw new InvalidArgument('out of range');
      return [(parts[0] as string) + (parts[1] as string), tail.substring(1)];
    }
  }
  const parts = splitToVector(text, ':', -1, dialect);
  if (parts.length === 0) throw new InvalidArgument('undefined behavior on an empty item');
  let name = parts[0] as string;
  for (let i = 1; i < parts.length - 1; i++) name += ':' + (parts[i] as string);
  return [name, parts[parts.length - 1] as string];
}

function withoutQuotes(text: string, dialect: PortedDialect): string {
  let result = '';
  for (const part of splitToVector(text, "'", -1, dialect)) result += part;
  return result;
}

/** The map that the flag fills; throws where trtexec throws, but for unknown type words, which the caller checks. */
export function layerPrecisions(value: string, dialect: PortedDialect): Map<string, string> {
  const map = new Map<string, string>();
  for (const item of splitToVector(value, ',', -1, dialect)) {
    const [name, type] = splitNameAndValue(item, dialect);
    map.set(withoutQuotes(name, dialect), type);
  }
  return map;
}

export function layerOutputTypes(value: string, dialect: PortedDialect): Map<string, string[]> {
  const map = new Map<string, string[]>();
  for (const item of splitToVector(value, ',', -1, dialect)) {
    const [name, types] = splitNameAndValue(item, dialect);
    map.set(withoutQuotes(name, dialect), splitToVector(types, '+', -1, dialect));
  }
  return map;
}

export function matchWithOneWildcard(pattern: string, target: string, dialect: PortedDialect): boolean {
  const parts = splitToVector(pattern, '*', 1, dialect);
  // An empty pattern has no parts at all in C++, and reading the first is undefined: no layer has an empty name.
  if (parts.length === 0) return pattern === target;
  if (parts.length === 1) return pattern === target;
  const [head, tail] = parts as [string, string];
  return (
    target.length >= head.length + tail.length &&
    target.indexOf(head) === 0 &&
    target.lastIndexOf(tail) === target.length - tail.length
  );
}

/** Keys that may decide for a layer: the exact one alone, else every plausible one (a hash table's order picks). */
export function plausible<T>(
  map: Map<string, T>,
  layer: string,
  dialect: PortedDialect,
): { exact: boolean; keys: string[] } {
  if (map.has(layer)) return { exact: true, keys: [layer] };
  if (!dialect.wildcard) return { exact: false, keys: map.has('*') ? ['*'] : [] };
  return { exact: false, keys: [...map.keys()].filter((key) => matchWithOneWildcard(key, layer, dialect)) };
}
