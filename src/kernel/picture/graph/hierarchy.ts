// Groups of nodes, modules.
import { addTo } from '../../base/addTo.ts';
import type { FusionReport, ReportNode } from '../../fusion/fusionReport.ts';
import { scopeOf } from '../../network/layerName.ts';
import type { GraphIndex } from './graphIndex.ts';
import { draft, type Draft, type ModuleKind } from './internal/draft.ts';
import { type BuiltGroups, gatherGroups } from './internal/groupParts.ts';
import { gatherHelpers, helperPoints } from './internal/helperNodes.ts';
import { partition } from './internal/partition.ts';
import { fewestRepeats, gatherRepeats, rangeLabel } from './internal/repeats.ts';
import type { GraphData } from './viewData.ts';

export type { BuiltGroups };

export interface Module {
  /** The same in every build of the same model: views remember what is open by it. */
  id: string;
  label: string;
  kind: ModuleKind;
  /** Position in `modules`; -1 for the root. */
  parent: number;
  modules: number[];
  /** Points directly in it, in topological order. */
  own: number[];
  /** Its points, those of inner modules included, are `sequence[start] … sequence[end - 1]`. */
  start: number;
  end: number;
  /** How many blocks a `repeat` stands for; 1 for every other module. */
  times: number;
}

export interface Hierarchy {
  /** The root first, parents before children. */
  modules: Module[];
  byId: Map<string, number>;
  /** Every point once, so that those of each module are adjacent. */
  sequence: Int32Array;
  /** Innermost module of each point. */
  moduleOf: Int32Array;
}

/** How many loose nodes a module shows before they are gathered into parts. */
const crowd = 60;

/**
 * The modules of a graph: from the exporter's scopes where it recorded them, otherwise from names
 * (`/layers.0/attn/MatMul`, `layers.0.attn.MatMul`), and from the structure where there are too many nodes without any.
 * @param built what of a module is in one group becomes a part of it
 */
export function buildHierarchy(graph: GraphIndex, built?: BuiltGroups): Hierarchy {
  const root = draft('', '', 'root');
  const drafts = fillDrafts(graph, root);
  adoptSources(graph, root, drafts);
  settle(graph, root, helperPoints(graph));
  if (built !== undefined) gatherGroups(graph, root, built);
  return number(graph, root);
}

/** No modules: every node on its own, for who wants to see the file as it is. */
export function flatHierarchy(graph: GraphIndex): Hierarchy {
  const root = draft('', '', 'root');
  root.own = [...graph.order];
  return number(graph, root);
}

function fillDrafts(graph: GraphIndex, root: Draft): Map<string, Draft> {
  const drafts = new Map<string, Draft>([['', root]]);
  const inner = (parent: Draft, id: string, label: string, kind: ModuleKind): Draft => {
    const known = drafts.get(id);
    if (known !== undefined) return known;
    const made = draft(id, label, kind);
    drafts.set(id, made);
    parent.children.push(made);
    return made;
  };
  const owners = new Set(graph.owner.filter((owner) => owner >= 0));
  const home: Draft[] = [];
  graph.data.nodes.forEach(({ id, name, scope }, point) => {
    let at = root;
    const owner = graph.owner[point] ?? -1;
    if (owner >= 0) {
      const branch = graph.branch[point] ?? '';
      at = inner(home[owner] ?? root, `subgraph:${graph.data.nodes[owner]?.id ?? ''}/${branch}`, branch, 'branch');
    } else {
      let path = '';
      for (const part of scopeOf(name, scope)) {
        path += `/${part}`;
        at = inner(at, path, /^\d+$/.test(part) && at !== root ? `${at.label}.${part}` : part, 'scope');
      }
    }
    if (owners.has(point))
      at = inner(at, `node:${id}`, name === '' ? `${graph.data.nodes[point]?.op ?? ''}` : lastPart(name), 'owner');
    home[point] = at;
    at.own.push(point);
  });
  for (let point = graph.nodes; point < graph.points; point++) root.own.push(point);
  return drafts;
}

/** The part of a name that tells nodes of one module apart. */
export const lastPart = (name: string): string => name.slice(name.lastIndexOf('/') + 1);

/** A constant without a scope goes where all its readers are: exporters drop the scope of constants that they move. */
function adoptSources(graph: GraphIndex, root: Draft, drafts: Map<string, Draft>): void {
  if (drafts.size === 1) return;
  const home = new Map<number, Draft>();
  for (const module of drafts.values()) for (const point of module.own) home.set(point, module);
  root.own = root.own.filter((point) => {
    if (point >= graph.nodes || graph.inStart[point + 1]! > graph.inStart[point]!) return true;
    let reader: Draft | undefined;
    for (let i = graph.outStart[point]!; i < graph.outStart[point + 1]!; i++) {
      const next = home.get(graph.to[graph.outEdges[i]!]!);
      if (next === undefined || next === root || (reader !== undefined && reader !== next)) return true;
      reader = next;
    }
    if (reader === undefined) return true;
    reader.own.push(point);
    return false;
  });
}

/** Bottom-up: order, parts for crowds, repeats, and chains of modules with nothing between them made one. */
function settle(graph: GraphIndex, module: Draft, helper: Uint8Array): void {
  for (const child of module.children) settle(graph, child, helper);
  module.children = module.children.map(withoutChain);
  liftSingles(module);
  module.own.sort((a, b) => graph.rank[a]! - graph.rank[b]!);
  if (module.own.length > crowd) partition(graph, module, crowd, (part) => gatherHelpers(graph, part, helper));
  else gatherHelpers(graph, module, helper);
  module.first = Infinity;
  for (const point of module.own) module.first = Math.min(module.first, graph.rank[point]!);
  for (const { first } of module.children) module.first = Math.min(module.first, first);
  liftSingles(module);
  module.own.sort((a, b) => graph.rank[a]! - graph.rank[b]!);
  module.children.sort((a, b) => a.first - b.first);
  gatherRepeats(graph, module);
}

/** A box around one node says nothing that the node's name does not say. */
function liftSingles(module: Draft): void {
  module.children = module.children.filter((child) => {
    const plain = child.kind === 'scope' || child.kind === 'part';
    if (!plain || child.children.length > 0 || child.own.length > 1) return true;
    module.own.push(...child.own);
    return false;
  });
}

function withoutChain(module: Draft): Draft {
  const only = module.children[0];
  if (module.kind !== 'scope' || module.own.length > 0 || module.children.length !== 1 || only === undefined)
    return module;
  if (only.kind !== 'scope' && only.kind !== 'repeat') return module;
  const label =
    only.label === module.label || only.label.startsWith(`${module.label}.`)
      ? module.label
      : `${module.label}/${only.label}`;
  return { ...only, label: only.kind === 'repeat' ? label : `${module.label}/${only.label}` };
}

/** How many blocks are shown side by side at once. */
const longestRun = 24;

/** An open repetition shows its first block, and the others as one again: what they look like has been said. */
function inRuns(module: Draft): Draft[] {
  const { kind, children } = module;
  if (kind !== 'repeat' || children.length <= fewestRepeats || children.some((child) => child.kind === 'repeat'))
    return children;
  const first = module.id.endsWith('~') ? 0 : 1;
  if (first === 0 && children.length <= longestRun) return children;
  const others = children.slice(first);
  const run = (members: Draft[], id: string): Draft => ({
    ...draft(`${module.id}${id}~`, rangeLabel(members), 'repeat'),
    children: members,
    first: members[0]?.first ?? 0,
  });
  if (first === 1) return [children[0]!, run(others, '')];
  const size = Math.max(longestRun, Math.ceil(others.length / longestRun));
  const runs: Draft[] = [];
  for (let from = 0; from < others.length; from += size) runs.push(run(others.slice(from, from + size), String(from)));
  return runs;
}

function number(graph: GraphIndex, root: Draft): Hierarchy {
  const modules: Module[] = [];
  const byId = new Map<string, number>();
  const sequence = new Int32Array(graph.points);
  const moduleOf = new Int32Array(graph.points);
  let filled = 0;
  const visit = (from: Draft, parent: number): number => {
    const index = modules.length;
    const own = from.own;
    let { id } = from;
    while (byId.has(id)) id += '+';
    byId.set(id, index);
    const module: Module = {
      id,
      label: from.label,
      kind: from.kind,
      parent,
      modules: [],
      own,
      start: filled,
      end: filled,
      times: 1,
    };
    modules.push(module);
    for (const point of own) {
      sequence[filled] = point;
      moduleOf[point] = index;
      filled += 1;
    }
    module.modules = inRuns(from).map((child) => visit(child, index));
    module.end = filled;
    if (from.kind === 'repeat') module.times = module.modules.reduce((sum, child) => sum + modules[child]!.times, 0);
    return index;
  };
  visit(root, -1);
  return { modules, byId, sequence, moduleOf };
}

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

/** Whether a module is what its parent has of one group. */
export const isGroupPart = ({ id, kind }: Pick<Module, 'id' | 'kind'>): boolean =>
  kind === 'part' && /\/#group\d+$/.test(id);

/**
 * Which modules to open when a model is first shown, by their ids: the outer ones first, largest first, and of a repeated
 * block one from the inside; as many as fit the screen, each only if those around it do. Depends on the model alone, so
 * that a rebuild does not change the picture.
 */
export function openingOrder({ modules }: Hierarchy, most = 120): string[] {
  const order: string[] = [];
  const contents = (index: number) => modules[index]!.modules.length + modules[index]!.own.length;
  const size = (index: number) => modules[index]!.end - modules[index]!.start;
  let visible = contents(0);
  let candidates = [...(modules[0]?.modules ?? [])];
  while (candidates.length > 0) {
    const next: number[] = [];
    for (const index of candidates.toSorted((a, b) => size(b) - size(a) || a - b)) {
      const { id, kind, modules: inner } = modules[index]!;
      // The other blocks of a repetition look like the first, and helpers are no part of the picture.
      if ((kind === 'repeat' && id.endsWith('~')) || id.includes('#helpers')) continue;
      if (visible + contents(index) > most) continue;
      visible += contents(index);
      order.push(id);
      next.push(...(kind === 'repeat' ? inner.slice(0, 1) : inner));
    }
    candidates = next;
  }
  return order;
}
