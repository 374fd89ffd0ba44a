import type { NetworkNode } from '../../diff/diffInput.ts';
import { nodeWords } from '../../diff/changeWords.ts';
import { tacticOf } from '../../diff/groups.ts';
import { matchNodes } from '../../diff/matchNodes.ts';
import type { Fate, FusionReport } from '../../fusion/fusionReport.ts';
import { attentions } from '../../model/attentions.ts';
import { counted } from '../../text/numbers.ts';
import type { Unfit } from '../pieceOf.ts';

/**
 * What a change is to bring about:
 * - `break`: nodes that one kernel computes are computed by several
 * - `separate`: nodes of a ForeignNode are outside of every ForeignNode
 * - `fuse`: nodes of several kernels are computed by one
 */
export type SearchKind = 'break' | 'separate' | 'fuse';

/** One build, with the network in the order of `report.nodes`. */
export interface SearchSide {
  report: FusionReport;
  network: NetworkNode[];
}

/** What to reach, in a build of the model as it is. */
export interface SearchGoal {
  kind: SearchKind;
  /** Positions in `report.nodes` of the nodes that it is about. */
  nodes: number[];
  /** The nodes that are computed together with them: the kernel to break, or nothing. */
  around: number[];
  /** What the build of the model as it is does with the nodes, as a sentence. */
  before: string;
}

/**
 * What the user means by some nodes in the build of the model as it is.
 * @param chosen positions in `report.nodes`
 */
export function readGoal(kind: SearchKind, chosen: readonly number[], side: SearchSide): SearchGoal | Unfit {
  const computed = chosen.filter((node) => isComputed(side.report, node));
  if (computed.length === 0)
    return { reason: 'This build computes none of these nodes: they are folded, removed or unknown' };
  if (kind === 'break') return breakGoal(computed, side);
  return kind === 'separate' ? separateGoal(computed, side) : fuseGoal(computed, side);
}

function breakGoal(chosen: readonly number[], { report, network }: SearchSide): SearchGoal | Unfit {
  const wanted = new Set(chosen);
  const shared = [...new Set(chosen.flatMap((node) => kernelsOf(report, node)))]
    .map((layer) => ({ layer, members: membersOf(report, layer) }))
    .filter(({ members }) => members.length > 1);
  const cores = attentions(network)
    .map(({ scores, softmax, values }) => [scores, softmax, values])
    .filter((core) => core.some((node) => wanted.has(node)));
  const fused = shared.flatMap(({ layer, members }) => {
    const inside = new Set(members);
    return cores
      .filter((core) => core.every((node) => inside.has(node)))
      .map((core) => ({ layer, members, nodes: core }));
  });
  const together = shared.map(({ layer, members }) => {
    const both = members.filter((node) => wanted.has(node));
    return { layer, members, nodes: both.length > 1 ? both : members };
  });
  // An attention counts before the kernels around it.
  const found = fused.length > 0 ? fused : together;
  const [only, another] = found;
  if (!only)
    return {
      reason: chosen.some((node) => report.nodes[node]!.foreignNode !== null && kernelsOf(report, node).length === 0)
        ? 'This build does not list the kernels inside its ForeignNodes, so it is unknown what is computed together'
        : `${labels(report, chosen)}: computed alone, so there is nothing to break`,
    };
  if (another)
    return {
      reason: `These nodes are in ${found.length} kernels, ${labels(report, only.nodes)} in one, ${labels(report, another.nodes)} in another. Pass nodes of one`,
    };
  const name = kernelName(report, only.layer);
  const before = `${labels(report, only.nodes)}: computed together with ${counted(only.members.length - only.nodes.length, 'other node')} by kernel ${name}.`;
  return { kind: 'break', nodes: only.nodes, around: only.members, before };
}

function separateGoal(chosen: readonly number[], { report }: SearchSide): SearchGoal | Unfit {
  const inside = chosen.filter((node) => report.nodes[node]!.foreignNode !== null);
  if (inside.length === 0) return { reason: `${labels(report, chosen)}: in no ForeignNode already` };
  const ids = [...new Set(inside.map((node) => report.nodes[node]!.foreignNode!))];
  return {
    kind: 'separate',
    nodes: inside,
    around: [],
    before: `${labels(report, inside)}: in ForeignNode ${ids.join(', ')}.`,
  };
}

function fuseGoal(chosen: readonly number[], { report }: SearchSide): SearchGoal | Unfit {
  const nodes = [...new Set(chosen)];
  if (nodes.length < 2) return { reason: 'Pass at least two nodes to fuse that this build computes' };
  const layers = nodes.map((node) => kernelsOf(report, node));
  if (layers.some((kernels) => kernels.length === 0))
    return {
      reason:
        'This build does not list the kernels inside its ForeignNodes, so it is unknown what is computed together',
    };
  const common = layers[0]!.find((layer) => layers.every((kernels) => kernels.includes(layer)));
  if (common !== undefined)
    return { reason: `${labels(report, nodes)}: one kernel computes them already, ${kernelName(report, common)}` };
  const kernels = new Set(layers.flat()).size;
  return {
    kind: 'fuse',
    nodes,
    around: [],
    before: `${labels(report, nodes)}: computed by ${counted(kernels, 'kernel')}.`,
  };
}

/** Whether a build with a change reaches the goal; null: it does not list the kernels that would tell. */
export function reachesGoal({ kind, nodes }: SearchGoal, before: SearchSide, after: SearchSide): boolean | null {
  const { toB } = matchNodes(before.network, after.network);
  const there = nodes.map((node) => toB[node]!);
  if (there.some((node) => node === -1 || after.report.nodes[node]!.fate === 'unknown')) return null;
  // A node that is no longer computed is neither apart nor together with another one.
  if (there.some((node) => !isComputed(after.report, node))) return false;
  if (kind === 'separate') return there.every((node) => after.report.nodes[node]!.foreignNode === null);
  const kernels = there.map((node) => kernelsOf(after.report, node));
  if (kernels.some((own) => own.length === 0)) return null;
  const together = kernels[0]!.some((layer) => kernels.every((own) => own.includes(layer)));
  return kind === 'fuse' ? together : !together;
}

const computedFates: ReadonlySet<Fate> = new Set(['foreign', 'fused', 'single']);

const isComputed = ({ nodes }: FusionReport, node: number): boolean => computedFates.has(nodes[node]!.fate);

/** Layers that compute a node; a ForeignNode whose kernels are not listed does not count. */
const kernelsOf = ({ nodes, layers }: FusionReport, node: number): number[] =>
  nodes[node]!.layers.filter((id) => layers[id]?.kind !== 'foreign');

function membersOf(report: FusionReport, layer: number): number[] {
  const ids = new Set(report.layers[layer]!.nodes);
  return report.nodes.flatMap(({ id }, node) => (ids.has(id) && isComputed(report, node) ? [node] : []));
}

const kernelName = ({ layers }: FusionReport, layer: number): string => tacticOf(layers[layer]!) ?? layers[layer]!.name;

const labels = ({ nodes }: FusionReport, some: readonly number[]): string =>
  nodeWords(some.map((node) => nodes[node]!));
