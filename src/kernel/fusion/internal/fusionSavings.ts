import { addTo } from '../../base/addTo.ts';
import type { FusionReport, FusionSaving, ReportLayer, ReportNode, ReportTensor } from '../fusionReport.ts';

/** Operators that give the same bytes another shape or name: alone they launch nothing. */
const views = new Set(['Reshape', 'Flatten', 'Squeeze', 'Unsqueeze', 'Identity', 'Dropout']);

/** Bytes of an element, by ONNX's name of the type. */
const elementBytes: Readonly<Record<string, number>> = {
  float: 4,
  float16: 2,
  bfloat16: 2,
  double: 8,
  int8: 1,
  uint8: 1,
  bool: 1,
  int16: 2,
  uint16: 2,
  int32: 4,
  uint32: 4,
  int64: 8,
  uint64: 8,
  float8e4m3fn: 1,
  float8e5m2: 1,
};

/**
 * What fusion saved in each group of two nodes or more, against a kernel a node that writes its outputs to memory:
 * derived from the members and the static shapes of the model. A tensor counts where one kernel, and no other, computes
 * the node that produces it and all that read it.
 * @param outputs names of the outputs of the model
 */
export function findSavings(report: FusionReport, outputs: ReadonlySet<string>): FusionSaving[] {
  const nodes = new Map(report.nodes.map((node) => [node.id, node]));
  const layers = new Map(report.layers.map((layer) => [layer.id, layer]));
  const inside = new Map<number, ReportTensor[]>();
  for (const tensor of report.tensors) {
    const layer = outputs.has(tensor.name) ? undefined : onlyLayer(tensor, nodes);
    if (layer !== undefined) addTo(inside, layer, tensor);
  }
  const members = new Map<number, ReportNode[]>();
  for (const node of report.nodes)
    if (!views.has(node.op)) for (const layer of node.layers) addTo(members, layer, node);
  const group = (of: FusionSaving['of'], own: readonly ReportLayer[]): FusionSaving[] => {
    const computing = new Set(own.flatMap(({ id }) => members.get(id) ?? []));
    if (computing.size < 2) return [];
    const opaque = own.some(({ kind }) => kind === 'foreign');
    const kernels = own.map((layer) => kernelsOf(layer, report.profile?.passes)).filter((count) => count !== null);
    const isCounted = kernels.length === own.length;
    const tensors = opaque ? [] : own.flatMap(({ id }) => inside.get(id) ?? []);
    const sizes = tensors.map(bytesOf).filter((size) => size !== null);
    return [
      {
        of,
        bytes: opaque ? null : sizes.reduce((sum, size) => sum + size, 0),
        tensors: sizes.length,
        unknownTensors: tensors.length - sizes.length,
        launches: isCounted
          ? Math.max(0, Math.round(computing.size - kernels.reduce((sum, count) => sum + count, 0)))
          : null,
      },
    ];
  };
  return [
    ...report.foreignNodes.flatMap((one) =>
      group(
        { foreignNode: one.id },
        one.layers.flatMap((id) => layers.get(id) ?? []),
      ),
    ),
    ...report.layers.flatMap((layer) => (layer.foreignNode === null ? group({ layer: layer.id }, [layer]) : [])),
  ];
}

/** The nodes of a layer that would launch a kernel alone. */
export const nodesInTogether = (layer: ReportLayer, nodes: ReadonlyMap<string, ReportNode>): ReportNode[] =>
  layer.nodes.flatMap((id) => nodes.get(id) ?? []).filter(({ op }) => !views.has(op));

/** Launches and bytes that the fusion in one layer saves; null: not known. */
export function savedBy(
  report: FusionReport,
): (layer: ReportLayer, computing: number) => { launches: number | null; bytes: number | null } {
  const nodes = new Map(report.nodes.map((node) => [node.id, node]));
  const inside = new Map<number, ReportTensor[]>();
  for (const tensor of report.tensors) {
    const layer = onlyLayer(tensor, nodes);
    if (layer !== undefined) addTo(inside, layer, tensor);
  }
  return (layer, computing) => {
    const kernels = kernelsOf(layer, report.profile?.passes);
    const sizes = (inside.get(layer.id) ?? []).map(bytesOf);
    return {
      launches: kernels === null ? null : Math.max(0, Math.round(computing - kernels)),
      bytes:
        layer.kind === 'foreign' || sizes.includes(null) ? null : sizes.reduce<number>((sum, size) => sum + size!, 0),
    };
  };
}

/** The layer that alone computes the producer and all readers of a tensor; undefined: there is none. */
function onlyLayer(
  { producer, consumers, layers }: ReportTensor,
  nodes: ReadonlyMap<string, ReportNode>,
): number | undefined {
  const from = producer === null ? undefined : nodes.get(producer);
  if (!from || views.has(from.op) || from.layers.length !== 1 || layers.length > 0 || consumers.length === 0)
    return undefined;
  const [layer] = from.layers;
  const stays = consumers.every((id) => {
    const reader = nodes.get(id);
    return reader?.layers.length === 1 && reader.layers[0] === layer;
  });
  return stays ? layer : undefined;
}

/** Kernels that a layer launches in a pass: as a trace says, otherwise one; null for a whole ForeignNode without a trace. */
function kernelsOf({ launches, kind, type, foreignNode }: ReportLayer, passes: number | undefined): number | null {
  if (passes !== undefined) return (launches ?? 0) / passes;
  if (kind === 'foreign') return null;
  if (foreignNode !== null) return kind === 'kernel' ? 1 : 0;
  return kind === 'shape' || kind === 'constant' || type === 'NoOp' ? 0 : 1;
}

function bytesOf({ type, shape }: ReportTensor): number | null {
  const width = elementBytes[type ?? ''];
  if (width === undefined || shape === null) return null;
  let elements = 1;
  for (const size of shape) {
    if (typeof size !== 'number') return null;
    elements *= size;
  }
  return elements * width;
}
