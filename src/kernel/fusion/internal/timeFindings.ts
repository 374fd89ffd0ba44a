import { tensorBytes, tensorPrecision } from '../../read/tensorrt/buildOutput.ts';
import { counted, percentText, thousands, timeText } from '../../base/text.ts';
import { addTo } from '../../base/addTo.ts';
import type { FusionReport, ReportLayer, TimeFinding } from '../fusionReport.ts';

/** Kernels shorter than this take no longer than it takes to launch one. */
const shortMs = 0.005;
/** A wait this long, and several times as long as a launch, is not the time between two launches. */
const longGapMs = 0.05;
const launchesInGap = 3;
/** Findings that concern less of the time than this are left out. */
const leastShare = 0.01;
/** The share of a pass without kernels, or of the memory's bandwidth, that makes a finding. */
const waiting = 0.2;
const nearBandwidth = 0.6;
/** With fewer layers than this, a share of them says nothing. */
const fewLayers = 10;

/**
 * Time that may be avoidable: each finding with the layers and nodes that it concerns and the time that they take.
 * Measured where a trace or profile says so; derived where names and shapes do; nothing where they do not. Empty without
 * times.
 */
export function findTimes(report: FusionReport): TimeFinding[] {
  const timed = report.layers.filter(({ averageMs }) => averageMs !== null);
  const whole = timed.reduce((sum, layer) => sum + layer.averageMs!, 0);
  if (whole === 0) return [];
  const all = [
    launchBound(report, timed),
    hostGaps(report),
    memoryBound(report, timed),
    noTensorCores(timed),
    misalignedChannels(report, timed),
    reformatCost(report, timed),
  ];
  return all.filter((one) => one !== null).filter(({ ms }) => ms >= leastShare * whole);
}

const sumOf = (layers: readonly ReportLayer[]): number => layers.reduce((sum, { averageMs }) => sum + averageMs!, 0);

/** What all findings on layers have. */
const about = (layers: readonly ReportLayer[]): Pick<TimeFinding, 'ms' | 'nodes' | 'layers'> => ({
  ms: Math.round(sumOf(layers) * 1e9) / 1e9,
  nodes: [...new Set(layers.flatMap(({ nodes }) => nodes))],
  layers: layers.map(({ id }) => id),
});

/** A ForeignNode counts as one layer elsewhere; here each of its kernels is timed. */
const withNoun = (layers: readonly ReportLayer[], one: string, many: string): string => {
  const kernels = layers.filter(({ kind }) => kind === 'kernel').length;
  if (layers.length === 1) return `1 ${kernels === 1 ? 'kernel' : 'layer'} ${one}`.trimEnd();
  const noun = kernels === 0 ? 'layers' : kernels === layers.length ? 'kernels' : 'layers and kernels';
  return `${thousands(layers.length)} ${noun} ${many}`.trimEnd();
};

const slowestFirst = (layers: readonly ReportLayer[]): ReportLayer[] =>
  layers.toSorted((a, b) => b.averageMs! - a.averageMs!);

/** A trace shows that the GPU waits between short kernels; a profile alone only that layers are short. */
function launchBound({ profile }: FusionReport, timed: readonly ReportLayer[]): TimeFinding | null {
  const kernels = ({ launches = 0 }: ReportLayer): number => (profile ? launches / profile.passes : 1);
  const running = timed.filter(({ kind, type, foreignNode }) =>
    foreignNode === null
      ? kind !== 'shape' && kind !== 'constant' && type !== 'NoOp'
      : kind !== 'shape' && kind !== 'other',
  );
  const short = running.filter((layer) => layer.averageMs! / Math.max(1, kernels(layer)) < shortMs);
  const count = (layers: readonly ReportLayer[]): number =>
    Math.round(layers.reduce((sum, layer) => sum + kernels(layer), 0));
  const all = count(running);
  if (short.length < fewLayers || count(short) < all / 2) return null;
  const about5 = `take less than ${timeText(shortMs)} each`;
  const advice = 'Larger batches, fewer and larger kernels or a CUDA graph help.';
  if (!profile)
    return {
      code: 'launch-bound',
      exact: false,
      message: `${thousands(short.length)} of ${withNoun(running, '', '')} ${about5}: launching can take longer than running. A trace of Nsight Systems shows whether the GPU waits. ${advice}`,
      evidence: [`${withNoun(short, '', '')} under ${timeText(shortMs)}, ${timeText(sumOf(short))} together`],
      ...about(short),
    };
  const { pass, launches } = profile;
  if (pass === undefined || pass.gapMs < waiting * pass.p50) return null;
  return {
    code: 'launch-bound',
    exact: true,
    message: `${thousands(count(short))} of ${counted(all, 'kernel')} of a pass ${about5}, and for ${percentText((100 * pass.gapMs) / pass.p50)} of the pass no kernel runs. ${advice} nsys slows each launch: check the share with the time of a run without it.`,
    evidence: [
      `no kernel runs for ${timeText(pass.gapMs)} of ${timeText(pass.p50)} (median pass)`,
      ...(launches?.p50 !== undefined && launches.p90 !== undefined
        ? [
            `a launch takes ${timeText(launches.p50)} of the host (median after the first pass; 90 % take ${timeText(launches.p90)} or less), with what nsys adds to it`,
          ]
        : []),
    ],
    ...about(short),
  };
}

/** Long waits before single layers: the host does something else than to launch. */
function hostGaps({ layers, profile }: FusionReport): TimeFinding | null {
  if (!profile?.pass) return null;
  const { launches } = profile;
  const launchMs = launches?.p50 ?? 0;
  const least = Math.max(longGapMs, launchesInGap * launchMs);
  const late = layers.filter(({ gapMs = 0 }) => gapMs >= least).toSorted((a, b) => b.gapMs! - a.gapMs!);
  const gaps = late.reduce((sum, { gapMs }) => sum + gapMs!, 0);
  if (late.length === 0 || gaps < (waiting / 2) * profile.pass.p50) return null;
  return {
    ...about(late.filter(({ averageMs }) => averageMs !== null)),
    code: 'host-gaps',
    exact: true,
    message: `The GPU waits for ${timeText(gaps)} (${percentText((100 * gaps) / profile.pass.p50)} of a pass) before ${counted(late.length, 'layer')}, each time longer than several launches take. Look there for copies, synchronization and shapes that the host computes.`,
    evidence: late.slice(0, 5).map(({ id, name, gapMs }) => `layer ${id} (${name}): ${timeText(gapMs!)} before it`),
    ms: Math.round(gaps * 1e9) / 1e9,
  };
}

/** As Nsight Compute measured; otherwise tensors that do not fit the cache and move nearly as fast as the memory allows. */
function memoryBound(report: FusionReport, timed: readonly ReportLayer[]): TimeFinding | null {
  const measured = slowestFirst(
    timed.filter(({ counters }) => {
      const { dram = null, sm = null } = counters ?? {};
      return dram !== null && dram >= 100 * nearBandwidth && dram > (sm ?? 0);
    }),
  );
  if (measured.length === 0) return timed.some(({ counters }) => counters) ? null : memoryBoundBySizes(report, timed);
  return {
    code: 'memory-bound',
    exact: true,
    message: `${withNoun(measured, 'uses', 'use')} ${percentText(100 * nearBandwidth)} or more of the memory's throughput, and less of the multiprocessors': fewer bytes (FP16, INT8, more fusion) make them faster, more compute does not.`,
    evidence: measured
      .slice(0, 5)
      .map(
        ({ id, name, counters }) =>
          `layer ${id} (${name}): ${percentText(counters!.dram!)} of the memory's throughput (ncu)`,
      ),
    ...about(measured),
  };
}

/** Without weights, which a layer may read from the memory, too. */
function memoryBoundBySizes({ profile }: FusionReport, timed: readonly ReportLayer[]): TimeFinding | null {
  const { bytesPerSecond = null, cacheBytes = null, name = '' } = profile?.gpu ?? {};
  if (bytesPerSecond === null || cacheBytes === null) return null;
  const shareOf = (layer: ReportLayer): number => {
    const bytes = tensorBytes([...layer.inputs, ...layer.outputs]);
    return bytes === null || bytes <= cacheBytes ? 0 : bytes / (layer.averageMs! / 1e3) / bytesPerSecond;
  };
  const bound = slowestFirst(timed.filter((layer) => shareOf(layer) >= nearBandwidth));
  if (bound.length === 0) return null;
  return {
    code: 'memory-bound',
    exact: false,
    message: `${withNoun(bound, 'reads and writes its tensors', 'read and write their tensors')} at ${percentText(100 * nearBandwidth)} or more of the memory bandwidth of ${name}: fewer bytes (FP16, INT8, more fusion) make them faster, more compute does not.`,
    evidence: bound
      .slice(0, 5)
      .map(
        (layer) =>
          `layer ${layer.id} (${layer.name}): ${percentText(100 * shareOf(layer))} of the bandwidth, by its tensors' sizes`,
      ),
    ...about(bound),
  };
}

/** Names of kernels that multiply without tensor cores: for GPUs that had none, with FFMA, with DP4A. */
const plainKernel = /^sm50_xmma_|_ffma(?:_|$)|_simt_|_scudnn_|_icudnn_int8x4_/;
const multiplies = /gemm|conv|fprop|cudnn/i;
/** Work for which tensor cores are of no use. */
const tooNarrow = /gemv|depthwise|smallN|pooling|_c1_k1_/i;

/** Layers that multiply without tensor cores, as Nsight Compute measured, otherwise as the names of the kernels say. */
export const withoutTensorCores = (layers: readonly ReportLayer[]): ReportLayer[] =>
  layers.filter(({ tactic, counters }) => {
    if (tactic === null || !multiplies.test(tactic) || tooNarrow.test(tactic)) return false;
    const used = counters?.tensor ?? null;
    return used === null ? plainKernel.test(tactic) : used === 0;
  });

function noTensorCores(timed: readonly ReportLayer[]): TimeFinding | null {
  const plain = slowestFirst(withoutTensorCores(timed));
  if (plain.length === 0) return null;
  const exact = plain.every(({ counters }) => (counters?.tensor ?? null) !== null);
  return {
    code: 'no-tensor-cores',
    exact,
    message: `${withNoun(plain, 'multiplies', 'multiply')} without tensor cores${exact ? '' : ', as the names of the kernels say'}. Allow TF32, FP16, BF16 or INT8, and use channels that are multiples of 8.`,
    evidence: plain.slice(0, 5).map(({ id, tactic, averageMs }) => `layer ${id}: ${tactic}, ${timeText(averageMs!)}`),
    ...about(plain),
  };
}

/** What tensor cores take at a time, by the type of the data. */
const alignments: Readonly<Record<string, number>> = { fp16: 8, bf16: 8, int8: 16, fp8: 16 };

/** Channels of convolutions and products that are no multiple of what tensor cores take: the rest is padding. */
function misalignedChannels(report: FusionReport, timed: readonly ReportLayer[]): TimeFinding | null {
  const ops = new Map(report.nodes.map(({ id, op }) => [id, op]));
  const outputs = new Map(
    report.tensors.flatMap((tensor) => (tensor.producer === null ? [] : [[tensor.producer, tensor]])),
  );
  const inputs = new Map<string, FusionReport['tensors']>();
  for (const tensor of report.tensors) for (const id of tensor.consumers) addTo(inputs, id, tensor);
  const evidence: string[] = [];
  const isMisaligned = (layer: ReportLayer): boolean => {
    const multiple = alignments[layer.outputs.map(tensorPrecision).find((type) => type !== null) ?? ''];
    const isProduct = multiplies.test(`${layer.type} ${layer.tactic ?? ''}`) && !/_mha_/.test(layer.tactic ?? '');
    if (multiple === undefined || !isProduct) return false;
    return layer.nodes.some((id) => {
      const op = ops.get(id) ?? '';
      const axis = op === 'Conv' ? 1 : op === 'MatMul' || op === 'Gemm' ? -1 : null;
      if (axis === null) return false;
      const sizes = [outputs.get(id), ...(op === 'Conv' ? (inputs.get(id) ?? []) : [])].flatMap((tensor) => {
        // An input of the model, as an image, has the channels that it has.
        const size = tensor === undefined || tensor.producer === null ? undefined : tensor.shape?.at(axis);
        return typeof size === 'number' && size % multiple !== 0 ? [{ name: tensor!.name, size }] : [];
      });
      for (const { name, size } of sizes.slice(0, 1))
        evidence.push(`layer ${layer.id}: ${name} has ${size} channels, not a multiple of ${multiple}`);
      return sizes.length > 0;
    });
  };
  const found = slowestFirst(timed).filter(isMisaligned);
  if (found.length === 0) return null;
  return {
    code: 'misaligned-channels',
    exact: false,
    message: `${withNoun(found, 'computes', 'compute')} channels that are not a multiple of what tensor cores take at a time (8 in FP16 and BF16, 16 in INT8 and FP8), so that a part of the work is padding. Round the channels up in the model.`,
    evidence: evidence.slice(0, 5),
    ...about(found),
  };
}

/** Time of copies between memory layouts and types, and the nodes at both ends. */
function reformatCost({ layers }: FusionReport, timed: readonly ReportLayer[]): TimeFinding | null {
  const copies = slowestFirst(timed.filter(({ kind, type }) => kind === 'reformat' && type !== 'NoOp'));
  if (copies.length === 0) return null;
  const names = new Set(copies.flatMap(({ inputs, outputs }) => [...inputs, ...outputs].map(({ name }) => name)));
  const ends = layers.filter(
    ({ kind, inputs, outputs }) => kind !== 'reformat' && [...inputs, ...outputs].some(({ name }) => names.has(name)),
  );
  return {
    ...about(copies),
    code: 'reformat-cost',
    exact: true,
    message: `${counted(copies.length, 'reformat')} between memory layouts and types ${copies.length === 1 ? 'takes' : 'take'} ${timeText(sumOf(copies))}. The same type and layout on both sides avoids them.`,
    evidence: copies
      .slice(0, 5)
      .map(({ id, inputs, averageMs }) => `layer ${id}: ${inputs[0]?.name ?? 'a tensor'}, ${timeText(averageMs!)}`),
    nodes: [...new Set(ends.flatMap(({ nodes }) => nodes))],
  };
}
