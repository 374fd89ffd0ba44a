// The table of build options.
import { type OptionKind, type OptionValues, precisionModes } from './buildManifest.ts';

/** An option of `trtlens build`. */
export interface CliFlag {
  /** Without dashes. */
  flag: string;
  short?: string;
  /** Placeholder of its value; omitted: it has none. */
  value?: string;
  /** It may be given several times. */
  multiple?: true;
  /** What `--help` says, a phrase. */
  help: string;
}

/**
 * What an option becomes in one back-end:
 * - `flag`: this flag, with the value as it is (lists: joined by commas, for Polygraphy as arguments of their own); with
 *   `words` the value is translated, and one that is not among them asks for nothing; `fixed`: always this value;
 *   `each`: once for each value. `required`: the engine would be another one without it, so that a version that lacks the
 *   flag is rejected; otherwise it is omitted with a warning.
 * - `refused` and `ignored`: the request cannot be met, or has no effect; why, in a sentence.
 * - `own`: the back-end's command function translates it together with others.
 * - `outside`: nothing reaches the program; the builder does it itself.
 */
export type Translation =
  | { flag: string | readonly string[]; required?: true; fixed?: string; words?: Record<string, string>; each?: true }
  | { refused: string }
  | { ignored: string }
  | 'own'
  | 'outside';

/** One option of a build. Everything that names options is derived from it: see `buildOptions`. */
export interface BuildOption {
  kind: OptionKind;
  /** What a build does if the option is omitted. */
  default?: string;
  /** What it does, as a sentence: tasks.json and the documentation show it. */
  description: string;
  cli: readonly CliFlag[];
  /** Further keywords of its JSON Schema in tasks.json. */
  schema?: Record<string, unknown>;
  /** A list may be written with commas on the command line. */
  commas?: true;
  /** Where it cannot be given: a matrix has its own place for some, and only a program writes others. */
  except?: readonly ('task' | 'matrix')[];
  trtexec: Translation;
  polygraphy: Translation;
  /** `build_engine.py`, for TensorRT and TensorRT-RTX. */
  driver: Translation;
}

const outside = { trtexec: 'outside', polygraphy: 'outside', driver: 'outside' } as const;
const own = { trtexec: 'own', polygraphy: 'own', driver: 'own' } as const;

/**
 * Every option of a build, in the order in which help and documentation list them. From this table come the type
 * `EngineOptions`, the options of `trtlens build` and their help, the schema of tasks in package.json, the keys of a
 * matrix, the tables in docs/ (`npm run generate`), and the arguments of each back-end. Which version of trtexec has
 * which flag is in `trtexecFlags.ts`.
 */
export const buildOptions = {
  backend: {
    kind: ['auto', 'trtexec', 'polygraphy', 'python', 'rtx'],
    default: 'auto',
    description: 'The back-end that builds the engine.',
    schema: {
      enumDescriptions: [
        'trtexec or the Python module tensorrt if there is an NVIDIA GPU, otherwise TensorRT-RTX.',
        "TensorRT's own trtexec.",
        'Polygraphy, installed next to TensorRT.',
        'The Python module tensorrt of the interpreter in the settings.',
        'TensorRT-RTX, which builds without a GPU or driver. It is downloaded once, after you agree.',
      ],
    },
    cli: [
      {
        flag: 'backend',
        value: 'NAME',
        help: "auto uses trtexec or Python's tensorrt if there is a GPU, otherwise rtx",
      },
    ],
    except: ['matrix'],
    ...outside,
  },
  engine: {
    kind: 'path',
    description: 'Where to write the engine. Default: the build folder.',
    cli: [{ flag: 'engine', short: 'o', value: 'FILE', help: 'where to write the engine (default: the build folder)' }],
    except: ['matrix'],
    trtexec: 'own',
    polygraphy: 'own',
    driver: 'outside',
  },
  randomWeights: {
    kind: 'flag',
    description:
      "Build with random weights in place of the model's external ones, which may be missing; fusion depends on structure, shapes and types. Every result is labeled so.",
    cli: [{ flag: 'random-weights', help: "build with random weights in place of the model's external ones" }],
    ...outside,
  },
  precision: {
    kind: Object.keys(precisionModes) as readonly (keyof typeof precisionModes)[],
    description:
      'Types that TensorRT may use in addition to FP32 (TensorRT 10 and earlier): int8 and fp8 also allow FP16; best allows FP16 and INT8. Default: the types that the override rules request.',
    cli: [
      { flag: 'precision', value: 'MODE', help: 'the types that TensorRT may choose from (TensorRT 10 and earlier)' },
    ],
    except: ['matrix'],
    ...own,
  },
  stronglyTyped: {
    kind: 'flag',
    description: "Take every tensor's type from the model.",
    cli: [{ flag: 'strongly-typed', help: "take every tensor's type from the model" }],
    ...own,
  },
  overrides: {
    kind: 'path',
    description:
      'A .trtprec file with the precision of single nodes: sets layer precisions on TensorRT 10 and earlier; builds a typed copy of the model for TensorRT 11, for TensorRT-RTX and with a strongly typed build.',
    cli: [
      {
        flag: 'rules',
        value: 'RULES',
        help: 'a .trtprec file: sets layer precisions on TensorRT 10 and earlier; builds a typed copy of the model for TensorRT 11, for TensorRT-RTX and with --strongly-typed',
      },
    ],
    ...outside,
  },
  precisionConstraints: {
    kind: ['none', 'prefer', 'obey'],
    description: 'Whether TensorRT must obey layer precisions (TensorRT 10 and earlier).',
    cli: [],
    ...own,
  },
  layerPrecisions: {
    kind: 'layerTypes',
    description: 'Layer names and the type to compute each in (TensorRT 10 and earlier).',
    cli: [],
    except: ['task'],
    ...own,
  },
  layerOutputTypes: {
    kind: 'layerOutputTypes',
    description: 'Layer names and the types of their outputs (TensorRT 10 and earlier).',
    cli: [],
    except: ['task'],
    trtexec: 'own',
    polygraphy: {
      ignored: 'Polygraphy can set the precision of layers but not their output types; TensorRT chooses those.',
    },
    driver: 'own',
  },
  calibrationCache: {
    kind: 'path',
    description: 'Calibration cache for INT8.',
    cli: [{ flag: 'calibration-cache', value: 'FILE', help: 'scales for --precision int8' }],
    trtexec: { flag: 'calib', required: true },
    polygraphy: { flag: 'calibration-cache' },
    driver: 'own',
  },
  profiles: {
    kind: 'profiles',
    description:
      'Optimization profiles: the minimum, optimum and maximum shape of each dynamic input, such as 1x3x224x224.',
    schema: {
      defaultSnippets: [
        {
          label: 'One profile',
          body: [{ '${1:input}': { min: '${2:1x3x224x224}', opt: '${3:8x3x224x224}', max: '${4:32x3x224x224}' } }],
        },
      ],
    },
    cli: [
      ...(['min', 'opt', 'max'] as const).map((kind) => ({
        flag: `${kind}-shapes`,
        value: 'INPUT:1x3x224x224[,…]',
        multiple: true as const,
        help: {
          min: 'smallest shapes of an optimization profile; repeat it for more profiles',
          opt: 'usual shapes; a missing one of the three equals the usual shape',
          max: 'largest shapes',
        }[kind],
      })),
      { flag: 'shapes', value: 'INPUT:1x3x224x224[,…]', help: 'one profile with only these shapes' },
    ],
    ...own,
  },
  workspace: {
    kind: 'number',
    description: 'Limit of the workspace in MiB.',
    schema: { minimum: 0 },
    cli: [{ flag: 'workspace', value: 'MIB', help: 'limit of the workspace pool' }],
    ...own,
  },
  pools: {
    kind: 'numbersByName',
    description: "Limits of other memory pools in MiB, by trtexec's names.",
    schema: { propertyNames: { pattern: '^\\w+$' } },
    cli: [
      {
        flag: 'pool',
        value: 'NAME:MIB',
        multiple: true,
        help: 'limit of another memory pool, such as tacticSharedMem; may be repeated',
      },
    ],
    ...own,
  },
  tacticSources: {
    kind: 'texts',
    description: 'Tactic sources to add or remove, such as -CUBLAS.',
    schema: { items: { type: 'string', pattern: '^[+-]\\w+$' } },
    commas: true,
    cli: [{ flag: 'tactic-sources', value: '+CUDNN,-CUBLAS', help: 'sources to add and to remove' }],
    trtexec: { flag: 'tacticSources' },
    polygraphy: 'own',
    driver: { flag: 'tactic-sources' },
  },
  optimizationLevel: {
    kind: 'integer',
    description: 'Builder optimization level, 0 to 5.',
    schema: { minimum: 0, maximum: 5 },
    cli: [{ flag: 'optimization-level', value: 'N', help: '0 to 5' }],
    trtexec: { flag: 'builderOptimizationLevel' },
    polygraphy: { flag: 'builder-optimization-level' },
    driver: { flag: 'optimization-level' },
  },
  timingCache: {
    kind: 'path',
    description:
      'Timing cache. The build reads it if it exists and writes to a copy, which replaces the file after a successful build.',
    cli: [{ flag: 'timing-cache', value: 'FILE', help: 'read if it exists, written after the build' }],
    trtexec: { flag: 'timingCacheFile' },
    polygraphy: { flag: ['load-timing-cache', 'save-timing-cache'] },
    driver: { flag: 'timing-cache' },
  },
  computeCapability: {
    kind: 'texts',
    description: 'Compute capabilities to build for, TensorRT-RTX only: 8.9 for Ada, 12.0 for Blackwell.',
    schema: { items: { type: 'string', pattern: '^\\d{1,2}\\.?\\d$' } },
    commas: true,
    cli: [
      {
        flag: 'compute-capability',
        value: '8.9',
        multiple: true,
        help: 'TensorRT-RTX: a GPU to build for; may be repeated',
      },
    ],
    trtexec: {
      refused:
        'trtexec builds for the GPU that it runs on. Only TensorRT-RTX can build for other compute capabilities.',
    },
    polygraphy: 'own',
    driver: 'own',
  },
  outputs: {
    kind: 'textsOrAll',
    description: 'Tensors to mark as outputs, or "all" for an unfused engine.',
    cli: [
      { flag: 'output', value: 'TENSOR', multiple: true, help: 'make this tensor an output; may be repeated' },
      { flag: 'all-outputs', help: 'make every tensor an output' },
    ],
    trtexec: {
      refused: 'trtexec cannot mark tensors as outputs. Use the back-end polygraphy or python.',
    },
    polygraphy: 'own',
    driver: 'own',
  },
  debugTensors: {
    kind: 'texts',
    description: 'Tensors to mark for debugging without changing fusion (TensorRT 10 and later).',
    cli: [
      {
        flag: 'debug-tensor',
        value: 'TENSOR',
        multiple: true,
        help: 'mark this tensor for debugging without changing fusion; may be repeated',
      },
    ],
    trtexec: { flag: 'markDebug' },
    polygraphy: { flag: 'mark-debug' },
    driver: { flag: 'debug', each: true },
  },
  plugins: {
    kind: 'texts',
    description: 'Libraries with plugins, loaded before the model is read.',
    cli: [
      {
        flag: 'plugin',
        value: 'LIB',
        multiple: true,
        help: 'load a library with plugins before the model is read; may be repeated',
      },
    ],
    // Their paths are the command line's: neither a task nor a matrix resolves a list of them.
    except: ['task', 'matrix'],
    trtexec: { flag: 'dynamicPlugins', each: true, required: true },
    polygraphy: { flag: 'plugins', required: true },
    driver: { flag: 'plugin', each: true },
  },
  profileRun: {
    kind: 'flag',
    description: 'Run and time each layer after the build (trtexec; needs a GPU).',
    cli: [{ flag: 'profile-run', help: 'run the engine afterwards and time each layer (trtexec; needs a GPU)' }],
    trtexec: 'own',
    polygraphy: { ignored: '`polygraphy convert` does not run the engine, so there is no profile.' },
    driver: { ignored: 'The Python driver only builds; it does not time layers.' },
  },
  recordChoices: {
    kind: 'flag',
    description:
      'Record what TensorRT (8 to 10) offers for each layer in choices.jsonl in the build folder, to check tactic replays. Needs the back-end python or polygraphy.',
    cli: [
      {
        flag: 'record-choices',
        help: 'record what TensorRT (8 to 10) offers for each layer: choices.jsonl in the build folder, for trtlens precision replay check --choices (python and polygraphy)',
      },
    ],
    except: ['matrix'],
    trtexec: {
      ignored:
        'trtexec cannot record choices (the back-ends python and polygraphy can); its log contains some of them.',
    },
    polygraphy: 'own',
    driver: 'own',
  },
  versionCompatible: {
    kind: 'flag',
    description: 'Build an engine that later versions can load.',
    cli: [{ flag: 'version-compatible', help: 'build an engine that later versions can load' }],
    trtexec: { flag: 'versionCompatible', required: true },
    polygraphy: { flag: 'version-compatible' },
    driver: { flag: 'flag', fixed: 'version_compatible' },
  },
  hardwareCompatibility: {
    kind: ['none', 'ampere+', 'sameComputeCapability'],
    default: 'none',
    description: 'Build an engine that other GPUs can load.',
    cli: [{ flag: 'hardware-compatibility', value: 'LEVEL', help: 'build an engine that other GPUs can load' }],
    trtexec: {
      flag: 'hardwareCompatibilityLevel',
      required: true,
      words: { 'ampere+': 'ampere+', sameComputeCapability: 'sameComputeCapability' },
    },
    polygraphy: {
      flag: 'hardware-compatibility-level',
      words: { 'ampere+': 'ampere_plus', sameComputeCapability: 'same_compute_capability' },
    },
    driver: {
      flag: 'hardware-compatibility',
      words: { 'ampere+': 'ampere_plus', sameComputeCapability: 'same_compute_capability' },
    },
  },
  noTF32: {
    kind: 'flag',
    description: 'Disable TF32: compute FP32 at full precision. Polygraphy always does.',
    cli: [{ flag: 'no-tf32', help: 'keep FP32 at full precision' }],
    trtexec: { flag: 'noTF32', required: true },
    polygraphy: 'outside',
    driver: { flag: 'no-tf32' },
  },
  verbosity: {
    kind: ['detailed', 'layer_names_only', 'none'],
    default: 'detailed',
    description: 'Layer information to store in the engine. The fusion report needs "detailed".',
    cli: [{ flag: 'profiling-verbosity', value: 'LEVEL', help: 'what the engine records about its layers' }],
    ...own,
    driver: { flag: 'profiling-verbosity' },
  },
  extraArguments: {
    kind: 'texts',
    description: 'Additional arguments for the program.',
    cli: [
      {
        flag: 'argument',
        value: 'ARG',
        multiple: true,
        help: 'pass one more argument to the program; may be repeated',
      },
    ],
    ...own,
  },
  environment: {
    kind: 'textsByName',
    description: 'Additional environment variables for the program.',
    cli: [],
    ...outside,
  },
} as const satisfies Record<string, BuildOption>;

export type OptionName = keyof typeof buildOptions;

/** The type of an option's value. */
export type OptionValue<Name extends OptionName> = (typeof buildOptions)[Name]['kind'] extends infer Kind
  ? Kind extends readonly (infer Word)[]
    ? Word
    : Kind extends keyof OptionValues
      ? OptionValues[Kind]
      : never
  : never;

/** Name and row of every option, in the order of the table. */
export const optionRows = Object.entries(buildOptions) as [OptionName, BuildOption][];

export type Backend = Exclude<OptionValue<'backend'>, 'auto'>;
export type PrecisionMode = OptionValue<'precision'>;

/**
 * What the user asks of a build, whichever program runs it: the task definition of `tasks.json`, a matrix and the command
 * line's options are this object, and the table of options (`buildOptions`) says what each member is. Functions named
 * after a program translate it for one program and version, or say why not.
 */
export type EngineOptions = {
  /** Path of the ONNX file. */
  model: string;
} & { [Name in OptionName]?: OptionValue<Name> };

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
   * need. `ignored`: a request without effect; the build goes on with a warning. `warned`: what the build does that no
   * one asked for. `refused`: without it the engine would be another one than asked for, don't build.
   */
  kind: 'translated' | 'dropped' | 'ignored' | 'warned' | 'refused';
  flag: string;
  message: string;
}

/** Whether a note is a warning: on stderr, and in the manifest. */
export const isWarning = ({ kind }: CommandNote): boolean => kind === 'ignored' || kind === 'warned';

/** The limit of one memory pool. */
export interface MemoryPool {
  /** As trtexec spells it: `dlaSRAM`. */
  name: string;
  /** As the binding and Polygraphy spell it: `dla_managed_sram`. */
  bindingName: string;
  mib: number;
}

/** The limits that a build sets, the workspace's first; `pools` wins where both name it. */
export const memoryPools = ({ workspace, pools }: EngineOptions): MemoryPool[] =>
  Object.entries({ ...(workspace !== undefined && { workspace }), ...pools }).map(([name, mib]) => ({
    name,
    bindingName: bindingNames[name] ?? name,
    mib,
  }));

const bindingNames: Readonly<Record<string, string>> = {
  dlaSRAM: 'dla_managed_sram',
  dlaLocalDRAM: 'dla_local_dram',
  dlaGlobalDRAM: 'dla_global_dram',
  tacticSharedMem: 'tactic_shared_memory',
};
