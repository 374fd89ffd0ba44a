import type { BuildFacts } from './buildFacts.ts';
import { buildIndexOf } from './buildIndex.ts';
import type { NodeIndex } from './nodeIndex.ts';
import { isBareName, quoteName, writeName } from './quoteName.ts';

/**
 * Short selectors that select exactly these nodes (positions): a whole ForeignNode, a whole operator type, whole
 * modules, and names for the rest. Nodes that share a name with others can only be taken together with them.
 */
export function selectorsForNodes(
  positions: readonly number[],
  index: NodeIndex,
  build: BuildFacts | null = null,
): string[] {
  const wanted = new Set(positions.filter((i) => index.nodes[i] !== undefined));
  if (wanted.size === 0) return [];
  const whole = wholeGroup(wanted, index, build) ?? wholeOp(wanted, index);
  if (whole !== null) return [whole];
  const rest = new Set(wanted);
  const selectors: string[] = [];
  for (const pattern of modulesOf(wanted, index)) {
    const found = index.matching(pattern);
    if (found.length < 3 || ![...found].every((i) => wanted.has(i)) || ![...found].some((i) => rest.has(i))) continue;
    selectors.push(pattern);
    for (const i of found) rest.delete(i);
  }
  const names = new Set([...rest].sort((a, b) => a - b).map((i) => index.names[i] ?? ''));
  return [...selectors, ...[...names].map(writeName)];
}

function wholeGroup(wanted: ReadonlySet<number>, index: NodeIndex, build: BuildFacts | null): string | null {
  if (!build || build.nodes.length !== index.nodes.length || wanted.size < 3) return null;
  const { foreign } = buildIndexOf(build);
  const group = foreign[[...wanted][0] ?? -1] ?? -1;
  if (group < 0) return null;
  let members = 0;
  for (const [i, own] of foreign.entries()) {
    if (own === group) members++;
    if ((own === group) !== wanted.has(i)) return null;
  }
  return members > 0 ? `group:${quoteName(build.foreignNodes[group]?.name ?? '')}` : null;
}

function wholeOp(wanted: ReadonlySet<number>, index: NodeIndex): string | null {
  const op = index.nodes[[...wanted][0] ?? -1]?.op ?? '';
  if (wanted.size < 2 || !isBareName(op)) return null;
  const all = index.ofOp(op, null);
  return all.length === wanted.size && all.every((i) => wanted.has(i)) ? `op:${op}` : null;
}

/** Patterns of the modules above the nodes, the widest first. */
function modulesOf(wanted: ReadonlySet<number>, index: NodeIndex): string[] {
  const modules = new Set<string>();
  for (const i of wanted) {
    const name = index.names[i] ?? '';
    for (let slash = name.indexOf('/', 1); slash > 0; slash = name.indexOf('/', slash + 1))
      modules.add(name.slice(0, slash));
  }
  return [...modules]
    .filter((module) => isBareName(module))
    .sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
    .map((module) => `${module}/**`);
}
