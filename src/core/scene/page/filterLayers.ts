import type { FusionReport } from '../../fusion/fusionReport.ts';
import { matcher, wordsOf } from '../graph/searchWords.ts';
import type { Match } from '../graph/searchWords.ts';
import type { LayerRow } from './layerRows.ts';

/** Words before a colon that say where to look; without one, names, types, tactics and nodes are searched. */
export const layerFields = ['op', 'name', 'node', 'layer', 'kernel', 'group', 'fate', 'dtype', 'type'] as const;
type Field = (typeof layerFields)[number];

/** Fields that must match as a whole. */
const wholeFields: ReadonlySet<Field | null> = new Set(['op', 'fate', 'dtype'] as const);

/** The rows that match, and what is wrong with the query, as text ('': nothing). */
export interface FilteredRows {
  rows: LayerRow[];
  problem: string;
}

/**
 * The layers that match all words of a query, written as in the graph's search: `softmax`, `op:MatMul`,
 * `kernel:gemm`, `dtype:fp16`, `group:0`, `fate:fused`, `node:/^.blocks\.3/`. '' matches everything.
 */
export function filterLayers(report: FusionReport, rows: readonly LayerRow[], query: string): FilteredRows {
  const tests: { field: Field | null; match: Match }[] = [];
  for (const word of wordsOf(query)) {
    const at = word.indexOf(':');
    const field = layerFields.find((name) => name === word.slice(0, Math.max(0, at)).toLowerCase()) ?? null;
    const text = field === null ? word : word.slice(at + 1);
    if (text === '') continue;
    const match = matcher(text, wholeFields.has(field));
    if (match === null) return { rows: [...rows], problem: `${text} is not a regular expression` };
    tests.push({ field, match });
  }
  if (tests.length === 0) return { rows: [...rows], problem: '' };
  const nodes = new Map(report.nodes.map((node) => [node.id, node]));
  const ofNodes = ({ layer }: LayerRow, found: (node: FusionReport['nodes'][number]) => boolean) =>
    layer.nodes.some((id) => {
      const node = nodes.get(id);
      return node !== undefined && found(node);
    });
  const matches = (row: LayerRow, field: Field | null, match: Match): boolean => {
    const { name, type, tactic, foreignNode } = row.layer;
    switch (field) {
      case null:
        return (
          match(name) ||
          match(type) ||
          match(tactic ?? '') ||
          ofNodes(row, (node) => match(node.name) || match(node.op))
        );
      case 'name':
      case 'layer':
        return match(name);
      case 'kernel':
        return match(tactic ?? '') || (row.layer.kind === 'kernel' && match(name));
      case 'type':
        return match(type);
      case 'group':
        return foreignNode !== null && (match(`ForeignNode ${foreignNode}`) || match(String(foreignNode)));
      case 'dtype':
        return row.precision.split(', ').some((one) => one !== '' && match(one));
      case 'op':
        return ofNodes(row, ({ op }) => match(op));
      case 'node':
        return ofNodes(row, (node) => match(node.name));
      case 'fate':
        return ofNodes(row, ({ fate }) => match(fate));
    }
  };
  return { rows: rows.filter((row) => tests.every(({ field, match }) => matches(row, field, match))), problem: '' };
}
