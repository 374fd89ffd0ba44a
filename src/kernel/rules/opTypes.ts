import { isStandardDomain } from '../network/modelGraph.ts';

/**
 * Which ONNX operators take half-precision numbers, from the type constraints of ONNX 1.23's operator definitions.
 * Operators that are not listed take both half types in every opset that TensorRT reads (float16 from the start,
 * bfloat16 since opset 13). MeanVarianceNormalization takes them on paper only: its definition adds FP32 constants.
 */
const half: ReadonlyMap<string, number> = opsets({
  11: 'Equal',
  14: 'CumSum',
  18: 'OptionalGetElement OptionalHasElement',
  19: 'DequantizeLinear QuantizeLinear',
  20: 'IsInf',
  21: 'QLinearMatMul',
  27: 'Range',
  28: 'Celu',
  999: 'DynamicQuantizeLinear MeanVarianceNormalization NonMaxSuppression QLinearConv',
});

const bfloat: ReadonlyMap<string, number> = opsets({
  14: 'BatchNormalization CumSum Trilu',
  15: 'CastLike Pow',
  16: 'GreaterOrEqual LeakyRelu LessOrEqual Loop PRelu Scan Where',
  17: 'DFT LayerNormalization MelWeightMatrix STFT',
  18: 'CenterCropPad Col2Im GroupNormalization',
  19: 'DequantizeLinear QuantizeLinear',
  20: 'AffineGrid ConstantOfShape Gelu IsInf',
  21: 'QLinearMatMul',
  22:
    'Acos Acosh Asin Asinh Atan Atanh AveragePool Bernoulli Conv ConvTranspose Cos Cosh DeformConv Det Elu EyeLike ' +
    'GRU GlobalAveragePool GlobalLpPool GlobalMaxPool GridSample HardSigmoid HardSwish InstanceNormalization LSTM ' +
    'LpNormalization LpPool MaxPool MaxRoiPool MaxUnpool Mish Multinomial NegativeLogLikelihoodLoss RNN ' +
    'RandomNormalLike RandomUniformLike RoiAlign Round Selu Sin Sinh Softplus Softsign Tan ThresholdedRelu',
  23: 'Attention RMSNormalization RotaryEmbedding',
  24: 'SplitToSequence Swish TensorScatter TopK',
  26: 'BitCast CumProd',
  27: 'CausalConvWithState LinearAttention Range',
  28: 'Celu Compress Einsum OneHot Optional OptionalGetElement OptionalHasElement ReverseSequence SwiGLU Unique',
  999:
    'DynamicQuantizeLinear MeanVarianceNormalization NonMaxSuppression QLinearConv Scatter SequenceConstruct ' +
    'SequenceInsert SequenceMap Shrink Upsample',
});

function opsets(groups: Record<number, string>): Map<string, number> {
  const map = new Map<string, number>();
  for (const [opset, ops] of Object.entries(groups)) for (const op of ops.split(' ')) map.set(op, Number(opset));
  return map;
}

/** Inputs that stay single precision whatever the rest of the node computes in: the scales of Resize and Upsample. */
export function isSingleInput(op: string, domain: string, input: number): boolean {
  if (!isStandardDomain(domain)) return false;
  return (op === 'Resize' && input === 2) || (op === 'Upsample' && input === 1);
}

/** First opset in which an operator takes a half type: 0 for always, 999 for never. */
export function halfSince(op: string, domain: string, type: 'float16' | 'bfloat16'): number {
  if (!isStandardDomain(domain)) return 0;
  return type === 'float16' ? (half.get(op) ?? 0) : (bfloat.get(op) ?? 13);
}

/**
 * What TensorRT has no BF16 for, of the operators that take FP16 (docs/operators.md of onnx-tensorrt 10.0 to 11.1). Others
 * it computes in BF16 also where ONNX has no such form: convolutions and Sin before opset 22, for instance.
 */
const withoutBfloat: ReadonlySet<string> = new Set([
  'DFT',
  'DeformConv',
  'GridSample',
  'Mish',
  'NonMaxSuppression',
  'RoiAlign',
  'STFT',
]);

/** Operators that TensorRT computes in FP16 before ONNX has such a form. */
const earlyHalf: ReadonlySet<string> = new Set(['Celu', 'CumSum']);

/** Whether TensorRT computes an operator in a half type where a build may choose it, whatever a model can express. */
export function computesHalf(op: string, domain: string, type: 'float16' | 'bfloat16', opset: number): boolean {
  if (halfSince(op, domain, type) <= opset) return true;
  if (type === 'bfloat16' && withoutBfloat.has(op)) return false;
  return earlyHalf.has(op) || (type === 'bfloat16' && halfSince(op, domain, 'float16') <= opset);
}
