/**
 * Versions of TensorRT that have kernels for a compute capability: the first one, and the last one where support ended.
 * Sources: NVIDIA's release notes and support matrices of TensorRT 7.2 to 11.2 and of TensorRT-RTX 1.0 to 1.7. Of Xavier
 * the first is from NVIDIA's page of JetPack 4.1.1, and the matrices of 8.x list it. Its last is that of JetPack 5.1, the
 * last one for Xavier (8.5.2); a page of NVIDIA that says when TensorRT itself dropped it was not found. 8.3, for Orin with
 * DRIVE OS, is named in NVIDIA/TensorRT#2070; on a Jetson the first is 8.4.
 */
import { versionNumber } from '../../kernel/base/text.ts';
const TENSORRT: Readonly<Record<string, { name: string; first: string; last?: string; then?: string }>> = {
  '3.5': { name: 'Kepler', first: '2.0', last: '8.5', then: '8.6' },
  '3.7': { name: 'Kepler', first: '2.0', last: '8.5', then: '8.6' },
  '5.0': { name: 'Maxwell', first: '2.0', last: '8.6', then: '9.0' },
  '5.2': { name: 'Maxwell', first: '2.0', last: '8.6', then: '9.0' },
  '5.3': { name: 'Maxwell (Jetson Nano, TX1)', first: '4.0', last: '8.2', then: '8.3' },
  '6.0': { name: 'Pascal', first: '2.0', last: '9.3', then: '10.0' },
  '6.1': { name: 'Pascal', first: '2.0', last: '9.3', then: '10.0' },
  '6.2': { name: 'Pascal (Jetson TX2)', first: '4.0', last: '8.2', then: '8.3' },
  '7.0': { name: 'Volta', first: '3.0', last: '10.4', then: '10.5' },
  '7.2': { name: 'Volta (Jetson Xavier)', first: '5.0', last: '8.5', then: '8.6' },
  '7.5': { name: 'Turing', first: '5.0' },
  '8.0': { name: 'Ampere', first: '7.1' },
  '8.6': { name: 'Ampere', first: '7.2' },
  '8.7': { name: 'Ampere (Orin)', first: '8.3' },
  '8.9': { name: 'Ada Lovelace', first: '8.5' },
  '9.0': { name: 'Hopper', first: '8.5' },
  '10.0': { name: 'Blackwell', first: '10.8' },
  '10.3': { name: 'Blackwell Ultra', first: '10.14' },
  '11.0': { name: 'Blackwell (Thor)', first: '10.14' },
  '12.0': { name: 'Blackwell (RTX 50)', first: '10.8' },
  '12.1': { name: 'Blackwell (DGX Spark)', first: '10.14' },
};

/** Compute capabilities that TensorRT-RTX builds for. */
const RTX: Readonly<Record<string, string>> = {
  '7.5': '1.0',
  '8.0': '1.7',
  '8.6': '1.0',
  '8.9': '1.0',
  '12.0': '1.0',
  '12.1': '1.5',
};

/** `89`, `0x809`, `sm_89`, `8.9`, `SM 120` → `8.9`, `12.0`; null for anything else. */
export function computeCapability(text: string): string | null {
  const hex = /0x([\da-f]+)([\da-f]{2})$/i.exec(text);
  if (hex) return `${Number.parseInt(hex[1]!, 16)}.${Number.parseInt(hex[2]!, 16)}`;
  const dotted = /(\d{1,4})\.(\d)/.exec(text);
  if (dotted) return `${dotted[1]}.${dotted[2]}`;
  const digits = /(\d{1,4})(\d)[af]?$/.exec(text);
  return digits ? `${digits[1]}.${digits[2]}` : null;
}

export interface GpuSupport {
  supported: boolean;
  /** `Pascal was dropped in TensorRT 10.0` */
  why: string;
  /** `Use TensorRT 9.3 or earlier` */
  use: string;
}

/** Whether a version builds for a compute capability; null: not known. `version` null: any. */
export function gpuSupport(
  capability: string,
  version: string | null,
  product: 'tensorrt' | 'tensorrt-rtx' | null,
): GpuSupport | null {
  if (product === 'tensorrt-rtx') {
    const first = RTX[capability];
    if (first !== undefined)
      return {
        supported: version === null || versionNumber(version) >= versionNumber(first),
        why: `TensorRT-RTX supports compute capability ${capability} since ${first}`,
        use: `Use TensorRT-RTX ${first} or later`,
      };
    return {
      supported: false,
      why: `TensorRT-RTX builds for compute capabilities ${Object.keys(RTX)
        .toSorted((a, b) => Number(a) - Number(b))
        .join(', ')} only`,
      use: 'Use the full TensorRT on this GPU',
    };
  }
  const row = TENSORRT[capability];
  if (row === undefined) return null;
  const here = version === null ? null : versionNumber(version);
  const tooOld = here !== null && here < versionNumber(row.first);
  if (row.last !== undefined && !tooOld)
    return {
      supported: here !== null && here < versionNumber(row.then!),
      why: `${row.name} GPUs (SM ${capability}) were dropped in TensorRT ${row.then}`,
      use: `Use TensorRT ${row.last} or earlier (${row.last === '9.3' ? '8.6 is the last one with packages' : `${row.last} is the last one with kernels for it`}), or a newer GPU`,
    };
  return {
    supported: !tooOld,
    why: `${row.name} GPUs (SM ${capability}) are supported since TensorRT ${row.first}`,
    use: `Use TensorRT ${row.first} or later${row.first === '10.8' ? ' with CUDA 12.8 or later' : ''}`,
  };
}

/** Repairs that write an operator with others, by the operator. */
export const OPERATOR_REPAIRS: Readonly<Record<string, string>> = {
  Det: 'expand-determinant',
  BitShift: 'shift-bits',
  NonZero: 'count-nonzero',
  Bernoulli: 'bernoulli-uniform',
  QLinearConv: 'qlinear-products',
  QLinearMatMul: 'qlinear-products',
  DynamicQuantizeLinear: 'dynamic-quantization-exact',
  MatMulInteger: 'dynamic-quantization-exact',
  ConvInteger: 'dynamic-quantization-exact',
  DynamicQuantizeLSTM: 'dynamic-quantize-lstm',
  SequenceConstruct: 'split-sequences',
  SequenceAt: 'split-sequences',
  SplitToSequence: 'split-sequences',
  ConcatFromSequence: 'split-sequences',
  SequenceEmpty: 'unroll-sequences',
  SequenceInsert: 'unroll-sequences',
  Optional: 'unwrap-optionals',
  OptionalGetElement: 'unwrap-optionals',
  OptionalHasElement: 'unwrap-optionals',
  FusedMatMul: 'fused-matmul',
  FusedConv: 'fused-conv',
  FusedGemm: 'fused-conv',
  MatMulNBits: 'packed-weights',
  Attention: 'contrib-attention',
  MultiHeadAttention: 'contrib-attention',
  SkipLayerNormalization: 'skip-layer-normalization',
  SkipSimplifiedLayerNormalization: 'skip-layer-normalization',
  EmbedLayerNormalization: 'embed-layer-normalization',
  BiasGelu: 'gelu-operators',
  FastGelu: 'gelu-operators',
  QuickGelu: 'gelu-operators',
  Scaler: 'ml-linear',
  Normalizer: 'ml-linear',
  LinearClassifier: 'ml-linear',
  LinearRegressor: 'ml-linear',
  ArrayFeatureExtractor: 'ml-lookup',
  LabelEncoder: 'ml-lookup',
  OneHotEncoder: 'ml-lookup',
  FeatureVectorizer: 'ml-lookup',
  Binarizer: 'ml-lookup',
  Imputer: 'ml-lookup',
  SVMRegressor: 'ml-linear',
  TreeEnsemble: 'ml-trees',
  TreeEnsembleClassifier: 'ml-trees',
  TreeEnsembleRegressor: 'ml-trees',
  ZipMap: 'ml-zipmap',
};
