import { inferTensors } from '../model/inferTensors.ts';
import { addTo } from '../text/addTo.ts';
import type { ReportTensor } from './fusionReport.ts';
import type { Resolution } from './resolution.ts';
import { withoutProfile } from '../model/layerNameParts.ts';

/** The tensors of all graphs of the model but its initializers, which no layer writes. */
export function reportTensors({ graph, view }: Resolution): ReportTensor[] {
  const { types, shapes } = inferTensors(graph);
  const writers = new Map<number, number[]>();
  for (const [layer, { outputs }] of view.layers.entries()) {
    for (const output of outputs) {
      const tensor = graph.byName.get(output.name) ?? graph.byName.get(withoutProfile(output.name));
      if (tensor !== undefined) addTo(writers, tensor, layer);
    }
  }
  const idOf = (node: number): string => graph.nodes[node]!.id;
  return graph.tensors.flatMap(({ name, kind, producer, consumers }, tensor) =>
    kind === 'initializer' || kind === 'undefined'
      ? []
      : [
          {
            name,
            producer: producer < 0 ? null : idOf(producer),
            consumers: [...new Set(consumers)].map(idOf),
            type: types[tensor] ?? null,
            shape: shapes[tensor] ?? null,
            layers: writers.get(tensor) ?? [],
          },
        ],
  );
}
