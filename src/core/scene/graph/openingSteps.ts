import type { Hierarchy } from './hierarchy.ts';

/**
 * Which modules to open when a model is first shown, from a little to a lot: the outer ones first, largest first, and
 * of a repeated block one from the inside. Show the last step that fits the screen. Depends on the model alone, so that
 * a rebuild does not change the picture.
 */
export function openingSteps({ modules }: Hierarchy, most = 120): Set<string>[] {
  const steps: Set<string>[] = [new Set()];
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
      steps.push(new Set([...steps.at(-1)!, id]));
      next.push(...(kind === 'repeat' ? inner.slice(0, 1) : inner));
    }
    candidates = next;
  }
  return steps;
}
