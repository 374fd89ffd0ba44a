import type { HostProgram } from '../../formats/tensorrt/buildOutput.ts';
import type { DiagnosisCode, Sureness } from '../diagnosis.ts';

/** Whose words an advice uses: the program that wrote the log, or the product where its options differ. */
export type Program = 'trtexec' | 'polygraphy' | 'python' | 'trtlens' | 'rtx' | HostProgram;

/** What to do, for any program, or in the words of some and for `other`. */
export type Advice = string | ({ other: string } & Partial<Record<Program, string>>);

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
  /** Whether the build is for the DLA. */
  dla: boolean;
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

/** What a message names besides the groups of the pattern. */
export interface Named {
  /** Layer or node; the groups `layer`, `tensor`, `input` and `op` of a pattern give the same. */
  layer?: string | undefined;
  tensors?: string[];
  names?: string[];
  severity?: 'error' | 'warning';
  /** More values for the texts. */
  values?: Record<string, string | undefined>;
}

/**
 * One known message: a row of a table. `docs/diagnose.md` ("Teach it a new error") shows how to add one.
 *
 * Texts may use the groups of the pattern and the values of the context: `{name}`. A part in double brackets is omitted
 * where one of its values is unknown: `No tactic[[ of {layer}]] fits`. `this node` becomes the name of the node.
 */
export interface DiagnosisRule {
  /** Stable and unique: names the rule's log in `test/fixtures/failures/rules.txt`. */
  id: string;
  code: DiagnosisCode;
  /** Rows are tried in order; the first that matches wins. */
  pattern: RegExp;
  /** Only where the parser was at such an operator. */
  at?: RegExp;
  /** Only where the rest of the log fits. */
  when?: (context: RuleContext) => boolean;
  /** Only for logs of this product. */
  product?: 'tensorrt' | 'tensorrt-rtx';
  cause: string;
  advice: Advice;
  /** Omitted: that of the line. */
  severity?: 'error' | 'warning';
  /** Where one of these came before, this is what followed from it. */
  after?: readonly DiagnosisCode[];
  /** Says what an exception means whatever raised it: counts as one that no rule knows, and where it was raised is added. */
  lastResort?: true;
  /** Counts also in the middle of a line without a prefix. */
  anywhere?: true;
  /** A line after it that says what it came to: then nothing is said of it. */
  overcome?: RegExp;
  /** All its messages are one, the first. */
  once?: true;
  /** Nothing follows from it: it is never the cause of an error. */
  harmless?: true;
  /** Omitted: TensorRT's line says it. */
  sure?: Sureness;
  /** Id of the repair of the model that removes the cause (`trtlens repair`), or such ids by operator. */
  repair?: string | Readonly<Record<string, string>>;
  /** Values that a pattern cannot give. */
  named?: (match: RegExpExecArray, text: string, context: RuleContext) => Named;
  /** Where the message is from: a source file, a public issue, or a real build. */
  source: string;
}

/** What a program's last words follow from. */
export const EVERY_CAUSE: readonly DiagnosisCode[] = [
  'unsupported-op',
  'unsupported-form',
  'unsupported-type',
  'plugin-missing',
  'no-implementation',
  'profile-missing',
  'profile-inconsistent',
  'shape-values-missing',
  'unknown-input',
  'flag-conflict',
  'workspace-too-small',
  'out-of-memory',
  'engine-invalid',
  'engine-other-version',
  'engine-other-device',
  'gpu-unsupported',
  'library-missing',
  'weights-missing',
  'model-unreadable',
  'model-invalid',
  'model-missing',
  'file-missing',
  'library-mismatch',
  'calibration-missing',
  'calibration-failed',
  'quantization',
  'control-flow',
  'shape-mismatch',
  'type-mismatch',
  'dla-failed',
  'runtime-shape',
  'runtime-failed',
  'killed',
  'crashed',
  'internal',
];
