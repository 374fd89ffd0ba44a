import type { Hierarchy } from './hierarchy.ts';

/**
 * Which modules to open when a model is first shown: as many as keep the picture at `budget` boxes, the outer ones
 * first, so that the shape of the whole is seen, with one of each repeated block from the inside. Depends on the model
 * alone: a rebuild does not change the picture.
 */
export function initialOpen({ modules }: Hierarchy, budget = 30): Set<string> {
  const open = new Set<string>();
  const contents = (index: number) => modules[index]!.modules.length + modules[index]!.own.length;
  let visible = contents(0);
  let candidates = [...(modules[0]?.modules ?? [])];
  while (candidates.length > 0) {
    const next: number[] = [];
    // Small ones first: more of them fit.
    for (const index of candidates.toSorted((a, b) => contents(a) - contents(b) || a - b)) {
      const { id, kind, modules: inner } = modules[index]!;
      // The other blocks of a repetition look like the first.
      if (kind === 'repeat' && id.endsWith('~')) continue;
      if (visible + contents(index) > budget) continue;
      visible += contents(index);
      open.add(id);
      next.push(...(kind === 'repeat' ? inner.slice(0, 1) : inner));
    }
    candidates = next;
  }
  return open;
}
