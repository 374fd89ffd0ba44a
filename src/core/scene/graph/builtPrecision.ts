import { tensorPrecision } from '../../engine/tensorPrecision.ts';
import type { FusionReport, ReportNode } from '../../fusion/fusionReport.ts';
import { layerOf } from '../../report/layers.ts';

/**
 * In which type the engine's layers write what a node computes: `fp32`, `fp16`, `bf16`, `fp8`, `int8`, `integer`, … or
 * `mixed`; null if the layer information does not say. What happens inside a fused kernel is unknown.
 */
export function builtPrecision(report: FusionReport, node: ReportNode): string | null {
  const found = new Set<string>();
  for (const id of node.layers) {
    for (const tensor of layerOf(report, id)?.outputs ?? []) {
      const precision = tensorPrecision(tensor);
      if (precision !== null) found.add(precision);
    }
  }
  if (found.size > 1) found.delete('integer');
  if (found.size === 0) return null;
  return found.size === 1 ? [...found][0]! : 'mixed';
}
