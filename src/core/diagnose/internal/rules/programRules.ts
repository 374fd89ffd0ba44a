import { goneName, trtexecFlags } from '../../../lint/lintSource.ts';
import { causeText } from '../causeText.ts';
import { versionNumber } from '../gpuSupport.ts';
import { type DiagnosisRule, EVERY_CAUSE, type RuleContext } from '../rule.ts';
import { knownFailure } from './builderRules.ts';

const NO_PRECISION_FLAGS = 'TensorRT 11 and TensorRT-RTX have no precision flags. Build a typed copy of the model.';

/**
 * What to do on a TensorRT before 11 that lacks a flag. Sources: the changelog of onnx-tensorrt (FP8 and BF16 in 9.0,
 * INT4 in 10.0), the order of BuilderFlag in NvInfer.h of 10.6, trtexec 8.6 (--fp8), release notes of 10.8 (FP4), and
 * the changelog of TensorRT's repository (8.2.1: STRICT_TYPES).
 */
const FLAGS: Readonly<Record<string, string>> = {
  STRICT_TYPES:
    'OBEY_PRECISION_CONSTRAINTS takes its place from TensorRT 8.2 on; TensorRT 10 no longer has STRICT_TYPES.',
  OBEY_PRECISION_CONSTRAINTS: 'It came with TensorRT 8.2; older versions have STRICT_TYPES.',
  PREFER_PRECISION_CONSTRAINTS: 'It came with TensorRT 8.2; older versions have STRICT_TYPES.',
  FP8: 'It came with TensorRT 8.6, and the FP8 types of ONNX with 9: use that or a later version.',
  BF16: 'It came with TensorRT 9: use that or a later version.',
  INT4: 'It came with TensorRT 10: use that or a later version.',
  FP4: 'It came with TensorRT 10.8: use that or a later version.',
};

/** A replay that does not fit: more particular than anything else that the same text says. */
export const REPLAY_RULES: readonly DiagnosisRule[] = [
  {
    id: 'replay-tactic',
    code: 'replay-mismatch',
    pattern: /Layer: (?<layer>.+?) \| Tactic in replay was not provided by TensorRT/,
    cause: 'The replay requests a tactic of {layer} that TensorRT did not offer.',
    advice:
      'Types, strides, vectorized dimension, implementation and tactic together must be one of the choices listed after "Provided choices were"; changing only a data type is never enough. A check of the replay lists valid entries.',
    source: 'captures of TensorRT 8.6 and 10.6 with Polygraphy',
  },
  {
    id: 'replay-network',
    code: 'replay-mismatch',
    pattern: /Layer: (?<layer>.+?) (?:was not found in the tactic replay|\| TensorRT selected a tactic different)/,
    cause:
      'The replay does not match layer {layer}: the network or the build options differ from those of the recording.',
    advice: 'Record the replay again with this model and these options.',
    source: 'Polygraphy; NVIDIA/TensorRT#4040',
  },
];

/** Arguments and files of programs, and how programs end. */
export const PROGRAM_RULES: readonly DiagnosisRule[] = [
  {
    id: 'file-missing',
    code: 'file-missing',
    pattern: /FileNotFoundError: .{0,300}'(?<file>[^'\n]+)'/,
    cause: 'The file {file} does not exist.',
    advice: 'Check the path; it is relative to the folder that the program runs in.',
    source: 'Python',
  },
  {
    id: 'json-damaged',
    code: 'file-missing',
    pattern: /JSONDecodeError: (?<why>.+)/,
    cause: 'A JSON file, or the answer of a server, that the program reads is empty or damaged ({why}).',
    advice: 'Look at the traceback above this line for the file, and write it again.',
    source: 'Python',
  },
  {
    id: 'disable-mha',
    code: 'unknown-flag',
    pattern: /Unknown option: (?<flag>--disableMHA\S*)/,
    cause: 'This program does not support {flag}.',
    advice:
      'No version of trtexec has --disableMHA. The closest are --decomposableAttentions (10.14 and later) and build-route knobs (11.1 and later).',
    source: 'captures of TensorRT 8.6 and 10.6',
  },
  {
    id: 'unknown-flag',
    code: 'unknown-flag',
    pattern: /Unknown option: (?<flag>\S+)|unrecognized arguments: (?<flag2>.+)/,
    named: ({ groups: { flag, flag2 } = {} }, _, { version, product }) => ({
      values: {
        flag: flag ?? flag2,
        use: flag === undefined ? OTHER_FLAG : flagAdvice(flag.replace(/=.*/, ''), version, product),
      },
    }),
    cause: 'This program[[ ({version})]] does not support {flag}.',
    advice: '{use}',
    source: 'captures of trtexec and Polygraphy',
  },
  {
    id: 'builder-flag-removed',
    code: 'unknown-flag',
    pattern:
      /BuilderFlag' (?:object )?has no attribute '(?<flag>(?:FP|BF|INT)\d+|STRICT_TYPES|\w+_PRECISION_CONSTRAINTS)'/,
    named: ({ 0: text, groups: { flag } = {} }, _, { version, product }) => {
      const instead = product === 'tensorrt-rtx' || text.includes('tensorrt_rtx') ? undefined : FLAGS[flag!];
      const isTyped = instead === undefined || (version !== null && versionNumber(version) >= versionNumber('11.0'));
      const step = isTyped ? NO_PRECISION_FLAGS : version === null ? `${instead} ${NO_PRECISION_FLAGS}` : instead;
      return { values: { step } };
    },
    cause: 'This TensorRT[[ ({version})]] has no builder flag {flag}.',
    advice: '{step}',
    source: 'TensorRT 11, TensorRT-RTX',
  },
  {
    id: 'api-removed',
    code: 'unknown-flag',
    pattern:
      /(?:type object )?'(?:tensorrt(?:_bindings)?\.)+(?<class2>\w+)'(?: object)? has no attribute '(?<name3>\w+)'|cannot import name '(?<name4>\w+)' from '?tensorrt(?:_bindings)?\b|(?:AttributeError: |export failure[^\n]{0,60}: )'?(?:tensorrt(?:_rtx)?(?:_bindings)?\.)*(?<class>I?(?:Builder|BuilderConfig|CudaEngine|ExecutionContext|Runtime|NetworkDefinition|Network|OnnxParser|Layer|PluginRegistry)\w*)'? object has no attribute '(?<name1>\w+)'|module 'tensorrt\w*' has no attribute '(?<name2>\w+)'/,
    named: (m) => {
      const { class: class1, class2, name1, name2, name3, name4 } = m.groups!;
      const type = class1 ?? class2;
      const name = name1 ?? name2 ?? name3 ?? name4!;
      return {
        values: {
          name,
          where: type ?? 'the module tensorrt',
          ...fateOf(name, type),
          instead: replacement('python', name, type),
        },
      };
    },
    cause: '{name} of {where} {fate}: the script is for {other} one.',
    advice: {
      torch2trt:
        '{instead} Where the call is in torch2trt itself, install its newest version from the repository (0.5 or later), which knows the interfaces of TensorRT 8 and 10.',
      other: '{instead}',
    },
    source:
      'Python bindings of TensorRT 8.6 to 11; NVIDIA-AI-IOT/torch2trt#592, Kiteretsu77/FAST_Anime_VSR#21, NVIDIA/Stable-Diffusion-WebUI-TensorRT#144, #350, NVIDIA/trt-samples-for-hackathon-cn#63',
  },
  {
    id: 'flag-value',
    code: 'bad-flag-value',
    pattern:
      /Invalid DataType (?<type>\S+)|Unknown tactic source: \S+|^(?<number>sto(?:i|l|ll|ul|ull|f|d))(?: conversion failure: failed to parse (?<option>--\w+))?|argument (?:--?\S+): (?:invalid|expected)[^\n]*|Invalid value for (?:\S+)|(?<![\w-])--?[\w-]+: expected [^\n]*|(?<![\w-])--[\w-]+: .* is (?:not one|none) of /m,
    named: (m, text) => ({
      values: {
        what: m.groups!['type']
          ? `${m.groups!['type']} is not a data type of this version.`
          : m.groups!['number']
            ? `The value of ${m.groups!['option'] ?? 'an option'} is not a number where one is needed.`
            : causeText(text),
      },
    }),
    cause: '{what}',
    advice:
      'Correct the value (--help lists what the option takes; an input or output format is TYPE:LAYOUT, such as fp16:chw). A comma inside a layer name also splits the list and causes this error.',
    source: 'captures of trtexec and Polygraphy',
  },
  {
    id: 'killed',
    anywhere: true,
    code: 'killed',
    pattern:
      /(?:^|\s)Killed\b|\bkilled\b(?= *(?:python|trtexec|polygraphy|\.\/|$))|oom-kill|OOMKilled|Out of memory: Kill(?:ed)? process|exit(?:ed)?(?: with)? (?:code|status):? ?(?:137|-9)\b|SIGKILL|died with <Signals\.SIGKILL|returned non-zero exit status 137|status=9\/KILL|^(?:.* )?(?:已杀死|已砍掉|強制終了|Getötet|Processus arrêté|Убито)/m,
    once: true,
    cause: 'The program was killed while {phase}, most often by the system because the host memory (RAM) ran out.',
    advice:
      'Check `dmesg` for "Out of memory". Give it more RAM or swap (a container: a higher memory limit; a Jetson: swap and no desktop), build smaller (batch, largest shapes, --builderOptimizationLevel=2), and close other programs.',
    sure: 'likely',
    source: 'Linux; ceccocats/tkDNN#26, NVIDIA/TensorRT-LLM#743',
  },
  {
    id: 'pure-virtual',
    code: 'crashed',
    pattern: /pure virtual method called/,
    severity: 'error',
    cause:
      'The program calls an object of TensorRT or of a plugin that is destroyed already, or that was compiled with the headers of another version.',
    advice:
      'Keep the logger, runtime and engine as long as what they made (destroy contexts first, then the engine, then the runtime), and compile the program and its plugins again with the headers of the TensorRT that it loads (`ldd`).',
    after: ['library-mismatch', 'engine-other-version'],
    sure: 'possible',
    source: 'NVIDIA/TensorRT#1139',
  },
  {
    id: 'crashed',
    anywhere: true,
    code: 'crashed',
    pattern:
      /Segmentation fault|SIGSEGV|0[xX][cC]0000005|\b3221225477\b|-1073741819|exit(?:ed)?(?: with)? (?:code|status):? ?(?:139|-11)\b|Bus error|SIGBUS|Illegal instruction|access violation|died with <Signals\.SIG(?:SEGV|BUS|ILL)|段错误|程式記憶體區段錯誤|セグメンテーション違反|Speicherzugriffsfehler|Erreur de segmentation|Violación de segmento|Falha de segmentação|Errore di segmentazione|Ошибка сегментирования|세그멘테이션 오류/i,
    named: ({ 0: text }, _, context) => ({
      values: {
        known: knownFailure(context, context.phase, true),
        how: /illegal/i.test(text)
          ? 'illegal instruction'
          : /bus|SIGBUS/i.test(text)
            ? 'bus error'
            : 'access violation',
      },
    }),
    cause: 'The program crashed ({how}) while {phase}[[ with TensorRT {version}]][[ on {gpu}]].',
    advice:
      '[[{known} ]]{usual}[[ The command allows {lowered}: build once in FP32 to see whether that is the cause.]] Check first that this TensorRT supports the GPU (its support matrix; TensorRT 10 needs Volta or later, from 10.5 on Turing), that one set of its libraries is loaded, and that memory is free. Otherwise find the layer: build with --verbose, look at the last layer that was timed, exclude its tactics (--tacticSources), reduce the model to it, try the next version and driver, and report it with the reduced model.',
    after: EVERY_CAUSE.filter((code) => code !== 'crashed' && code !== 'killed'),
    sure: 'possible',
    source: 'operating systems; vs-mlrt, NVIDIA/TensorRT#2715, #3162, #3800',
  },
  {
    id: 'myelin-cuda',
    code: 'runtime-failed',
    pattern: /MyelinCheckException[^\n]*CUDA_SUCCESS/,
    severity: 'error',
    cause: 'A call of CUDA failed while TensorRT compiled a part of the network ({phase}).',
    advice: {
      rtx: 'Check that `nvidia-smi` works here and shows free memory. Without a GPU TensorRT-RTX builds engines, but none to be refitted and none without weights: leave out --refit and --stripWeights.',
      other:
        'Check that `nvidia-smi` works here and shows free memory, that the driver is new enough for the CUDA of this TensorRT, and that one set of CUDA libraries is loaded.',
    },
    after: EVERY_CAUSE,
    sure: 'possible',
    source: 'captures of TensorRT-RTX 1.7.1 on a machine without a GPU',
  },
  {
    id: 'bool-copy',
    code: 'unsupported-type',
    pattern: /\[(?<layer>[^[\]]+)\] requires bool(?: or uint8)? I\/O but node can ?not be handled by Myelin/,
    cause:
      'A boolean tensor would have to be copied between the computation of shapes and the GPU ({layer}), which this TensorRT cannot do.',
    advice:
      'Do not make boolean tensors outputs of the network (marking all outputs does that); cast them to INT32 before, or use TensorRT 10.',
    sure: 'likely',
    source: 'captures of TensorRT 8.6 with all tensors marked as outputs',
  },
];

/** Names of the Python API that came after TensorRT 8.0; a script that uses them needs a later version. */
const isNew = (name: string): boolean =>
  /^(?:num_io_tensors|\w*_?tensor_(?:name|mode|shape|dtype|address|location|format)\w*|execute_async_v3|set_input_shape|set_memory_pool_limit|build_serialized_network|MemoryPoolType|TensorIOMode|IProgressMonitor|IOutputAllocator|HardwareCompatibilityLevel|IPluginV3\w*|BF16|FP8|INT4|STRONGLY_TYPED|\w+_v2)$/.test(
    name,
  ) && !/^(?:execute_(?:async_)?v2|add_plugin_v2)$/.test(name);

/** The version that brought a name of the API, of those that programs for a later TensorRT most often need. */
const sinceOf = (name: string): string | undefined =>
  /^(?:buildSerializedNetwork|build_serialized_network)$/.test(name)
    ? '8.0'
    : /^(?:setMemoryPoolLimit|set_memory_pool_limit|MemoryPoolType)$/.test(name)
      ? '8.4'
      : /^(?:enqueueV3|execute_async_v3|getNbIOTensors|num_io_tensors|getIOTensorName|getTensor(?:Shape|DataType|IOMode)|get_tensor_(?:name|shape|dtype|mode)|setTensorAddress|set_tensor_address|setInputShape|set_input_shape)$/.test(
            name,
          )
        ? '8.5'
        : undefined;

/** Whether a name of the Python API was removed, or is not there yet. */
function fateOf(name: string, type: string | undefined): { fate: string; other: string } {
  const isGone = Object.hasOwn(INSTEAD, name) || goneIn('python', name, type) !== undefined;
  if (isGone) return { fate: 'was removed, and this version of TensorRT no longer has it', other: 'an earlier' };
  return { fate: 'does not exist in this version of TensorRT', other: isNew(name) ? 'a later' : 'another' };
}

/** What to call instead of names of the Python API that were removed. */
const INSTEAD: Readonly<Record<string, string>> = {
  build_engine: 'Use `builder.build_serialized_network(network, config)`.',
  build_cuda_engine: 'Use `builder.build_serialized_network(network, config)`.',
  max_workspace_size: 'Use `config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, bytes)`.',
  max_batch_size: 'Networks have explicit batches: give an optimization profile.',
  num_bindings: 'Use `engine.num_io_tensors`.',
  get_binding_shape: 'Use `engine.get_tensor_shape(name)`.',
  get_binding_dtype: 'Use `engine.get_tensor_dtype(name)`.',
  get_binding_name: 'Use `engine.get_tensor_name(index)`.',
  get_binding_index: 'Use names: `engine.get_tensor_name(index)`.',
  binding_is_input: 'Use `engine.get_tensor_mode(name)`.',
  set_shape: 'Use `context.set_input_shape(name, shape)`.',
  set_binding_shape: 'Use `context.set_input_shape(name, shape)`.',
  execute_async: 'Use `context.set_tensor_address(name, pointer)` and `context.execute_async_v3(stream)`.',
  execute_async_v2: 'Use `context.set_tensor_address(name, pointer)` and `context.execute_async_v3(stream)`.',
  execute_v2: 'Use `context.set_tensor_address(name, pointer)` and `context.execute_async_v3(stream)`.',
  fp16_mode: 'Use `config.set_flag(trt.BuilderFlag.FP16)` (up to TensorRT 10).',
  int8_mode: 'Use `config.set_flag(trt.BuilderFlag.INT8)` (up to TensorRT 10).',
  platform_has_fast_fp16: 'TensorRT 11 has no such query; every supported GPU computes FP16.',
};

const IN_CONFIG = 'TensorRT 8 removed it: it is a setting of the IBuilderConfig (`builder->createBuilderConfig()`)';

/** Members of IBuilder that TensorRT 8 removed (its release notes; headers of 7.2 and 8.0). */
const BEFORE_8: Readonly<Record<string, string>> = {
  buildCudaEngine:
    'TensorRT 8 removed it: use `builder->buildSerializedNetwork(*network, *config)`, then `runtime->deserializeCudaEngine(data, size)`.',
  createNetwork:
    'TensorRT 8 removed it: use `builder->createNetworkV2(flags)`, for a model of ONNX with kEXPLICIT_BATCH.',
  setMaxWorkspaceSize: `${IN_CONFIG}: \`config->setMemoryPoolLimit(MemoryPoolType::kWORKSPACE, bytes)\`, before 8.4 \`config->setMaxWorkspaceSize(bytes)\`.`,
  setFp16Mode: `${IN_CONFIG}: \`config->setFlag(BuilderFlag::kFP16)\` (up to TensorRT 10).`,
  setInt8Mode: `${IN_CONFIG}: \`config->setFlag(BuilderFlag::kINT8)\` (up to TensorRT 10).`,
  setStrictTypeConstraints: `${IN_CONFIG}: \`config->setFlag(BuilderFlag::kOBEY_PRECISION_CONSTRAINTS)\` (up to TensorRT 10).`,
  setInt8Calibrator: `${IN_CONFIG}: \`config->setInt8Calibrator(calibrator)\` (up to TensorRT 10).`,
  setDefaultDeviceType: `${IN_CONFIG}: \`config->setDefaultDeviceType(DeviceType::kDLA)\`.`,
};

/** What to call instead of names of the API that are gone, or are not there yet. */
function replacement(language: 'python' | 'cpp', name: string, type: string | undefined): string {
  const table = language === 'python' ? INSTEAD : BEFORE_8;
  if (Object.hasOwn(table, name) && (language === 'python' || type === 'IBuilder')) return table[name]!;
  const since = sinceOf(name);
  if (since !== undefined)
    return `It came with TensorRT ${since}: install that or a later one (on a Jetson a later JetPack), or take an older release of the program.`;
  const gone = goneIn(language, name, type);
  if (gone === undefined)
    return language === 'python' && isNew(name)
      ? 'Install the TensorRT that the script was written for (its requirements name it), or use the older interface.'
      : "Use the version that it was written for, or its newer interface (NVIDIA's migration guide).";
  const said = gone.advice.includes('trtlens') ? '' : gone.advice;
  const instead = said || (gone.since === '11.0' ? typesInstead(name) : '');
  return `TensorRT ${gone.since} removed it.${instead && ` ${instead}`} Otherwise use the version before that${language === 'python' ? ` (\`pip install "tensorrt<${gone.since.split('.')[0]}"\`)` : ''}, or a newer release of the program.`;
}

const goneIn = (language: 'python' | 'cpp', name: string, type: string | undefined) =>
  goneName(language, type === undefined ? name : `${type}.${name}`);

/** What TensorRT 11 has in place of precision flags, types of layers and calibrators: all is in the model. */
const typesInstead = (name: string): string =>
  /calib|int8|quant|dynamic_?range|fp8|int4|fp4/i.test(name)
    ? 'Quantize the model with Q/DQ nodes before (Model Optimizer: `python -m modelopt.onnx.quantization`), and build it as it is.'
    : /fp16|bf16|precision|type|best|layer/i.test(name)
      ? 'The types come from the model: export it in FP16, or convert it (Model Optimizer: `python -m modelopt.onnx.autocast`), and build it as it is.'
      : '';

const OTHER_FLAG =
  'Look at its --help: options differ between releases, so use the documentation and scripts of the one that is installed, or install the one that the command is from.';

/** When trtexec has a flag, and what to use instead. */
function flagAdvice(flag: string, version: string | null, product: RuleContext['product']): string {
  const row = Object.hasOwn(trtexecFlags, flag) ? trtexecFlags[flag] : undefined;
  if (row === undefined)
    return 'Look at its --help: flags depend on the version, and a name or a quotation mark may be misspelled.';
  const [first, gone, advice] = row;
  if (product === 'tensorrt-rtx') return `TensorRT-RTX has no such flag. ${typesInstead(flag)}`.trim();
  if (gone !== '' && (version === null || versionNumber(version) >= versionNumber(gone))) {
    const instead = advice.includes('trtlens') ? typesInstead(flag) : advice;
    return `trtexec of TensorRT ${gone} and later no longer has it. ${instead || 'Leave it out.'}`;
  }
  return advice === 'Use nothing: always on.' && version !== null && versionNumber(version) >= 1100
    ? 'Leave it out: it is always on.'
    : `It came with TensorRT ${first === '9.3' ? '9' : first}: use trtexec of that version or later (its archive or container; the wheels of pip have none), and see which one is found first on PATH.`;
}
