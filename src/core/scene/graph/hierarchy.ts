import { draft } from './draft.ts';
import type { Draft, ModuleKind } from './draft.ts';
import type { GraphIndex } from './graphIndex.ts';
import { gatherHelpers, helperPoints } from './helperNodes.ts';
import { partition } from './partition.ts';
import { fewestRepeats, gatherRepeats, rangeLabel } from './repeats.ts';

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
 */
export function buildHierarchy(graph: GraphIndex): Hierarchy {
  const root = draft('', '', 'root');
  const drafts = fillDrafts(graph, root);
  adoptSources(graph, root, drafts);
  settle(graph, root, helperPoints(graph));
  return number(graph, root);
}

/** No modules: every node on its own, for who wants to see the file as it is. */
export function flatHierarchy(graph: GraphIndex): Hierarchy {
  const root = draft('', '', 'root');
  root.own = [...graph.order];
  return number(graph, root);
}

/** The modules in a name, outermost first: `/blocks/blocks.0/attn/Mul` gives `blocks`, `blocks.0`, `attn`. */
export function scopeOf(name: string, scope: string | undefined): string[] {
  if (scope !== undefined) return scope.split('/').filter((part) => part !== '');
  if (name.includes('/'))
    return name
      .split('/')
      .slice(0, -1)
      .filter((part) => part !== '');
  const parts: string[] = [];
  for (const part of name.split('.')) {
    // `layers.0.attn`: the number belongs to what it counts.
    if (/^\d+$/.test(part) && parts.length > 0) parts[parts.length - 1] += `.${part}`;
    else if (part !== '') parts.push(part);
  }
  return parts.slice(0, -1);
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
