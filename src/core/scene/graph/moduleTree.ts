import type { FusionReport, ReportNode } from '../../fusion/fusionReport.ts';
import { lastPart, scopeOf } from './hierarchy.ts';
import type { GraphData } from '../panel/viewData.ts';
import { addTo } from '../../text/addTo.ts';

/** A module of the user's model, read from node names. Numbers are positions in the report's `nodes`. */
export interface ModuleNode {
  /** Unique: the parts of the path joined by `/`; '' for the whole model. */
  path: string;
  /** The last part, or several if nothing else is between them: `bert/encoder`. */
  label: string;
  /** Nodes directly in it, in file order. */
  own: number[];
  /** In order of their first node. */
  children: ModuleNode[];
  /** Nodes in it and below. */
  size: number;
}

/** One line of a list of modules: a module, or a family of numbered siblings (`blocks.0 … blocks.11`). */
export interface ModuleEntry {
  /** The module's path, or `<parent>/<stem>*` for a family. */
  id: string;
  label: string;
  /** For a family, what fits into less: `blocks.0 … 11`. */
  short: string;
  members: ModuleNode[];
  size: number;
  /** For a family: whether all members have the same nodes with the same fate, fused the same way. null for one module. */
  alike: boolean | null;
}

/** Fewer numbered siblings than this are shown one by one. */
const smallestFamily = 3;

/**
 * The modules that each node of a report is in, outermost first: as the exporter recorded them, otherwise from its
 * name, otherwise from its first output's name, which exporters form alike. Nodes of a subgraph are in the node that
 * owns it.
 */
export function modulePaths(report: FusionReport, graph: GraphData | null): string[][] {
  const drawn = new Map(graph?.nodes.map((node) => [node.id, node]));
  const paths = new Map<string, string[]>();
  return report.nodes.map(({ id, name, op }) => {
    const own = drawn.get(id);
    const path = [...ownerPath(paths, id), ...scopeOf(name === '' ? (own?.outputs[0] ?? '') : name, own?.scope)];
    paths.set(id, [...path, lastPart(name) || op]);
    return path;
  });
}

/** `20/then_branch/3` is in node 20, in its `then_branch`. */
function ownerPath(paths: ReadonlyMap<string, string[]>, id: string): string[] {
  const parts = id.split('/');
  const branch = parts.at(-2);
  if (branch === undefined) return [];
  return [...(paths.get(parts.slice(0, -2).join('/')) ?? []), branch];
}

/**
 * The tree of modules over `paths` (one per node, in the report's order). Only `kept` positions count, all without it.
 */
export function toModuleTree(paths: readonly string[][], kept?: readonly number[]): ModuleNode {
  const root: ModuleNode = { path: '', label: '', own: [], children: [], size: 0 };
  const byPath = new Map<string, ModuleNode>([['', root]]);
  const add = (index: number) => {
    let module = root;
    module.size += 1;
    for (const part of paths[index] ?? []) {
      const path = module.path === '' ? part : `${module.path}/${part}`;
      let child = byPath.get(path);
      if (child === undefined) {
        child = { path, label: part, own: [], children: [], size: 0 };
        byPath.set(path, child);
        module.children.push(child);
      }
      module = child;
      module.size += 1;
    }
    module.own.push(index);
  };
  if (kept === undefined) paths.forEach((_, index) => add(index));
  else kept.forEach(add);
  root.children = root.children.map(withoutChains);
  return root;
}

function withoutChains(module: ModuleNode): ModuleNode {
  let last = module;
  const labels = [module.label];
  for (let only = last.children[0]; last.own.length === 0 && last.children.length === 1 && only !== undefined;) {
    labels.push(only.label);
    last = only;
    only = last.children[0];
  }
  return { ...last, label: labels.join('/'), children: last.children.map(withoutChains) };
}

/** Every node of a module, in file order. */
export function nodesBelow(module: ModuleNode): number[] {
  const found: number[] = [];
  const pending = [module];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const index of next.own) found.push(index);
    for (const child of next.children) pending.push(child);
  }
  return [...Int32Array.from(found).sort()];
}

/** A module's children as lines of a list, numbered siblings as one family. `nodes` are the report's, for comparing. */
export function moduleEntries(module: ModuleNode, nodes: readonly ReportNode[]): ModuleEntry[] {
  const families = new Map<string, ModuleNode[]>();
  for (const child of module.children) {
    const stem = stemOf(child.label);
    addTo(families, stem, child);
  }
  const entries: ModuleEntry[] = [];
  for (const [stem, members] of families) {
    if (members.length < smallestFamily) entries.push(...members.flatMap((member) => withoutShell(member, nodes)));
    else entries.push(familyOf(module, stem, members, nodes));
  }
  return entries;
}

/** A module that holds nothing but one family (`blocks` of `blocks.0 … blocks.11`) says nothing that the family does not. */
function withoutShell(module: ModuleNode, nodes: readonly ReportNode[]): ModuleEntry[] {
  if (module.own.length > 0 || module.children.length < smallestFamily) return [single(module)];
  const inside = moduleEntries(module, nodes);
  return inside.length === 1 ? inside : [single(module)];
}

/** One module as a line of a list. */
export const single = (module: ModuleNode): ModuleEntry => ({
  id: module.path,
  label: module.label,
  short: module.label,
  members: [module],
  size: module.size,
  alike: null,
});

function familyOf(parent: ModuleNode, stem: string, found: ModuleNode[], nodes: readonly ReportNode[]): ModuleEntry {
  const members = found.toSorted((a, b) => numberOf(a.label) - numberOf(b.label));
  const signatures = new Set(members.map((member) => signature(member, nodes)));
  return {
    id: `${parent.path}/${stem}*`,
    label: `${members[0]?.label ?? ''} … ${members.at(-1)?.label ?? ''}`,
    short: `${members[0]?.label ?? ''} … ${numberOf(members.at(-1)?.label ?? '')}`,
    members,
    size: members.reduce((sum, member) => sum + member.size, 0),
    alike: signatures.size === 1,
  };
}

/** The members of a family as one module: parts with equal names become one part. */
export function mergedModule(id: string, members: readonly ModuleNode[]): ModuleNode {
  const parts = new Map<string, ModuleNode[]>();
  for (const { children } of members) {
    for (const child of children) {
      addTo(parts, child.label, child);
    }
  }
  return {
    path: id,
    label: members[0]?.label ?? '',
    own: members.flatMap(({ own }) => own),
    children: [...parts].map(([label, same]) => ({ ...mergedModule(`${id}/${label}`, same), label })),
    size: members.reduce((sum, { size }) => sum + size, 0),
  };
}

/** `blocks.11` → `blocks.#`, `layer1.0` → `layer1.#`; a label without a number is its own stem. */
const stemOf = (label: string): string => label.replace(/\d+(?=[^\d/]*(?:\/|$))/, '#');
const numberOf = (label: string): number => Number(/(\d+)[^\d/]*(?:\/|$)/.exec(label)?.[1] ?? 0);

/** Equal for two modules whose nodes have the same names below them, the same fates, and share layers in the same way. */
function signature(module: ModuleNode, nodes: readonly ReportNode[]): string {
  const layers = new Map<number, number>();
  const parts: string[] = [];
  for (const index of nodesBelow(module)) {
    const node = nodes[index];
    if (node === undefined) continue;
    const own = node.layers.map((layer) => {
      const seen = layers.get(layer) ?? layers.size;
      layers.set(layer, seen);
      return seen;
    });
    const at = node.name.indexOf(module.label);
    const relative = at < 0 ? node.op : node.name.slice(at + module.label.length).replaceAll(module.label, '#');
    parts.push([relative, node.op, node.fate, node.foreignNode, node.exact, own.join('+')].join('\t'));
  }
  return parts.join('\n');
}
