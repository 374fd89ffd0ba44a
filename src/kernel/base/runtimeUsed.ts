/** The ONNX Runtime that computed a result. */
export interface RuntimeUsed {
  /** Path of the interpreter. */
  python: string;
  /** Versions. */
  onnxruntime: string;
  numpy: string;
  /** The copy that `trtlens setup onnxruntime` makes; otherwise it is in an interpreter of the user's. */
  isPrivate: boolean;
}

export const runtimeText = ({ python, onnxruntime, numpy, isPrivate }: RuntimeUsed): string =>
  `Computed with ONNX Runtime ${onnxruntime} and NumPy ${numpy} ${isPrivate ? '(private copy)' : `of ${python}`}.`;
