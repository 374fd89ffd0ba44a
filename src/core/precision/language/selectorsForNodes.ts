import type { BuildFacts } from '../check/buildFacts.ts';
import { buildIndexOf } from '../check/buildIndex.ts';
import type { NodeIndex } from './nodeIndex.ts';
import { isBareName, quoteName, writeName } from './quoteName.ts';

/** Shorter lists than this are written out where a ForeignNode would say it, too: its name lasts until the next build. */
const fewSelectors = 12;

/**
 * Short selectors that select exactly these nodes (positions) of those that accept a precision: the whole model, whole
 * modules, whole operator types, and names for the rest, or a whole ForeignNode where that is much shorter. Nodes in
 * `also` may be selected, too. Nodes that share a name with others can only be taken together with them.
 */
export function selectorsForNodes(
  positions: readonly number[],
  index: NodeIndex,
  build: BuildFacts | null = null,
  also: ReadonlySet<number> = new Set(),
): string[] {
  const wanted = new Set(positions.filter((i) => index.nodes[i] !== undefined));
  if (wanted.size === 0) return [];
  const fits = (i: number) => wanted.has(i) || also.has(i) || index.computes[i] !== 1;
  if (wanted.size > 2 && index.nodes.every((_, i) => fits(i))) return ['**'];
  const rest = new Set(wanted);
  const selectors: string[] = [];
  const take = (selector: string, found: Int32Array, least: number) => {
    const own = found.filter((i) => rest.has(i));
    if (own.length < least || !found.every(fits)) return;
    selectors.push(selector);
    for (const i of own) rest.delete(i);
  };
  const ops = new Set([...wanted].map((i) => index.nodes[i]?.op ?? '').filter(isBareName));
  if (ops.size === 1) for (const op of ops) take(`op:${op}`, index.ofOp(op, null), 2);
  for (const pattern of modulesOf(wanted, index)) take(pattern, index.matching(pattern), 3);
  for (const op of ops) take(`op:${op}`, index.ofOp(op, null), 3);
  const names = new Set([...rest].sort((a, b) => a - b).map((i) => index.names[i] ?? ''));
  const all = [...selectors, ...[...names].map(writeName)];
  const group = all.length > fewSelectors ? wholeGroup(wanted, fits, index, build) : null;
  return group === null ? all : [group];
}

function wholeGroup(
  wanted: ReadonlySet<number>,
  fits: (position: number) => boolean,
  index: NodeIndex,
  build: BuildFacts | null,
): string | null {
  if (!build || build.nodes.length !== index.nodes.length) return null;
  const { foreign } = buildIndexOf(build);
  const group = foreign[[...wanted][0] ?? -1] ?? -1;
  if (group < 0 || [...wanted].some((i) => foreign[i] !== group)) return null;
  if (!foreign.every((own, i) => own !== group || fits(i))) return null;
  return `group:${quoteName(build.foreignNodes[group]?.name ?? '')}`;
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
