/** The words that an option takes, where it takes one of a few: what the user wrote may be any other. */
export const optionWords = {
  backend: ['auto', 'trtexec', 'polygraphy', 'python', 'rtx'],
  precision: ['fp32', 'fp16', 'bf16', 'int8', 'fp8', 'best'],
  precisionConstraints: ['none', 'prefer', 'obey'],
  hardwareCompatibility: ['none', 'ampere+', 'sameComputeCapability'],
  verbosity: ['detailed', 'layer_names_only', 'none'],
} as const;

type Word<Name extends keyof typeof optionWords> = (typeof optionWords)[Name][number];

export type Backend = Exclude<Word<'backend'>, 'auto'>;
export type PrecisionMode = Word<'precision'>;

/**
 * What the user asks of a build, whichever program runs it: the task definition of `tasks.json` and the command
 * line's options are this object. `commandLine` functions translate it for one program and version, or say why not.
 */
export interface EngineOptions {
  /** Path of the ONNX file. */
  model: string;
  backend?: Backend | 'auto';
  /** Where the engine goes; omitted, it goes to the build folder. */
  engine?: string;
  precision?: PrecisionMode;
  /** A `.trtprec` file. */
  overrides?: string;
  /** Layer name and type, from the override file. */
  layerPrecisions?: { name: string; type: string }[];
  layerOutputTypes?: { name: string; types: string[] }[];
  precisionConstraints?: Word<'precisionConstraints'>;
  stronglyTyped?: boolean;
  /** One entry an optimization profile: input name → shapes as `1x3x224x224`. */
  profiles?: Record<string, ShapeRange>[];
  /** MiB. */
  workspace?: number;
  /** Other memory pools by trtexec's names, MiB. */
  pools?: Record<string, number>;
  /** `+NAME` or `-NAME`. */
  tacticSources?: string[];
  optimizationLevel?: number;
  timingCache?: string;
  calibrationCache?: string;
  versionCompatible?: boolean;
  hardwareCompatibility?: Word<'hardwareCompatibility'>;
  /** Compute capabilities to build for, TensorRT-RTX only: `89`, `120`. */
  computeCapability?: string[];
  verbosity?: Word<'verbosity'>;
  /** `all`, or tensor names to mark as outputs. */
  outputs?: 'all' | string[];
  /** Tensors to mark for debugging, which leaves fusion as it is (10.0 and later). */
  debugTensors?: string[];
  /** Run and time each layer after the build; needs a GPU. */
  profileRun?: boolean;
  /** Write down what TensorRT offers for each layer, and what it chooses: `choices.jsonl` in the build's folder. */
  recordChoices?: boolean;
  noTF32?: boolean;
  extraArguments?: string[];
  environment?: Record<string, string>;
}

export interface ShapeRange {
  min: string;
  opt: string;
  max: string;
}

/** Files that a build leaves in its folder. */
export interface BuildFiles {
  engine: string;
  layers: string;
  profile: string;
  times: string;
  /** Where the choices go, and `record_choices.py`: both where choices are requested, else neither. */
  choices?: string;
  recorder?: string;
}

/** A command to run, and what was changed or rejected on the way to it. */
export interface CommandLine {
  /** Arguments without the program itself. */
  args: string[];
  notes: CommandNote[];
  /** Variables that the program needs. */
  environment?: Record<string, string>;
}

export interface CommandNote {
  /**
   * `translated`: another flag does it in this version. `dropped`: an argument of our own that this version does not
   * need. `ignored`: a request without effect; the build goes on with a warning. `rejected`: without it the engine
   * would be another one than asked for, don't build.
   */
  kind: 'translated' | 'dropped' | 'ignored' | 'refused';
  flag: string;
  message: string;
}
