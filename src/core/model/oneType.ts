import type { OnnxNode } from '../onnx/onnxModel.ts';
import { isStandardDomain } from './opset.ts';

/**
 * Operators of ONNX's domain whose floating-point inputs and outputs share one type. ONNX's others name their output's
 * type in an attribute, quantise, run graphs, or work on sequences; all else may be a plugin that takes one type only,
 * but for the one that ONNX Runtime writes.
 */
const sharing: ReadonlySet<string> = new Set(
  (
    'Abs Acos Acosh Add AffineGrid And ArgMax ArgMin Asin Asinh Atan Atanh Attention AveragePool BatchNormalization ' +
    'BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CausalConvWithState Ceil Celu CenterCropPad Clip Col2Im ' +
    'Compress Concat Conv ConvTranspose Cos Cosh CumProd CumSum DFT DeformConv DepthToSpace Det Div Dropout Einsum ' +
    'Elu Equal Erf Exp Expand Flatten Floor GRU Gather GatherElements GatherND Gelu Gemm GlobalAveragePool ' +
    'GlobalLpPool GlobalMaxPool Greater GreaterOrEqual GridSample GroupNormalization HardSigmoid HardSwish Hardmax ' +
    'Identity InstanceNormalization IsInf IsNaN LRN LSTM LayerNormalization LeakyRelu Less LessOrEqual ' +
    'LinearAttention Log LogSoftmax LpNormalization LpPool MatMul Max MaxPool MaxRoiPool MaxUnpool Mean ' +
    'MeanVarianceNormalization Min Mish Mod Mul Neg NegativeLogLikelihoodLoss NonMaxSuppression NonZero Not OneHot Or ' +
    'PRelu Pad Pow RMSNormalization RNN Range Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ' +
    'ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Reshape Resize ReverseSequence RoiAlign ' +
    'RotaryEmbedding Round STFT Scatter ScatterElements ScatterND Selu Shape Shrink Sigmoid Sign Sin Sinh Size Slice ' +
    'Softmax SoftmaxCrossEntropyLoss Softplus Softsign SpaceToDepth Split Sqrt Squeeze StringConcat StringNormalizer ' +
    'Sub Sum SwiGLU Swish Tan Tanh TensorScatter ThresholdedRelu Tile TopK Transpose Trilu Unique Unsqueeze Upsample ' +
    'Where Xor SimplifiedLayerNormalization'
  ).split(' '),
);

/** Operators of other domains that are known to share one type among inputs and outputs. */
const sharingContrib: ReadonlySet<string> = new Set([
  'BiasGelu',
  'FastGelu',
  'FusedConv',
  'FusedGemm',
  'FusedMatMul',
  'Gelu',
  'LayerNormalization',
  'QuickGelu',
  'SimplifiedLayerNormalization',
  'SkipLayerNormalization',
  'SkipSimplifiedLayerNormalization',
]);

/** Whether all floating-point inputs and outputs of a node have one type, as far as its operator is known here. */
export function sharesOneType({ op, domain }: OnnxNode): boolean {
  if (domain === 'com.microsoft') return sharingContrib.has(op);
  return isStandardDomain(domain) && sharing.has(op);
}
