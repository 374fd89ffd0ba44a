import type { FusionGroups } from './fusionGroups.ts';
import type { Hierarchy } from './hierarchy.ts';

/** Which blocks of repetitions TensorRT treated differently from most of their siblings. */
export interface Outliers {
  /** Positions of modules: blocks that differ. */
  blocks: Set<number>;
  /** For each `repeat` how many of its blocks differ. */
  counts: Map<number, number>;
}

/**
 * Compares the blocks of every repetition: the same operators with the same fates, sharing kernels and groups in the
 * same way, are alike. The pattern of most blocks is the rule, the earlier one of two that are equally frequent.
 */
export function findOutliers(
  hierarchy: Hierarchy,
  ops: (point: number) => string,
  fusion: FusionGroups,
  kernelOf: Int32Array,
): Outliers {
  const result: Outliers = { blocks: new Set(), counts: new Map() };
  const { modules } = hierarchy;
  modules.forEach((module, index) => {
    // A run inside a repetition is judged with it.
    if (module.kind !== 'repeat' || modules[module.parent]?.kind === 'repeat') return;
    const blocks = blocksOf(hierarchy, index);
    const patterns = blocks.map((block) => patternOf(hierarchy, block, ops, fusion, kernelOf));
    const counts = new Map<string, number>();
    for (const pattern of patterns) counts.set(pattern, (counts.get(pattern) ?? 0) + 1);
    let usual = '';
    for (const [pattern, count] of counts) if (count > (counts.get(usual) ?? 0)) usual = pattern;
    blocks.forEach((block, i) => {
      if (patterns[i] !== usual) result.blocks.add(block);
    });
  });
  modules.forEach(({ kind }, index) => {
    if (kind === 'repeat')
      result.counts.set(index, blocksOf(hierarchy, index).filter((block) => result.blocks.has(block)).length);
  });
  return result;
}

/** The blocks of a repetition, those in runs included, in order. */
export function blocksOf({ modules }: Pick<Hierarchy, 'modules'>, index: number): number[] {
  return modules[index]!.modules.flatMap((child) =>
    modules[child]!.kind === 'repeat' ? blocksOf({ modules }, child) : [child],
  );
}

function patternOf(
  hierarchy: Hierarchy,
  block: number,
  ops: (point: number) => string,
  fusion: FusionGroups,
  kernelOf: Int32Array,
): string {
  const { start, end } = hierarchy.modules[block]!;
  const kernels = new Map<number, number>();
  const groups = new Map<number, number>();
  const local = (map: Map<number, number>, value: number): number => {
    if (value < 0) return -1;
    const known = map.get(value) ?? map.size;
    map.set(value, known);
    return known;
  };
  const points = hierarchy.sequence.slice(start, end).sort();
  const parts: string[] = [];
  for (const point of points) {
    parts.push(
      `${ops(point)} ${fusion.fateOf[point] ?? ''} ${local(groups, fusion.groupOf[point]!)} ${local(kernels, kernelOf[point]!)}`,
    );
  }
  return parts.join('\n');
}
