/** The ONNX Runtime that computed a result: the user's own, or the private copy. */
export interface RuntimeUsed {
  /** Path of the interpreter. */
  python: string;
  /** Versions. */
  onnxruntime: string;
  numpy: string;
}

export const runtimeText = ({ python, onnxruntime, numpy }: RuntimeUsed): string =>
  `Computed with ONNX Runtime ${onnxruntime} and NumPy ${numpy} of ${python}.`;
