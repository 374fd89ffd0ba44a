/** What a log says that is more than one message: values that texts may use. */
export interface RuleContext {
  /** Operator of the node that the parser was at. */
  op: string | undefined;
  /** TensorRT's version, such as `10.6.0`, as the log says; so is the GPU. */
  version: string | null;
  /** Whether it is 10 or later, by the form of its errors. */
  since10: boolean;
  product: 'tensorrt' | 'tensorrt-rtx' | null;
  gpu: string | null;
  /** Plugins that the log says were registered, or were to be. */
  plugins: readonly string[];
  /** Types that the parser does not have, as it names them: `INT16`. */
  types: readonly string[];
  /** Inputs that the commands of trtexec in the log give shapes for. */
  shaped: readonly string[];
  /** A sentence about an option of the command in the log that often ends a build. */
  suspect: string | undefined;
  /** Types below FP32 that the command in the log lets the build choose: `FP16 and INT8`. */
  lowered: string | undefined;
  /** Inputs of the model; `open`: with dynamic dimensions; `shape`: its values may be a shape. */
  inputs: readonly { name: string; open: boolean; shape: boolean; values: number }[];
  /** What the build was doing when the log ends: `timing tactics of conv1`. */
  phase: string;
  /** What usually ends a build there. */
  usual: string;
}

/** What texts may use, by name. */
export type RuleValues = Record<string, string | undefined>;
