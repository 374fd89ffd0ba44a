import { before } from '../../build/trtexecFlags.ts';
import type { Version } from '../../build/trtexecFlags.ts';

/** How a version of trtexec reads `--layerPrecisions` and `--layerOutputTypes`. */
export interface TrtexecDialect {
  /** 8.6 and later: `'name':type`, exactly two single quotes. Before, quotes are only taken off. */
  quotes: boolean;
  /** 9.x and 10.x: one `*` a name. Before, only a name that is `*` alone is special: the default of all others. */
  wildcard: boolean;
}

/** The dialect of a version; unknown versions are read as the newest that had the flags, 10.16. */
export function dialectOf(version: Version | null): TrtexecDialect {
  if (!version) return { quotes: true, wildcard: true };
  return { quotes: !before(version, [8, 6, 0]), wildcard: !before(version, [9, 0, 0]) };
}

/** One `name:value` of a spec after trtexec's own reading; a later one with the same name has replaced earlier ones. */
export interface LayerSpec {
  name: string;
  /** One type of `--layerPrecisions`; one or more of `--layerOutputTypes`. */
  types: string[];
}

/** What trtexec makes of the value of `--layerPrecisions` or `--layerOutputTypes`; it stops at the first item that it cannot read. */
export function readLayerSpecs(
  value: string,
  flag: 'layerPrecisions' | 'layerOutputTypes',
  dialect: TrtexecDialect,
): { specs: LayerSpec[]; error: string | null } {
  const specs = new Map<string, LayerSpec>();
  for (const item of separate(value, ',', dialect)) {
    const pair = readItem(item, dialect);
    if (typeof pair === 'string') return { specs: [...specs.values()], error: pair };
    const types = flag === 'layerPrecisions' ? [pair.value] : separate(pair.value, '+', dialect);
    specs.set(pair.name, { name: pair.name, types });
  }
  return { specs: [...specs.values()], error: null };
}

/** Splits as trtexec does: an empty text has no parts, and before 9.0 nothing after a last separator is no part. */
function separate(text: string, separator: string, dialect: TrtexecDialect): string[] {
  if (text === '') return [];
  const parts = text.split(separator);
  if (parts.at(-1) === '' && !dialect.wildcard) parts.pop();
  return parts;
}

/** Name and value of one item, or why trtexec rejects it. */
function readItem(item: string, dialect: TrtexecDialect): { name: string; value: string } | string {
  if (item === '') return 'There is nothing between two commas.';
  const quoted = dialect.quotes ? separate(item, "'", dialect) : [item];
  if (quoted.length !== 1) {
    const [before = '', inside = '', after = ''] = quoted;
    if (quoted.length !== 3 || after === '') return `"${item}" does not have the form 'name':type.`;
    return { name: before + inside, value: after.slice(1) };
  }
  const body = !dialect.wildcard && item.endsWith(':') ? item.slice(0, -1) : item;
  const colon = body.lastIndexOf(':');
  // Without a colon trtexec takes the word for both.
  const name = colon < 0 ? body : body.slice(0, colon);
  return { name: name.replaceAll("'", ''), value: body.slice(colon + 1) };
}

/**
 * Which specs apply to a layer: the exact one, otherwise all that trtexec may pick from (their order is that of a hash
 * table).
 */
export interface SpecChoice {
  exact: boolean;
  specs: LayerSpec[];
}

/** Looks a layer up as trtexec does; null: no spec matches. */
export function specFor(layer: string, specs: readonly LayerSpec[], dialect: TrtexecDialect): SpecChoice | null {
  const exact = specs.find(({ name }) => name === layer);
  if (exact) return { exact: true, specs: [exact] };
  const fitting = specs.filter(({ name }) => (dialect.wildcard ? fits(name, layer) : name === '*'));
  return fitting.length > 0 ? { exact: false, specs: fitting } : null;
}

/** Whether a name with one wildcard matches a layer: the first `*` stands for any text, further ones for themselves. */
export function fits(pattern: string, layer: string): boolean {
  const star = pattern.indexOf('*');
  if (star < 0) return pattern === layer;
  const tail = pattern.slice(star + 1);
  return layer.length >= star + tail.length && layer.startsWith(pattern.slice(0, star)) && layer.endsWith(tail);
}

/** Why a name cannot be given to trtexec as an exact name, as half a sentence; null: it can. */
export function cannotCarry(name: string, dialect: TrtexecDialect, others: Iterable<string> = []): string | null {
  if (name.includes(',')) return 'trtexec splits the name at its comma';
  if (name.includes("'")) return 'trtexec removes its single quote';
  if (name.includes('\0')) return 'an argument cannot contain its NUL character';
  if (name === '') return 'it has no name';
  if (!dialect.wildcard) return name === '*' ? 'trtexec reads "*" as all other layers' : null;
  if (!name.includes('*')) return null;
  for (const other of others) {
    if (other !== name && fits(name, other))
      return `trtexec reads its "*" as a wildcard, which also matches ${JSON.stringify(other)}`;
  }
  return null;
}

/** The value of `--layerPrecisions` or `--layerOutputTypes` for specs with names that trtexec can carry. */
export function writeLayerSpecs(specs: readonly LayerSpec[]): string {
  return specs.map(({ name, types }) => `${name}:${types.join('+')}`).join(',');
}
