import { before, parseVersion } from '../../build/trtexecFlags.ts';
import type { Version } from '../../build/trtexecFlags.ts';
import type { PrecisionType } from '../language/precisionType.ts';

/** The TensorRT that an override file is checked for. */
export interface TensorrtTarget {
  product: 'tensorrt' | 'tensorrt-rtx' | null;
  version: Version | null;
  /** Compute capability × 10 (`89`), null: not known. */
  capability: number | null;
}

/** A target from texts as logs, manifests and command lines give them. */
export function targetOf(
  product: TensorrtTarget['product'],
  version: string | null,
  gpu: string | null,
): TensorrtTarget {
  return { product, version: version === null ? null : looseVersion(version), capability: capabilityOf(gpu) };
}

/** The target of a build, or of settings that name one; null: nothing is known. */
export function targetOfBuild(
  build: { product: TensorrtTarget['product']; version: string | null; gpu: string | null } | null,
): TensorrtTarget {
  return targetOf(build?.product ?? null, build?.version ?? null, build?.gpu ?? null);
}

/** `10.6` and `8` are versions, too. */
function looseVersion(text: string): Version | null {
  const parsed = parseVersion(text);
  if (parsed) return parsed;
  const found = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(text.trim());
  return found ? [Number(found[1]), Number(found[2] ?? 0), Number(found[3] ?? 0)] : null;
}

/** The words for a target: `TensorRT 10.6`, `TensorRT-RTX`, `TensorRT`. */
export function targetName(target: TensorrtTarget): string {
  const name = target.product === 'tensorrt-rtx' ? 'TensorRT-RTX' : 'TensorRT';
  return target.version ? `${name} ${target.version[0]}.${target.version[1]}` : name;
}

/** Whether precision is requested by flags (true), lives in the model only (false), or cannot be told (null). */
export function hasLayerFlags(target: TensorrtTarget): boolean | null {
  if (target.product === 'tensorrt-rtx') return false;
  if (!target.version) return null;
  return before(target.version, [11, 0, 0]) && !before(target.version, [8, 4, 1]);
}

/** Why a target has no per-layer flags, and what does instead. */
export function noLayerFlags(target: TensorrtTarget): string {
  if (target.product !== 'tensorrt-rtx' && target.version && before(target.version, [8, 4, 1])) {
    return `${targetName(target)} supports neither --layerPrecisions (since 8.4.1) nor strongly typed networks. Use a newer version.`;
  }
  return `${targetName(target)} builds only strongly typed networks and does not support --layerPrecisions, so the types must be in the model. Build a typed copy of the model.`;
}

const firstVersions: Partial<Record<PrecisionType, Version>> = {
  bf16: [9, 3, 0],
  fp8: [8, 6, 0],
  int4: [10, 1, 0],
  int64: [10, 0, 0],
};

/** First TensorRT version whose flags know a type, where the target is older; null: it knows the type, or its version is not known. */
export function typeSince(type: PrecisionType, target: TensorrtTarget): string | null {
  const since = firstVersions[type];
  if (!since || !target.version || target.product === 'tensorrt-rtx' || !before(target.version, since)) return null;
  return `${since[0]}.${since[1]}`;
}

/** Compute capability (× 10) that a type needs for fast kernels; NVIDIA's support matrix. */
const needs: Partial<Record<PrecisionType, number>> = { fp16: 53, int8: 61, bf16: 80, fp8: 89 };

/** The compute capability (× 10) that the type needs and the target's GPU lacks; null: fine, or not known. */
export function missingCapability(type: PrecisionType, target: TensorrtTarget): number | null {
  // Of the sixth generation 6.1 has no fast half precision, while 6.0 and 6.2 have.
  const needed = type === 'fp16' && target.capability === 61 ? 70 : needs[type];
  return needed !== undefined && target.capability !== null && target.capability < needed ? needed : null;
}

/** GPU names as drivers print them, most specific first. */
const gpus: readonly [RegExp, number][] = [
  [/\bGB10\b/, 121],
  [/\bThor\b/, 110],
  [/\b(?:B300|GB300)\b/, 103],
  [/\b(?:B200|GB200|B100)\b/, 100],
  [/RTX\s*50\d0|RTX PRO \d000 Blackwell/, 120],
  [/\b(?:H100|H200|H800|H20|GH200)\b/, 90],
  [/\b(?:L4|L40S?|RTX\s*40\d0|RTX \d000 Ada)\b/, 89],
  [/\bOrin\b/, 87],
  [/\b(?:A10G?|A16|A40|A2|RTX\s*30\d0|RTX A\d000)\b/, 86],
  [/\b(?:A100|A800|A30)\b/, 80],
  [/\b(?:T4|T400|T600|T1000|RTX\s*20\d0|GTX\s*16\d0|Quadro RTX|TITAN RTX)\b/, 75],
  [/\bXavier\b/, 72],
  [/\b(?:V100|GV100|TITAN V)\b/, 70],
  [/\b(?:P4|P40|Quadro P\d+|GTX\s*10\d0|TITAN X[Pp]?)\b/, 61],
  [/\b(?:P100|GP100)\b/, 60],
  [/\b(?:M4|M40|M60|GTX\s*9\d0)\b/, 52],
];

/** Compute capability × 10 from a GPU's name or from `8.9`, `SM89`; null for names that are not known. */
export function capabilityOf(gpu: string | null): number | null {
  if (gpu === null) return null;
  const direct = /^(?:sm_?|compute capability )?(\d{1,2})\.?(\d)$/i.exec(gpu.trim());
  if (direct) return Number(direct[1]) * 10 + Number(direct[2]);
  return gpus.find(([pattern]) => pattern.test(gpu))?.[1] ?? null;
}
