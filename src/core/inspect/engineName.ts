/** What ONNX Runtime's TensorRT execution provider writes into the name of an engine in its cache. */
export interface CachedEngineName {
  /** Name of the graph in the ONNX file, as ONNX Runtime has it. */
  graph: string;
  /** Which sub-graph of it, in ONNX Runtime's numbers: `0_0`. */
  part: string;
  /** `fp16`, `int8`, …; empty: none but FP32. */
  precisions: string[];
  /** `8.9` */
  computeCapability: string;
}

const pattern =
  /^TensorrtExecutionProvider_TRTKernel_graph_(.+)_\d+_(\d+_\d+)((?:_(?:fp16|bf16|int8|fp8))*)_sm(\d+)(\d)\.(?:engine|plan)$/;

/** Reads the name of an engine that ONNX Runtime cached; null: the name has another form. */
export function readCachedEngineName(name: string): CachedEngineName | null {
  const match = pattern.exec(name);
  if (match === null) return null;
  const [, graph = '', part = '', precisions = '', major = '', minor = ''] = match;
  return {
    graph,
    part,
    precisions: precisions.split('_').filter((one) => one !== ''),
    computeCapability: `${major}.${minor}`,
  };
}
