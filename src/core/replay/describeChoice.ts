import { implementationId, tacticHex } from './algorithm.ts';
import type { Algorithm, OfferedChoice, TensorFormat } from './algorithm.ts';
import { timeText } from '../text/numbers.ts';

/**
 * Implementation ids that builds of 8.4 to 10.16 were seen to print next to their runner's name. Ids may differ in
 * other versions.
 */
const runners: Readonly<Record<number, string>> = {
  0x80000000: 'CudnnConvolution',
  0x80000003: 'ElementWise',
  0x80000005: 'CudnnPooling',
  0x80000006: 'Reformat',
  0x80000007: 'Scale',
  0x80000009: 'CaskConvolution',
  0x8000000d: 'Shuffle',
  0x8000000e: 'Reduce',
  0x8000001c: 'TiledPooling',
  0x8000001f: 'Resize',
  0x80000022: 'LogSoftmaxTopK',
  0x80000023: 'Myelin',
  0x80000024: 'ShapeHostToDevice',
  0x80000026: 'Fill',
  0x80000028: 'PointWiseV2',
  0x80000029: 'CublasConvolution',
  0x8000002d: 'CaskDeconvolutionV2',
  0x8000002e: 'CaskGemmConvolution',
  0x8000002f: 'CaskPooling',
  0x80000030: 'CaskGemmMatrixMultiply',
  0x80000032: 'TrainStation',
  0x80000033: 'NonZero',
  0x80000035: 'MyelinReformat',
  0x80000036: 'CaskFlattenConvolution',
  0x80000037: 'CaskGemmDeconvolution',
  0x80000038: 'NMS',
  0x80000039: 'CaskConvActPool',
  0x8000003e: 'MyelinReduce',
  0x80000040: 'CaskSoftMaxV2',
  0x80000046: 'MyelinElementWise',
  0x80000049: 'PluginV3',
};

/** The same of 8.0 to 8.2, which counted otherwise and wrote ids as signed numbers. */
const signedRunners: Readonly<Record<number, string>> = {
  0x8000000a: 'CaskConvolution',
  0x8000000e: 'Shuffle',
  0x80000020: 'TiledPooling',
  0x80000026: 'LogSoftmaxTopK',
  0x8000002d: 'CublasConvolution',
};

/** Myelin: what runs a ForeignNode. */
export const myelinId = 0x80000023;

/** Whether an implementation is Myelin's; false for ids of 8.0 to 8.2, of which its is not known. */
export function isMyelin({ implementation }: Algorithm): boolean {
  return implementationId(implementation) === myelinId && !implementation.startsWith('-');
}

/**
 * An implementation as text: `CaskConvolution (0x80000009)`, `implementation 0x8000004f` where its name is not known.
 */
export function implementationName(text: string): string {
  const id = implementationId(text);
  if (id === null) return `implementation ${text}`;
  const hex = `0x${id.toString(16).padStart(8, '0')}`;
  const name = (text.startsWith('-') ? signedRunners : runners)[id];
  return name ? `${name} (${hex})` : `implementation ${hex}`;
}

const typeWords: Readonly<Record<string, string>> = { FLOAT: 'FP32', HALF: 'FP16' };

/** A data type as people say it: FP32 for FLOAT, FP16 for HALF. */
function typeWord(dtype: string): string {
  return typeWords[dtype] ?? dtype;
}

/** A memory layout as text: `linear`, `channels last`, `vectors of 8 along dimension 1, channels last`. */
export function layoutWord(format: TensorFormat): string {
  const { strides, vectorizedDim, components } = format;
  if (format.format !== null && (strides === null || vectorizedDim === null)) return format.format;
  if (strides === null) return 'layout not recorded';
  const packed = vectorizedDim !== null && vectorizedDim >= 0 && (components ?? 1) > 1;
  const last = strides.length > 2 && strides[1] === 1 && (strides.at(-1) ?? 1) >= 1 && !descending(strides);
  const order = last ? 'channels last' : descending(strides) ? 'linear' : `strides ${strides.join(', ')}`;
  return packed ? `vectors of ${components} along dimension ${vectorizedDim}, ${order}` : order;
}

function descending(strides: readonly number[]): boolean {
  return strides.every((stride, i) => i === 0 || stride <= (strides[i - 1] ?? stride));
}

/** One input or output as text: `FP16, vectors of 8 along dimension 1, channels last`. */
export function formatWords(format: TensorFormat): string {
  return `${typeWord(format.dtype)}, ${layoutWord(format)}`;
}

/** An algorithm in one line, for lists of alternatives. */
export function choiceTitle(algorithm: Algorithm): string {
  const types = (formats: readonly TensorFormat[]) =>
    [...new Set(formats.map(({ dtype }) => typeWord(dtype)))].join(' and ') || 'nothing';
  const tactic = isMyelin(algorithm) ? '' : `, tactic ${tacticHex(algorithm.tactic)}`;
  return `${types(algorithm.inputs)} → ${types(algorithm.outputs)}, ${implementationName(algorithm.implementation)}${tactic}`;
}

/** What tells apart choices of one kernel, in growing detail: the layouts at both sides, then the strides, too. */
function layoutTitles({ inputs, outputs }: Algorithm): string[] {
  const sides = (words: (format: TensorFormat) => string) =>
    [inputs, outputs].map((formats) => [...new Set(formats.map(words))].join(' and ') || 'nothing').join(' → ');
  return [sides(layoutWord), sides((format) => `${layoutWord(format)} (${format.strides?.join(', ') ?? '?'})`)];
}

/** A choice with its time: `FP32 → FP32, CaskConvolution (0x80000009), tactic 0x…, 0.0332 ms`. */
export function titleOf({ algorithm, ms, tf32 }: OfferedChoice): string {
  const time = ms === null ? '' : `, ${timeText(ms)}`;
  return `${choiceTitle(algorithm)}${time}${tf32 ? ' (TF32: load with --tf32)' : ''}`;
}

/** Titles of choices in one list, with as much of their layouts as tells them apart. */
export function titlesOf(choices: readonly OfferedChoice[]): string[] {
  const names = choices.map(({ algorithm }) => {
    const name = choiceTitle(algorithm);
    return [name, ...layoutTitles(algorithm).map((layout) => `${name}, ${layout}`)];
  });
  const count = new Map<string, number>();
  for (const name of names.flat()) count.set(name, (count.get(name) ?? 0) + 1);
  return choices.map((choice, i) => {
    const [name = '', ...longer] = names[i] ?? [];
    const own = [name, ...longer].find((one) => count.get(one) === 1) ?? longer.at(-1) ?? name;
    return titleOf(choice) + own.slice(name.length);
  });
}

/** An algorithm in full, as lines of plain text. */
export function describeAlgorithm(algorithm: Algorithm): string[] {
  const inFull = (format: TensorFormat): string =>
    formatWords(format) + (format.strides ? ` (strides ${format.strides.join(', ')})` : '');
  return [
    implementationName(algorithm.implementation),
    isMyelin(algorithm)
      ? 'ForeignNode: the choice covers only the types and layouts at its boundary; its tactic is always 0.'
      : `Tactic ${tacticHex(algorithm.tactic)} (${algorithm.tactic})`,
    ...algorithm.inputs.map((format, i) => `Input ${i}: ${inFull(format)}`),
    ...algorithm.outputs.map((format, i) => `Output ${i}: ${inFull(format)}`),
  ];
}
