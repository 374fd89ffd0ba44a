/** Operators that multiply data by weights; TensorRT computes them in INT8 where Q/DQ nodes are around them. */
export const products: ReadonlySet<string> = new Set(['MatMul', 'Gemm', 'Conv', 'ConvTranspose']);

/** What can run in INT8 behind or in front of a product. */
export const pools: ReadonlySet<string> = new Set(['MaxPool', 'AveragePool', 'GlobalAveragePool']);

/** Operators whose inputs get Q/DQ nodes. */
export const quantisable: ReadonlySet<string> = new Set([...products, ...pools, 'Add']);
