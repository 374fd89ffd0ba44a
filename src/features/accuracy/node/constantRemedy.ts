import type { ConstantFault, JudgedNode, Remedy, RemedyTensor } from '../../../kernel/simulation/simulated.ts';
import { finiteOrNull } from '../accuracyReport.ts';
import {
  clamped,
  clampEnds,
  constantFault,
  constantsRead,
  type ReducedPrecisionModel,
  type Replacement,
} from '../chunkPlan.ts';
import type { OnnxTensor } from '../../../kernel/read/onnx/onnxModel.ts';
import { rawElements } from '../../../kernel/read/onnx/readElements.ts';
import type { Network } from '../../../kernel/network/network.ts';

/** A constant that does not fit, with its elements. */
export interface FaultyConstant {
  fault: ConstantFault;
  values: Float64Array;
  shape: number[];
}

/** Larger constants are not looked at: they are weights. */
const MOST = 1 << 22;

/** The constants that these nodes read and that do not fit. `read`: the elements of a stored tensor; null: unknown. */
export async function faultyConstants(
  low: ReducedPrecisionModel,
  network: Network,
  ids: ReadonlySet<string>,
  read: (tensor: OnnxTensor) => Promise<Float64Array | null>,
): Promise<FaultyConstant[]> {
  const found: FaultyConstant[] = [];
  for (const constant of constantsRead(low, network, ids)) {
    const { stored } = constant;
    const shape = typeof stored === 'number' ? [] : stored.shape;
    if (shape.reduce((size, dim) => size * dim, 1) > MOST) continue;
    // oxlint-disable-next-line no-await-in-loop -- one file, one tensor after the other
    const values = typeof stored === 'number' ? Float64Array.of(stored) : await read(stored);
    const fault = values && constantFault(values, constant);
    if (fault) found.push({ fault, values, shape });
  }
  return found;
}

/** The nodes with the constants that each reads. */
export function withConstants(nodes: readonly JudgedNode[], faults: readonly FaultyConstant[]): JudgedNode[] {
  return nodes.map((node) => {
    const own = faults.filter(({ fault }) => fault.nodes.includes(node.id));
    if (own.length === 0) return node;
    const constants = own.map(({ fault: { tensor, kind, value, elements, of } }) => ({
      tensor,
      kind,
      value,
      elements,
      of,
    }));
    return { ...node, constants };
  });
}

/** What nodes read instead of constants that do not fit. `end`: which end of the range, from 0. */
function clampedInputs(faults: readonly FaultyConstant[], at: readonly RemedyTensor[]): Replacement[] {
  return faults.flatMap(({ fault, values, shape }, i) => {
    const { tensor, at: places, to } = at[i]!;
    const bytes = rawElements('float', clamped(values, fault, Math.abs(to)));
    return places.map((place) => ({
      ...place,
      tensor: { name: `${tensor}_clamped`, newType: 'float' as const, shape, bytes },
    }));
  });
}

/** Runs with other constants. */
export interface RemedyRuns {
  /** Positions of nodes that the fix keeps in FP32. */
  fix: readonly number[];
  tolerance: number;
  /** No time is left. */
  over: () => boolean;
  /** Makes the model with these constants; errors with these nodes exact. */
  make: (replaced: readonly Replacement[]) => Promise<(exact: readonly number[]) => Promise<number>>;
}

/** Some changes to try together. */
export interface RemedyTrial {
  tensors: RemedyTensor[];
  replaced: Replacement[];
}

/** From this magnitude on, a constant that overflows rather stands for infinity than for a number. */
const MEANS_INFINITY = 1e6;

/** Clamps all constants, then those that only mean very much or very little, to one end of the range after the other. */
export function clampTrials({ low }: ReducedPrecisionModel, faults: readonly FaultyConstant[]): RemedyTrial[] {
  const ends = faults.filter(({ fault: { kind, value } }) => kind === 'underflow' || Math.abs(value) >= MEANS_INFINITY);
  const groups = [faults, ...(ends.length > 0 && ends.length < faults.length ? [ends] : [])];
  return groups.flatMap((some) =>
    [0, 1].map((end) => {
      const tensors = some.map(({ fault }): RemedyTensor => {
        const all = clampEnds(fault);
        const to = Math.sign(fault.value) * all[Math.min(end, all.length - 1)]!;
        const at = low.flatMap(({ node }) =>
          node.inputs.flatMap((name, index) =>
            name === fault.tensor && fault.nodes.includes(node.id) ? [{ node: node.id, index }] : [],
          ),
        );
        return { kind: 'clamp', tensor: fault.tensor, from: fault.value, to, elements: fault.elements, at };
      });
      return { tensors, replaced: clampedInputs(some, tensors) };
    }),
  );
}

/** The best of some changes: the fewest nodes that have to stay in FP32 all the same. Where none helps, the first. */
export async function bestRemedy(
  low: ReducedPrecisionModel,
  trials: readonly RemedyTrial[],
  runs: RemedyRuns,
): Promise<Remedy | null> {
  let best: Remedy | null = null;
  const sizeOf = ({ rest }: Remedy): number => rest?.nodes.length ?? Infinity;
  for (const trial of trials) {
    if (runs.over() || (best && sizeOf(best) === 0)) break;
    // oxlint-disable-next-line no-await-in-loop -- the simulation does one thing at a time
    const found = await tryRemedy(low, trial, runs);
    if (!best || sizeOf(found) < sizeOf(best)) best = found;
  }
  return best;
}

/** More nodes are not omitted one by one. */
const MOST_NODES = 16;

/** A change with the nodes that have to stay in FP32 all the same. */
async function tryRemedy(
  { low }: ReducedPrecisionModel,
  { tensors, replaced }: RemedyTrial,
  { fix, tolerance, over, make }: RemedyRuns,
): Promise<Remedy> {
  const errorWith = await make(replaced);
  const alone = await errorWith([]);
  const found = { tensors, error: finiteOrNull(alone) };
  const restOf = (nodes: readonly number[], error: number): Remedy['rest'] => ({
    nodes: nodes.map((at) => low[at]!.node.id),
    names: nodes.map((at) => low[at]!.node.name || low[at]!.node.id),
    error: finiteOrNull(error),
  });
  if (alone <= tolerance) return { ...found, rest: restOf([], alone) };
  if (fix.length > MOST_NODES || !((await errorWith(fix)) <= tolerance)) return { ...found, rest: null };
  let [rest, error] = [fix, Infinity];
  for (const node of fix.toReversed()) {
    if (over()) break;
    const fewer = rest.filter((other) => other !== node);
    // oxlint-disable-next-line no-await-in-loop -- each depends on the one before
    const result = await errorWith(fewer);
    if (result <= tolerance) [rest, error] = [fewer, result];
  }
  return { ...found, rest: rest.length < fix.length ? restOf(rest, error) : null };
}
