import type { ReportNode } from '../../../fusion/fusionReport.ts';
import { moduleEntries, type ModuleEntry, type ModuleNode, nodesBelow, single } from '../../graph/hierarchy.ts';

/** A row of a list of modules in which the large ones are opened. */
export interface ModuleRow {
  id: string;
  label: string;
  detail: string;
  nodes: number[];
  first: number;
  opens: string | null;
  /** What replaces it when it is opened. */
  parts: (() => ModuleRow[]) | null;
}

/**
 * The modules of a tree: opens the largest again and again while all rows are still at most `most`, and what the user
 * opened (`open`: with how many parts to show, the rest is one row). `nodes` are the report's, which the tree counts.
 */
export function moduleRows(
  tree: ModuleNode,
  nodes: readonly ReportNode[],
  open: ReadonlyMap<string, number>,
  most: number,
): ModuleRow[] {
  let rows = partsOf(tree, nodes, '');
  const made = new Map<ModuleRow, ModuleRow[]>();
  const partsOnce = (row: ModuleRow): ModuleRow[] => {
    const parts = made.get(row) ?? row.parts?.() ?? [];
    made.set(row, parts);
    return parts;
  };
  for (;;) {
    const largest = rows
      .filter(({ parts }) => parts !== null)
      .toSorted((a, b) => b.nodes.length - a.nodes.length)
      .map((row) => ({ row, parts: partsOnce(row) }))
      .find(({ row, parts }) => open.has(row.id) || rows.length - 1 + parts.length <= most);
    if (largest === undefined) break;
    const { row, parts } = largest;
    const shown = open.get(row.id);
    rows = rows.flatMap((other) => (other === row ? limited(row, parts, shown) : [other]));
  }
  return rows.toSorted((a, b) => a.first - b.first);
}

function limited(row: ModuleRow, parts: ModuleRow[], shown: number | undefined): ModuleRow[] {
  if (shown === undefined || parts.length <= shown + 1) return parts;
  const rest = parts.slice(shown);
  const nodes = rest.flatMap((part) => part.nodes);
  const more = {
    id: `${row.id}/…`,
    label: `${rest.length} more`,
    detail: row.label,
    nodes,
    opens: row.id,
    parts: null,
  };
  return [...parts.slice(0, shown), { ...more, first: rest[0]?.first ?? 0 }];
}

function partsOf(module: ModuleNode, nodes: readonly ReportNode[], within: string): ModuleRow[] {
  const rows = moduleEntries(module, nodes).map((entry) => entryRow(entry, nodes));
  if (module.own.length > 0) {
    const label = within === '' ? 'top level' : within;
    const detail = within === '' ? '' : 'directly in it';
    const [first = 0] = module.own;
    rows.push({ id: `${module.path}//`, label, detail, nodes: module.own, first, opens: null, parts: null });
  }
  return rows;
}

function entryRow(entry: ModuleEntry, all: readonly ReportNode[]): ModuleRow {
  const nodes = entry.members.flatMap(nodesBelow);
  const [only] = entry.members;
  const family = entry.members.length > 1;
  const deeper = family || (only !== undefined && only.children.length > 0);
  const detail = family
    ? `×${entry.members.length}${entry.alike === true ? ', all alike' : ', fused differently'}`
    : '';
  const parts = (): ModuleRow[] => {
    if (!family && only !== undefined) return partsOf(only, all, entry.label).map((row) => underneath(entry, row));
    return entry.members.map((member) => entryRow(single(member), all));
  };
  return {
    id: entry.id,
    label: entry.short,
    detail,
    nodes,
    first: nodes[0] ?? 0,
    opens: deeper ? entry.id : null,
    parts: deeper ? parts : null,
  };
}

/** A part's label says whose part it is: `attn` alone would be one of many. */
const underneath = (entry: ModuleEntry, row: ModuleRow): ModuleRow =>
  row.id.endsWith('//') || row.label.startsWith(`${entry.label}.`)
    ? row
    : { ...row, label: `${entry.label}/${row.label}` };
