import { closestWords } from '../../../kernel/base/text.ts';
import type { NodeIndex } from '../../../kernel/rules/resolveOverrides.ts';

/** The segments and modules of a model's names, found once for a model. */
interface Parts {
  /** Segments with every number as 0, by their lower case. */
  segments: Map<string, string>;
  /** Modules as PyTorch writes them (`bert.encoder.layer.0`) with their paths, by their last word. */
  modules: Map<string, Map<string, string>>;
  /** The nearest segments of those that were requested. */
  near: Map<string, string[]>;
}

/** In longer lists of segments nothing is looked for. */
const mostSegments = 3000;

const known = new WeakMap<NodeIndex, Parts>();

function partsOf(index: NodeIndex): Parts {
  let parts = known.get(index);
  if (parts) return parts;
  parts = { segments: new Map(), modules: new Map(), near: new Map() };
  for (const name of index.names) {
    for (const segment of name.split('/')) {
      const plain = segment.replace(/\d+/g, '0');
      parts.segments.set(plain.toLowerCase(), plain);
    }
    for (let slash = name.indexOf('/', 1); slash > 0; slash = name.indexOf('/', slash + 1)) {
      const module = name.slice(0, slash);
      const dotted = module.replace(/^\//, '').replaceAll('/', '.');
      const last = lastWord(dotted);
      const known = parts.modules.get(last) ?? new Map<string, string>();
      parts.modules.set(last, known.set(dotted, module));
    }
  }
  known.set(index, parts);
  return parts;
}

/** The pattern that selects nothing with each segment that no name has spelled as the names do; null: that selects nothing either. */
export function nearPattern(pattern: string, index: NodeIndex): string | null {
  const parts = partsOf(index);
  const spelled = pattern.split('/').map((segment) => spellSegment(segment, parts));
  if (spelled.includes(null)) return null;
  const near = spelled.join('/');
  return near !== pattern && index.matching(near).length > 0 ? near : null;
}

/** A segment as the model writes it, numbers and stars kept; null: there is none like it. */
function spellSegment(segment: string, parts: Parts): string | null {
  if (segment === '' || /^\*+$|[?[]/.test(segment)) return segment;
  const holes = segment.match(/\d+|\*+/g) ?? [];
  const plain = segment.replace(/\d+|\*+/g, '0').toLowerCase();
  const own = parts.segments.get(plain);
  let near = own === undefined ? parts.near.get(plain) : [plain];
  if (!near) {
    // Names that all differ, such as numbers, have no meaningful one.
    near = parts.segments.size > mostSegments ? [] : closestWords(plain, [...parts.segments.keys()], 3);
    parts.near.set(plain, near);
  }
  const fitting = near
    .map((key) => parts.segments.get(key) ?? '')
    .find((one) => one.split('0').length - 1 === holes.length);
  if (fitting === undefined) return /\*/.test(segment) && own === undefined ? segment : null;
  let hole = 0;
  return fitting.replaceAll('0', () => holes[hole++] ?? '0');
}

/** The module that a dotted name as PyTorch's means, or its end: its path; null: none. */
export function moduleOfDotted(dotted: string, index: NodeIndex): string | null {
  if (!dotted.includes('.') || dotted.includes('/')) return null;
  const name = dotted.replace(/\.(?:weight|bias)$/, '');
  const modules = partsOf(index).modules.get(lastWord(name));
  const exact = modules?.get(name);
  if (exact !== undefined) return exact;
  for (const [key, module] of modules ?? []) if (key.endsWith(`.${name}`)) return module;
  return null;
}

function lastWord(dotted: string): string {
  return dotted.slice(dotted.lastIndexOf('.') + 1);
}
