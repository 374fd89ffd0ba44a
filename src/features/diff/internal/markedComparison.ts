// A build with marked tensors next to the same build without them.
import { addTo } from '../../../kernel/base/addTo.ts';
import { counted, timeText } from '../../../kernel/base/text.ts';
import { isPlanned } from '../../../kernel/report/words.ts';
import type { DiffInput, DiffTime, MarkedComparison } from '../../../kernel/report/buildDiff.ts';
import { comparableGroups, type Group, type NodeMatch, nodeWords } from '../matchNodes.ts';

const isMarked = ({ marked }: DiffInput): boolean =>
  marked !== undefined && marked.outputs.length + marked.debug.length > 0;

/** Exactly one side has marked tensors, and both have an engine. */
const isComparable = (a: DiffInput, b: DiffInput): boolean =>
  isMarked(a) !== isMarked(b) && !isPlanned(a.report) && !isPlanned(b.report);

/**
 * Which fusions a build with marked tensors shares with the build without them.
 * @returns undefined unless exactly one side has marked tensors, and both have an engine
 */
export function compareMarked(
  a: DiffInput,
  b: DiffInput,
  match: NodeMatch,
  { aMs, bMs }: Pick<DiffTime, 'aMs' | 'bMs'>,
): MarkedComparison | undefined {
  if (!isComparable(a, b)) return undefined;
  const side = isMarked(a) ? 'a' : 'b';
  const [groupsA, groupsB] = comparableGroups(a.report, b.report, match);
  const [plain, marked] = side === 'b' ? [groupsA, groupsB] : [groupsB, groupsA];
  const other = side === 'b' ? match.toB : reversed(match, b.report.nodes.length);
  const homes = homesOf(marked.groups);
  const { nodes } = (side === 'b' ? b : a).report;
  const found: MarkedComparison = {
    side,
    ...(side === 'b' ? b : a).marked!,
    survived: 0,
    dissolved: [],
    unknown: 0,
    fused: 0,
    example: null,
    deltaMs: aMs === null || bMs === null ? null : side === 'b' ? bMs - aMs : aMs - bMs,
  };
  for (const group of plain.groups.filter(({ nodes: own }) => own.length > 1)) {
    const own = group.nodes.map((index) => other[index]!).filter((index) => index !== -1);
    if (own.some((index) => nodes[index]!.fate === 'unknown')) found.unknown += 1;
    else {
      // A node that is folded on the other side is not torn off.
      const kernels = new Set(own.flatMap((index) => homes.get(index) ?? []));
      const isTogether = [...kernels].some((kernel) =>
        own.every((index) => homes.get(index)?.includes(kernel) ?? true),
      );
      // Members of a ForeignNode that no kernel names: together or not, nothing says.
      if (kernels.size === 0 && own.some((index) => nodes[index]!.fate === 'foreign')) found.unknown += 1;
      else if (isTogether || kernels.size === 0) found.survived += 1;
      else {
        const ids = own.map((index) => nodes[index]!.id);
        found.dissolved.push({ nodes: ids, kernel: group.layers[0]?.name ?? '', kernels: kernels.size });
      }
    }
  }
  const still = marked.groups.filter(({ nodes: own }) => own.length > 1);
  found.fused = still.length;
  const [first] = still;
  if (first) found.example = nodeWords(first.nodes.map((index) => nodes[index]!));
  return found;
}

/** Of each node, its groups. */
function homesOf(groups: readonly Group[]): Map<number, number[]> {
  const homes = new Map<number, number[]>();
  for (const [home, { nodes }] of groups.entries()) for (const node of nodes) addTo(homes, node, home);
  return homes;
}

function reversed({ toB }: NodeMatch, size: number): Int32Array {
  const toA = new Int32Array(size).fill(-1);
  toB.forEach((other, index) => {
    if (other !== -1) toA[other] = index;
  });
  return toA;
}

/** What the comparison says, one sentence each. */
export function markedSentences(marked: MarkedComparison): string[] {
  const { side, outputs, debug, all, survived, dissolved, unknown, fused, example, deltaMs } = marked;
  const [with_, without] = side === 'b' ? ['B', 'A'] : ['A', 'B'];
  const what = [
    all
      ? 'all tensors marked as outputs'
      : outputs.length > 0 &&
        `${counted(outputs.length, 'tensor')} marked as ${outputs.length === 1 ? 'an output' : 'outputs'}`,
    debug.length > 0 && `${counted(debug.length, 'tensor')} marked for debugging`,
  ].filter((text) => text !== false);
  const total = survived + dissolved.length + unknown;
  const rest = unknown > 0 ? `, ${unknown} unknown` : '';
  const cost =
    deltaMs === null
      ? 'what it costs is unknown without profiles'
      : `it takes ${timeText(Math.abs(deltaMs))} ${deltaMs < 0 ? 'less' : 'more'}`;
  const sentences = [
    `${with_} has ${what.join(' and ')}: of ${counted(total, 'fusion')} in ${without}, ${survived} survived, ${dissolved.length} dissolved${rest}; ${cost}.`,
  ];
  if (dissolved.length > 0)
    sentences.push(
      `${with_} is not the engine of ${without}: its values and times can differ from the engine that you ship.`,
    );
  if (all && fused > 0)
    sentences.push(
      `${with_} is called unfused, but ${counted(fused, 'kernel')} still ${fused === 1 ? 'computes' : 'compute'} several nodes, for example ${example}.`,
    );
  return sentences;
}
