import type { ReportLayer, ReportNode } from '../fusion/fusionReport.ts';
import { counted, percentText, timeText } from '../text/numbers.ts';
import { oneLine } from '../text/oneLine.ts';

/** A longer layer name loses its middle: it may have hundreds of parts. */
export const longestName = 120;

/**
 * Facts in a row: `93 % · 453 nodes · 209 kernels`. A pair is a number with its noun; what is false or empty is
 * omitted.
 */
export function phrase(parts: (string | false | [number, string])[]): string {
  return parts
    .map((part) => (Array.isArray(part) ? counted(part[0], part[1]) : part))
    .filter((part): part is string => part !== false && part !== '')
    .join(' · ');
}

/** Share of time of a group, or its time where the whole is not known; false if it was not measured. */
export const aboutTime = (share: number | null, ms: number | null): string | false =>
  ms === null ? false : share === null ? timeText(ms) : percentText(share * 100);

/** A layer by its own name, in one line; by its type if it has none. */
export function layerLabel(layer: ReportLayer): string {
  const name = oneLine(layer.name.replace(/^Reformatting CopyNode for /, ''));
  if (name === '') return layer.type === '' ? `layer ${layer.id}` : layer.type;
  return layer.kind === 'reformat' ? `Reformat: ${name}` : name;
}

/** A node in few words: the last part of its name, or its op and id. */
export function nodeLabel(node: ReportNode): string {
  const name = oneLine(node.name);
  if (name === '') return `${node.op} (node ${node.id})`;
  const last = name.slice(name.lastIndexOf('/') + 1);
  return last === '' ? name : last;
}

/** The first few of a list: `a, b, and 3 more`. */
export function firstOf(names: readonly string[], most: number): string {
  if (names.length === 0) return 'none';
  const more = names.length > most ? `, and ${names.length - most} more` : '';
  return names.slice(0, most).join(', ') + more;
}
