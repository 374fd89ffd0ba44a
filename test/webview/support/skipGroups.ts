import type { ViewData } from '../../../src/kernel/picture/graph/viewData.ts';
import { foreignNode, graphOf, layer, reportOf } from '../../unit/kernel/picture/graph/graphBuilder.ts';

/** A U-Net of five levels whose blocks are ForeignNodes; skips lead from each level down to the one back up. */
export function skipGroups(levels = 5): ViewData {
  const lines: string[] = [];
  const members: string[][] = [];
  const titles: string[] = [];
  const single: string[] = [];
  const add = (scope: string, op: string, ...inputs: string[]): string => {
    lines.push(`t${lines.length} @${scope}/${op} = ${op}(${inputs.join(', ')})`);
    return `t${lines.length - 1}`;
  };
  const block = (scope: string, x: string): string => {
    const first = lines.length;
    const last = ['a', 'b'].reduce(
      (at, half) =>
        add(
          `${scope}/${half}`,
          'Relu',
          add(`${scope}/${half}`, 'InstanceNormalization', add(`${scope}/${half}`, 'Conv', at)),
        ),
      x,
    );
    titles.push(`${scope.slice(1)} · Conv ×2 + InstanceNorm ×2`);
    members.push(Array.from({ length: lines.length - first }, (_, i) => String(first + i)));
    return last;
  };
  const alone = (scope: string, op: string, ...inputs: string[]): string => {
    single.push(String(lines.length));
    return add(scope, op, ...inputs);
  };
  const skips: string[] = [];
  let x = 'x';
  for (let level = 0; level < levels; level++) {
    x = block(`/encoder/level.${level}`, x);
    skips.push(x);
    x = alone(`/encoder/down.${level}`, 'MaxPool', x);
  }
  x = block('/bottleneck', x);
  for (let level = levels - 1; level >= 0; level--) {
    x = alone(`/decoder/up.${level}`, 'ConvTranspose', x);
    x = alone(`/decoder/join.${level}`, 'Concat', x, skips[level]!);
    x = block(`/decoder/level.${level}`, x);
  }
  x = alone('/head', 'Conv', x);
  const graph = graphOf(lines.join('\n'), ['x'], [x]);
  const foreign = members.map((ids, id) => layer(id, ids, { kind: 'foreign', foreignNode: id }));
  const rest = single.map((id, i) => layer(members.length + i, [id]));
  const report = reportOf(
    graph,
    [...foreign, ...rest],
    members.map((ids, id) => foreignNode(id, ids, [id], { title: titles[id]! })),
  );
  return { title: 'unet.onnx', graph, report, build: null, hints: [] };
}
