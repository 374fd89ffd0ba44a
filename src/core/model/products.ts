/** Operators that multiply data by weights; TensorRT computes them in INT8 where Q/DQ nodes are around them. */
export const products: ReadonlySet<string> = new Set(['MatMul', 'Gemm', 'Conv', 'ConvTranspose']);
