import type { NodeIndex } from '../precision/language/nodeIndex.ts';
import { isBareName, writeName, writePath } from '../precision/language/quoteName.ts';

/** One rule of a fix, and the nodes that it selects (positions in the index). */
export interface FixRule {
  selector: string;
  nodes: number[];
}

/**
 * Selectors for nodes (positions): a pattern with `*` for each number in the name where that selects two or more of
 * them and no other node that computes, otherwise the name.
 */
export function fixRules(nodes: readonly number[], index: NodeIndex): FixRule[] {
  const wanted = new Set(nodes);
  const patterns = new Map<string, number[]>();
  const rules: FixRule[] = [];
  const done = new Set<number>();
  for (const node of nodes) {
    const name = index.names[node]!;
    const pattern = isBareName(name) ? name.replaceAll(/\d+/g, '*') : name;
    const known = patterns.get(pattern) ?? [];
    patterns.set(pattern, [...known, node]);
  }
  for (const node of nodes) {
    if (done.has(node)) continue;
    const name = index.names[node]!;
    const pattern = isBareName(name) ? name.replaceAll(/\d+/g, '*') : name;
    const group = patterns.get(pattern)!;
    const whole =
      group.length > 1 && [...index.matching(pattern)].every((i) => wanted.has(i) || index.computes[i] !== 1);
    const own = whole ? group : nodes.filter((other) => index.names[other] === name);
    rules.push({ selector: whole ? pattern : writeName(name), nodes: own });
    for (const one of own) done.add(one);
  }
  return rules;
}

/** What the text of a fix says apart from its rules. */
export interface RulesHead {
  /** The model as a `model` line names it. */
  model: string;
  /** Its line `base`. */
  base: 'fp16' | 'bf16' | 'keep';
  /** Comment lines, without `#`. */
  comments: string[];
}

/** The text of an override file with the rules of a fix; `notes` become comments after them. */
export function rulesText(
  { model, base, comments }: RulesHead,
  rules: readonly FixRule[],
  notes: readonly string[],
): string {
  return `model ${writePath(model)}\nbase ${base}\n${rules.length > 0 ? `\n${addedRules(comments, rules, notes)}` : ''}`;
}

/** The lines that a fix adds to an override file. */
export function addedRules(comments: readonly string[], rules: readonly FixRule[], notes: readonly string[]): string {
  const widest = Math.max(0, ...rules.map(({ selector }) => selector.length).filter((length) => length <= 64));
  const lines = rules.map(({ selector }, i) => `${selector.padEnd(widest)} fp32${notes[i] ? `  # ${notes[i]}` : ''}`);
  return [...comments.map((comment) => `# ${comment}`), ...lines, ''].join('\n');
}
