import { before, parseVersion } from '../../build/trtexecFlags.ts';
import type { BuildFacts } from '../check/buildFacts.ts';
import type { NodeIndex } from '../language/nodeIndex.ts';
import { type PrecisionType, precisionType } from '../language/precisionType.ts';
import { readOverrides } from '../language/readOverrides.ts';
import { resolveOverrides } from '../language/resolveOverrides.ts';
import type { NodeFacts } from '../plan/modelFacts.ts';
import { type PlannedNode, planPrecision } from '../plan/precisionPlan.ts';

/** The one floating-point type that a model declares for a node's outputs; null for none or several. */
export type DeclaredType = (node: NodeFacts) => PrecisionType | null;

/**
 * Whether a build was made with a node's request: by the rules that are recorded with it, by layer precisions in its
 * command, or by the types of a strongly typed model that has several. Where nothing says how the build was made, the
 * caller is believed.
 * @param stronglyTyped types came from the model alone
 */
export function builtRequests(
  build: BuildFacts,
  index: NodeIndex | null,
  stronglyTyped: boolean,
  declaredType: DeclaredType,
): (node: PlannedNode) => boolean {
  if (typeof build.rules === 'string' && index) {
    const file = readOverrides(build.rules);
    const made = planPrecision(file, index, resolveOverrides(file, index, build));
    const requests = new Map(made.nodes.map((node) => [node.position, textOf(node)]));
    return (node) => requests.get(node.position) === textOf(node);
  }
  if (build.flags?.layers) return loggedRequests(build);
  if (stronglyTyped) {
    if (!index) return () => true;
    const types = index.nodes.map((node) => declaredType(node));
    const several = new Set(types.filter((type) => type !== null)).size > 1;
    return ({ position, compute }) => several && types[position] === compute;
  }
  const told = build.lines?.some(({ kind }) => kind === 'set' || kind === 'skipped') ?? false;
  const without = build.rules === null || build.flags !== null;
  return () => told || !without;
}

/** TensorRT 9 and 10 write `Set layer X to precision …` for each name that they know. */
export function namesRequests({ version: text }: BuildFacts): boolean {
  const version = parseVersion(text);
  return version !== null && !before(version, [9, 0, 0]) && before(version, [11, 0, 0]);
}

/** By what the log says of single layers, where this version says so; otherwise the caller is believed. */
function loggedRequests(build: BuildFacts): (node: PlannedNode) => boolean {
  const lines = build.lines?.filter(({ kind }) => kind === 'set' || kind === 'skipped') ?? [];
  if (!namesRequests(build) || lines.length === 0) return () => true;
  const requests = new Map(lines.map(({ layer, type }) => [layer, type === null ? null : precisionType(type)]));
  // Of a later node of the same name the log says nothing.
  return ({ name, compute, later }) =>
    later === true || (requests.has(name) && [compute, null].includes(requests.get(name)!));
}

const textOf = ({ compute, outputs }: PlannedNode): string => `${compute} ${outputs?.join() ?? ''}`;
