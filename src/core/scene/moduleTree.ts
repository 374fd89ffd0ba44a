import type { ReportNode } from '../fusion/fusionReport.ts';

/** A module of the user's model, read from node names. Numbers are positions in the report's `nodes`. */
export interface ModuleNode {
  /** Unique: the parts of the path joined by `/`; '' for the whole model. */
  path: string;
  /** The last part, or several where nothing else is between them: `bert/encoder`. */
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
  members: ModuleNode[];
  size: number;
  /** For a family: whether all members have the same nodes with the same fate, fused the same way. null for one module. */
  alike: boolean | null;
}

/** Fewer numbered siblings than this are shown one by one. */
const smallestFamily = 3;

/**
 * The modules that a node's name tells of, outermost first, without the node's own part: `/blocks/blocks.0/attn/Mul`
 * gives `blocks.0`, `attn` (a parent that its child repeats is left out). Names without slashes are split at dots:
 * `layers.0.attn.Mul` gives `layers.0`, `attn`. No module: [].
 */
export function modulePath(name: string): string[] {
  const parts = name.includes('/') ? name.split('/').filter((part) => part !== '') : dotted(name);
  parts.pop();
  return parts.filter((part, i) => {
    const next = parts[i + 1];
    return next === undefined || !next.startsWith(`${part}.`);
  });
}

function dotted(name: string): string[] {
  const parts: string[] = [];
  for (const part of name.split('.')) {
    if (/^\d+$/.test(part) && parts.length > 0) parts.push(`${parts.pop() ?? ''}.${part}`);
    else if (part !== '') parts.push(part);
  }
  return parts;
}

/** The tree of modules over `names` (one a node, in the report's order; '' has no module). Only `kept` positions count, all without it. */
export function toModuleTree(names: readonly string[], kept?: readonly number[]): ModuleNode {
  const root: ModuleNode = { path: '', label: '', own: [], children: [], size: 0 };
  const byPath = new Map<string, ModuleNode>([['', root]]);
  const add = (index: number) => {
    let module = root;
    module.size += 1;
    for (const part of modulePath(names[index] ?? '')) {
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
  if (kept === undefined) names.forEach((_, index) => add(index));
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
  return found.toSorted((a, b) => a - b);
}

/** A module's children as lines of a list, numbered siblings as one family. `nodes` are the report's, for comparing. */
export function moduleEntries(module: ModuleNode, nodes: readonly ReportNode[]): ModuleEntry[] {
  const families = new Map<string, ModuleNode[]>();
  for (const child of module.children) {
    const stem = stemOf(child.label);
    const family = families.get(stem);
    if (family === undefined) families.set(stem, [child]);
    else family.push(child);
  }
  const entries: ModuleEntry[] = [];
  for (const [stem, members] of families) {
    if (members.length < smallestFamily) entries.push(...members.map(single));
    else entries.push(familyOf(module, stem, members, nodes));
  }
  return entries;
}

/** One module as a line of a list. */
export const single = (module: ModuleNode): ModuleEntry => ({
  id: module.path,
  label: module.label,
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
    members,
    size: members.reduce((sum, member) => sum + member.size, 0),
    alike: signatures.size === 1,
  };
}

/** `blocks.11/attn` → `blocks.#/attn`; a label without a number is its own stem. */
const stemOf = (label: string): string => label.replace(/\d+/, '#');
const numberOf = (label: string): number => Number(/\d+/.exec(label)?.[0] ?? 0);

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
    const relative = at < 0 ? node.op : node.name.slice(at + module.label.length);
    parts.push([relative, node.op, node.fate, node.foreignNode, node.exact, own.join('+')].join('\t'));
  }
  return parts.join('\n');
}
