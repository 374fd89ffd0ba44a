import type { ViewData } from '../../../src/kernel/picture/graph/viewData.ts';
import { foreignNode, graphOf, layer, reportOf } from '../../unit/kernel/picture/graph/graphBuilder.ts';

const fused = ['Transpose', 'MatMul', 'Gelu', 'MatMul', 'Add'];

/**
 * A chain of stages with ten blocks each; the nodes of every block but its first one are one ForeignNode.
 * @param nodes of one block, two at least
 */
export function manyGroups(groups: number, nodes = 6): ViewData {
  const lines: string[] = [];
  const members: string[][] = [];
  const single: string[] = [];
  let last = 'x';
  for (let group = 0; group < groups; group++) {
    const scope = `/stage.${Math.floor(group / 10)}/block_${'abcdefghij'[group % 10]!}`;
    const own: string[] = [];
    for (let i = 0; i < nodes; i++) {
      const op = i === 0 ? 'Conv' : fused[(i - 1) % fused.length]!;
      (i === 0 ? single : own).push(String(lines.length));
      const skip = op === 'Add' ? `, t${lines.length - 5}` : '';
      lines.push(`t${lines.length} @${scope}/${op}${i} = ${op}(${last}${skip})`);
      last = `t${lines.length - 1}`;
    }
    members.push(own);
  }
  const graph = graphOf(lines.join('\n'), ['x'], [last]);
  const foreign = members.map((ids, id) => layer(id, ids, { kind: 'foreign', foreignNode: id }));
  const alone = single.map((id, i) => layer(groups + i, [id]));
  const report = reportOf(
    graph,
    [...foreign, ...alone],
    members.map((ids, id) => foreignNode(id, ids, [id])),
  );
  return { title: `${groups}.onnx`, graph, report, build: null, hints: [] };
}
