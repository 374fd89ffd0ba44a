import type { FusionReport, ReportLayer } from '../../fusion/fusionReport.ts';
import { withoutKernelPlace } from '../../model/layerNameParts.ts';

/** Layers of one group that do the same: the same ops, and names that differ in numbers only if there are no ops. */
export interface KernelFamily {
  id: string;
  /** What they compute, in the model's words: `MatMul + Add`. */
  label: string;
  /** TensorRT's name, numbers replaced by # where they differ. */
  name: string;
  /** Positions in the report's layers, in order. */
  layers: number[];
}

/** How many ops a label names before it counts the rest. */
const mostOps = 4;

/** Ops of a layer's nodes in file order: repeated ones once, the rest counted. '' without nodes. */
export function opsLabel(ops: readonly string[]): string {
  const kinds = [...new Set(ops)];
  if (kinds.length <= mostOps + 1) return kinds.join(' + ');
  return `${kinds.slice(0, mostOps).join(' + ')} + ${kinds.length - mostOps} more`;
}

/** A kernel's name without what numbers it: `__mye137767+__mye137755_myl2_2` → `__mye#+__mye#`. */
export const kernelPattern = (name: string): string => withoutKernelPlace(name).replaceAll(/\d+/g, '#');

/** Sorts a group's layers (positions) into families, in order of their first layer. `titles` are those of all layers. */
export function kernelFamilies(
  report: FusionReport,
  group: string,
  layers: readonly number[],
  titles: readonly string[],
): KernelFamily[] {
  const families = new Map<string, KernelFamily>();
  for (const index of layers) {
    const layer = report.layers[index];
    if (layer === undefined) continue;
    const label = titles[index] ?? '';
    const key = `${group}\u0000${layer.type}\u0000${label}`;
    const known = families.get(key);
    if (known === undefined) {
      families.set(key, { id: `kernels:${group}:${layer.id}`, label, name: layer.name, layers: [index] });
    } else {
      known.layers.push(index);
      if (known.name !== layer.name)
        known.name = kernelPattern(layer.name) === kernelPattern(known.name) ? kernelPattern(layer.name) : '';
    }
  }
  return [...families.values()];
}

/** What a layer does, in few words: its nodes' ops, otherwise its kind, otherwise its name. `ops` is op by node id. */
export function layerTitle(layer: ReportLayer, ops: Map<string, string>): string {
  if (layer.kind === 'foreign') return 'Kernels not listed';
  const own = opsLabel(layer.nodes.flatMap((id) => ops.get(id) ?? []));
  if (own !== '') return own;
  if (layer.kind === 'reformat') return 'Reformat';
  return kernelPattern(layer.name).replaceAll(/[\u001e\u001f]/g, ' ') || layer.type || `layer ${layer.id}`;
}
