import { causeText } from './causeText.ts';
import type { DiagnosisRule } from './diagnosisRule.ts';

/** A replay that does not fit: more particular than anything else that the same text says. */
export const REPLAY_RULES: DiagnosisRule[] = [
  {
    code: 'replay-mismatch',
    pattern: /Layer: (.+?) \| Tactic in replay was not provided by TensorRT/,
    say: (m) => ({
      layer: m[1]!,
      message: `The replay requests a tactic of ${m[1]} that TensorRT did not offer.`,
      advice:
        'Types, strides, vectorised dimension, implementation and tactic together must be one of the choices listed after "Provided choices were"; changing only a data type is never enough. A check of the replay lists valid entries.',
    }),
  },
  {
    code: 'replay-mismatch',
    pattern: /Layer: (.+?) (?:was not found in the tactic replay|\| TensorRT selected a tactic different)/,
    say: (m) => ({
      layer: m[1]!,
      message: `The replay does not match layer ${m[1]}: the network or the build options differ from those of the recording.`,
      advice: 'Record the replay again with this model and these options.',
    }),
  },
];

/** Arguments, engine files, libraries and devices. */
export const PROGRAM_RULES: DiagnosisRule[] = [
  {
    code: 'engine-invalid',
    pattern: /FileNotFoundError: .{0,300}'([^'\n]+\.(?:plan|engine|trt))'/,
    say: (m) => ({
      message: `The engine file ${m[1]} does not exist.`,
      advice: 'A failed build writes no engine. Look at the log of that build.',
    }),
  },
  {
    code: 'file-missing',
    pattern: /FileNotFoundError: .{0,300}'([^'\n]+)'/,
    say: (m) => ({
      message: `The file ${m[1]} does not exist.`,
      advice: 'Check the path; it is relative to the folder that the program runs in.',
    }),
  },
  {
    code: 'file-missing',
    pattern: /JSONDecodeError: (.+)/,
    say: (m) => ({
      message: `A JSON file that the program reads is empty or damaged (${m[1]}).`,
      advice: 'Look at the traceback above this line for the file, and write it again.',
    }),
  },
  {
    code: 'unknown-flag',
    pattern: /Unknown option: (\S+)|unrecognized arguments: (.+)/,
    say: (m) => ({
      message: `This program does not support ${m[1] ?? m[2]}.`,
      advice: /disableMHA/.test(m[0])
        ? 'No version of trtexec has --disableMHA. The closest are --decomposableAttentions (10.14 and later) and build-route knobs (11.1 and later).'
        : 'Check --help: flags depend on the version (TensorRT 11 removed the precision flags).',
    }),
  },
  {
    code: 'unknown-flag',
    pattern: /BuilderFlag' has no attribute '(\w+)'/,
    say: (m) => ({
      message: `This TensorRT has no builder flag ${m[1]}.`,
      advice: 'TensorRT 11 and TensorRT-RTX have no precision flags. Build a typed copy of the model.',
    }),
  },
  {
    code: 'bad-flag-value',
    pattern: /\b(\w+) precision has been set for a layer or layer output, but \1 is not configured/,
    say: (m) => ({
      message: `A layer requests ${m[1]}, which the build does not allow.`,
      advice: `Add --${m[1]} to the build.`,
    }),
  },
  {
    code: 'bad-flag-value',
    pattern:
      /Invalid DataType (\S+)|argument (--?\S+): (?:invalid|expected)[^\n]*|Invalid value for (\S+)|--?\S+: expected [^\n]*|--[\w-]+: .* is (?:not one|none) of /,
    say: (m, text) => ({
      message: m[1] ? `${m[1]} is not a data type of this version.` : causeText(text),
      advice: 'Correct the value. A comma inside a layer name also splits the list and causes this error.',
    }),
  },
  {
    code: 'engine-other-version',
    pattern:
      /expecting library version (\S+) got (?:\.\.)?([^\s,)]+)|Serialized Engine Version|[Vv]ersion tag does not match|kSERIALIZATION_VERSION|not compatible with this version of TensorRT/,
    say: (m) => ({
      message: `The engine was built by another TensorRT version${m[1] ? ` (${m[2]}; this is ${m[1]})` : ''}.`,
      advice: 'Build it again with this version, or build version-compatible engines (--versionCompatible).',
    }),
  },
  {
    code: 'engine-other-device',
    pattern:
      /incompatible device|different models of devices|Target GPU SM \S+ is not supported|Platform \S.* does not match|compute capability .*(?:mismatch|does not match|not compatible)/i,
    say: () => ({
      message: 'The engine was built for another GPU.',
      advice: 'Build it on this GPU, or with --hardwareCompatibilityLevel.',
    }),
  },
  {
    code: 'engine-invalid',
    pattern: /magicTag|Not a valid plan stream|Serialization assertion|Error opening engine file: (.+)/,
    say: (m) => ({
      message: m[1]
        ? `The engine file ${m[1]} cannot be opened.`
        : 'The file is not a TensorRT engine, or it is damaged.',
      advice: m[1] ? 'Check the path; a failed build writes no engine.' : 'Build the engine again.',
    }),
  },
  {
    code: 'library-missing',
    pattern:
      /Unable to load library: (\S+?):? |(?<!\S)(\S+\.so[.\d]*): cannot open shared object file|Module: '(.+?)' is required but could not be imported|No module named '?([\w.]+)/,
    say: (m) => ({
      message: `${m[1] ?? m[2] ?? m[3] ?? m[4]} cannot be loaded.`,
      advice:
        m[3] || m[4]
          ? 'Install the Python package into the interpreter that runs the build.'
          : "Install it, or add its folder to the loader's path (LD_LIBRARY_PATH, PATH on Windows).",
    }),
  },
  {
    code: 'library-missing',
    pattern: /driver version is insufficient|CUDA initialization failure|libcuda\.so/,
    say: () => ({
      message: 'This build needs a CUDA driver and a GPU, and finds none here.',
      advice: 'Build where the GPU is. TensorRT-RTX builds without one.',
    }),
  },
];
