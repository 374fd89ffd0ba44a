import type { KernelCounters } from '../../read/tensorrt/readLayerInfo.ts';
import type { LayerCounters, ReportLayer } from '../fusionReport.ts';
import type { Problem } from '../../base/problem.ts';
import { addTo } from '../../base/addTo.ts';
import { counted } from '../../base/text.ts';
import { quote } from './namedMembers.ts';

/**
 * Puts what Nsight Compute measured to layers: a kernel is a layer's if its name begins with the name that TensorRT gives
 * to the layer's kernel. Layers that share it take turns in the order of the engine, if there are as many kernels for
 * each; otherwise nothing says which is which. Several kernels of one layer are averaged.
 */
export function joinCounters(
  layers: readonly Pick<ReportLayer, 'tactic'>[],
  kernels: readonly KernelCounters[],
): { counters: (LayerCounters | undefined)[]; problems: Problem[] } {
  const byTactic = new Map<string, number[]>();
  layers.forEach(({ tactic }, index) => {
    // Numbers are no names, and every name begins with an empty one.
    if (tactic !== null && !/^(?:(?:0x)?[\da-f]+)?$/i.test(tactic)) addTo(byTactic, tactic, index);
  });
  const tactics = [...byTactic.keys()].toSorted((a, b) => b.length - a.length);
  const found = new Map<string, KernelCounters[]>();
  const others: string[] = [];
  for (const kernel of kernels) {
    const tactic = tactics.find((one) => kernel.name.startsWith(one));
    if (tactic === undefined) others.push(kernel.name);
    else addTo(found, tactic, kernel);
  }
  const own = layers.map((): KernelCounters[] => []);
  const unclear: string[] = [];
  for (const [tactic, launched] of found) {
    const of = byTactic.get(tactic)!;
    if (launched.length % of.length !== 0) unclear.push(tactic);
    else launched.forEach((kernel, index) => own[of[index % of.length]!]!.push(kernel));
  }
  const problems: Problem[] = [];
  if (unclear.length > 0)
    problems.push({
      severity: 'warning',
      code: 'counters-order',
      message: `${counted(unclear.length, 'kernel')} of Nsight Compute, the first ${quote(unclear[0]!)}, ${unclear.length === 1 ? 'is' : 'are'} the kernel of several layers and ${unclear.length === 1 ? 'was' : 'were'} not measured once for each: record whole inferences.`,
    });
  if (others.length > 0 && others.length === kernels.length)
    problems.push({
      severity: 'warning',
      code: 'counters-mismatch',
      message: `None of the ${counted(kernels.length, 'kernel')} of Nsight Compute has the name of a layer's kernel. Pass layer info with tactic names (--profilingVerbosity=detailed) of the same engine.`,
    });
  return { counters: own.map((list) => (list.length === 0 ? undefined : averaged(list))), problems };
}

function averaged(kernels: readonly KernelCounters[]): LayerCounters {
  const mean = (key: 'sm' | 'dram' | 'tensor' | 'occupancy'): number | null => {
    const values = kernels.flatMap((kernel) => kernel[key] ?? []);
    return values.length === 0
      ? null
      : Math.round((values.reduce((sum, one) => sum + one, 0) / values.length) * 100) / 100;
  };
  return { sm: mean('sm'), dram: mean('dram'), tensor: mean('tensor'), occupancy: mean('occupancy') };
}
