// What is put into low precision together.
import type { JudgedNode } from '../../../kernel/simulation/simulated.ts';
import { addTo } from '../../../kernel/base/addTo.ts';

/** Nodes that are put into low precision together, and nothing else. */
export interface SensitivityGroup {
  kind: 'node' | 'operator' | 'module';
  name: string;
  /** Positions among the judged nodes. */
  members: number[];
}

/** As many modules as the user reads. */
const MODULES = 40;

/**
 * What to try alone: the nodes with the largest local errors (`count` of them), every operator, and the modules of the
 * outermost level that has several.
 */
export function sensitivityGroups(nodes: readonly JudgedNode[], count: number): SensitivityGroup[] {
  const order = [...nodes.keys()].sort(
    (a, b) => (nodes[b]!.localError ?? Infinity) - (nodes[a]!.localError ?? Infinity),
  );
  const single = order.slice(0, count).map((i) => ({ kind: 'node' as const, name: nodes[i]!.name, members: [i] }));
  const operators = grouped('operator', nodes, ({ op }) => op);
  for (let depth = 1; depth <= 8; depth++) {
    const modules = grouped('module', nodes, ({ name }) => moduleOf(name, depth));
    if (modules.length > MODULES) break;
    if (modules.length > 1) return [...single, ...operators, ...modules];
  }
  return [...single, ...operators];
}

function grouped(
  kind: 'operator' | 'module',
  nodes: readonly JudgedNode[],
  keyOf: (node: JudgedNode) => string,
): SensitivityGroup[] {
  const groups = new Map<string, number[]>();
  for (const [i, node] of nodes.entries()) {
    const key = keyOf(node);
    if (key !== '') addTo(groups, key, i);
  }
  return [...groups].map(([name, members]) => ({ kind, name, members }));
}

/** The first segments of a name: `/encoder/layers.0` of `/encoder/layers.0/attn/MatMul` at depth 2; '' if it has fewer. */
export function moduleOf(name: string, depth: number): string {
  const segments = name.split('/').filter((segment) => segment !== '');
  return segments.length > depth ? `/${segments.slice(0, depth).join('/')}` : '';
}

// The result as text.
