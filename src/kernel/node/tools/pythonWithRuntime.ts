import type { RuntimeUsed } from '../../base/runtimeUsed.ts';

/** An interpreter with ONNX Runtime and NumPy. */
export interface PythonWithRuntime {
  python: string;
  environment?: Record<string, string>;
  /** What it is; reports name it. */
  used?: RuntimeUsed | undefined;
}
