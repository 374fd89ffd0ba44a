import { goneName } from '../../../kernel/build/goneName.ts';
import { trtexecFlags } from '../../../kernel/build/goneNames.ts';
import { counted, versionNumber } from '../../../kernel/base/text.ts';
import { gpuIn } from '../../../kernel/rules/buildFacts.ts';
import { causeText } from '../../../kernel/build/causeText.ts';
import { computeCapability, type GpuSupport, gpuSupport } from '../gpuSupport.ts';
import type { RuleContext, RuleValues } from './ruleContext.ts';
import { operatorRow } from '../operatorTable.ts';
import { makerOf, pluginSince } from '../pluginTable.ts';
import { bareText } from './valueText.ts';

/** Makes values that need more than words: `use` of a row names one. It gets the values known so far, and the whole text. */
type NamedValues = (values: RuleValues, text: string, context: RuleContext) => RuleValues;

/** All that a row may use; `schemas/diagnosis-rules.schema.json` says what each gives. */
export const NAMED_VALUES: Readonly<Record<string, NamedValues>> = {
  maker: ({ plugin, op }) => ({ ...makerOf(plugin ?? op ?? '') }),
  pluginSince: ({ first, plugin = first, op }, _, { version }) => ({
    plugin,
    since: pluginSince(plugin ?? op ?? '', version),
  }),
  similarPlugin: ({ op }, _, { plugins }) => ({ plugin: op === undefined ? undefined : similarPlugin(op, plugins) }),
  operatorSince: ({ op = '' }, _, { version, since10 }) => {
    const since = operatorSince(op);
    if (since === undefined) return {};
    const isLater =
      version === null
        ? !since10 || versionNumber(since) > versionNumber('10.0')
        : versionNumber(version) < versionNumber(since);
    return { since: isLater ? since : undefined };
  },
  gpu: gpuNamed,
  flag: ({ flag, flag2 }, _, { version, product }) => ({
    use: flag === flag2 ? OTHER_FLAG : flagAdvice(flag!.replace(/=.*/, ''), version, product),
  }),
  builderFlag: ({ flag, match }, _, { version, product }) => {
    const instead = product === 'tensorrt-rtx' || match!.includes('tensorrt_rtx') ? undefined : FLAGS[flag!];
    const isTyped = instead === undefined || (version !== null && versionNumber(version) >= versionNumber('11.0'));
    return { step: isTyped ? NO_PRECISION_FLAGS : version === null ? `${instead} ${NO_PRECISION_FLAGS}` : instead };
  },
  api: ({ name = '', class: type }) => ({
    where: type ?? 'the module tensorrt',
    ...fateOf(name, type),
    instead: replacement(name, type),
  }),
  library: ({ first }) => {
    const file = first?.replace(/\.$/, '');
    return { file, ...productOf(file) };
  },
  olderLibrary: ({ want = '', have = '' }) => {
    const [a = [], b = []] = [want, have].map((text) => text.split('.').map(Number));
    const index = a.findIndex((part, at) => part !== b[at]);
    return { older: index >= 0 && (b[index] ?? 0) > a[index]! ? 'newer' : 'older' };
  },
  engineVersion: (_, text) => {
    const [, have, was] = /expecting library version (\S+) got (?:\.\.)?([^\s,)]+)/.exec(text) ?? [];
    const [, tag, tagWas] = /Current Version: (\d+), Serialized Engine Version: (\d+)/.exec(text) ?? [];
    const age = Number(tagWas) < Number(tag) ? 'an earlier' : 'a later';
    return {
      have: have ?? (tag && `format ${tag}`),
      was: was ?? (tagWas && `format ${tagWas}`),
      age: Number(tag) > 0 && Number(tagWas) > 0 ? age : undefined,
    };
  },
  flags: ({ near }) => ({
    flags: [...new Set(near!.match(/(?<=BuilderFlag::k)[A-Z0-9_]+/g) ?? [])].join(' and '),
  }),
  layerNorms: (_, text) => ({ names: /nodes in FP16: (.*)/.exec(text)?.[1] ?? '', what: layerNorms(text) }),
  layerStatement: (_, text) => {
    const cause = causeText(text);
    const [, layer, why = cause] =
      /^(?:I[A-Z]\w+Layer )?(\(Unnamed Layer\* \d+\) \[\w+\][^:]*|[^\s:()]+): (?:\1: )?(.+)$/.exec(cause) ?? [];
    const kind = /\bI([A-Z]\w+?)(?:Layer|Node)\b/.exec(cause)?.[1] ?? /\[(\w+)\]/.exec(layer ?? '')?.[1];
    return {
      layer,
      kind: kind?.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase(),
      why: bareText(why).replaceAll('`', ''),
    };
  },
  reshape: ({ from, to }, text) => ({ batch: fixedBatch(from, to), profile: ofProfile(text) }),
  shapeInputs: (_, __, { inputs }) => {
    const needed = inputs.filter(({ shape }) => shape);
    if (needed.length === 0 || inputs.some(({ open }) => open)) return {};
    const withValues = (open: string, by: string, close: string, between: string) =>
      needed.map(({ name, values }) => `${name}:${open}${Array(values).fill(3).join(by)}${close}`).join(between);
    return {
      input: needed.map(({ name }) => name).join(', '),
      first: needed[0]!.name,
      are: needed.length > 1 ? 'Inputs' : 'Input',
      is: needed.length > 1 ? 'are shape tensors' : 'is a shape tensor',
      sizes: withValues('', 'x', '', ','),
      lists: withValues('[', ',', ']', ' '),
    };
  },
  shapedInputs: ({ input }, _, { shaped }) => ({
    others: shaped.length === 0 || shaped.includes(input!) ? undefined : shaped.join(', '),
  }),
  cuda: ({ library, status, why, number, file }) => {
    const name = library === 'dnn' ? 'CUDNN' : 'CUBLAS';
    const words = status
      ? `${name}_STATUS_${STATUS[name]![Number(status)] ?? status}`
      : why?.trim().replace(/[.:]$/, '');
    const code = number ?? (/^\d+$/.test(words ?? '') ? words : undefined);
    return {
      why: words,
      error: code === undefined ? words : `error ${code}${file === undefined ? '' : ` at ${file}`}`,
    };
  },
};

/** Names of the status of a library, by number. */
const STATUS: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  CUDNN: {
    1: 'NOT_INITIALIZED',
    2: 'ALLOC_FAILED',
    3: 'BAD_PARAM',
    4: 'INTERNAL_ERROR',
    5: 'INVALID_VALUE',
    6: 'ARCH_MISMATCH',
    7: 'MAPPING_ERROR',
    8: 'EXECUTION_FAILED',
    9: 'NOT_SUPPORTED',
  },
  CUBLAS: {
    1: 'NOT_INITIALIZED',
    3: 'ALLOC_FAILED',
    7: 'INVALID_VALUE',
    8: 'ARCH_MISMATCH',
    11: 'MAPPING_ERROR',
    13: 'EXECUTION_FAILED',
    14: 'INTERNAL_ERROR',
    15: 'NOT_SUPPORTED',
  },
};

/** Libraries of TensorRT and what it needs: where each is from; `major`: its files carry the version. */
const LIBRARIES: readonly { name: RegExp; product: string; from: string; windows?: string; major?: true }[] = [
  {
    name: /^(?:lib)?(?:nvinfer|nvonnxparser)|^libmyelin/,
    product: 'TensorRT',
    windows: "its archive for Windows (lib, from 10.13 on bin), or pip's tensorrt-cu12",
    from: 'apt: libnvinfer and its plugins; pip: tensorrt-cu12 or -cu11, -cu13, whose libraries are in site-packages/tensorrt_libs (`import tensorrt` first loads them); JetPack on a Jetson',
    major: true,
  },
  {
    name: /^(?:lib)?cudnn/,
    product: 'cuDNN',
    windows: 'the bin folder of its archive for this CUDA',
    from: 'apt: libcudnn; pip: nvidia-cudnn-cu12 or -cu11, in site-packages/nvidia/cudnn',
    major: true,
  },
  {
    name: /^(?:lib)?(?:cudart|cublas|cufft|curand|cusolver|cusparse|nvrtc|nvToolsExt|nvJitLink|cupti|npp\w*)(?!Lt_static)/,
    product: 'CUDA',
    windows: 'the bin folder of the CUDA toolkit of that version',
    from: 'the CUDA toolkit of that version in /usr/local/cuda-…/lib64, or the wheels nvidia-…-cu12 of pip, in site-packages/nvidia; containers on JetPack 4 get it from the host, with --runtime nvidia',
    major: true,
  },
  {
    name: /^(?:libcuda|nvcuda|libnvidia-|libnvcuvid|nvml|libnvdla|libcudla|libnvmedia|libnvos|libnvbuf)/,
    product: 'the NVIDIA driver (JetPack on a Jetson)',
    from: 'do not copy it: install the driver, and start a container with --gpus all, on a Jetson with --runtime nvidia and an image of this JetPack',
  },
  {
    name: /^libtorchtrt/,
    product: 'Torch-TensorRT',
    from: 'pip: torch-tensorrt, in site-packages/torch_tensorrt/lib; for C++ its archive',
  },
  {
    name: /^libtorch|^libc10/,
    product: 'PyTorch',
    from: 'import torch first, or add site-packages/torch/lib; the version must be that of the compilation',
  },
  {
    name: /^(?:lib)?onnxruntime_providers_/,
    product: 'ONNX Runtime',
    from: 'it has to be in the folder of the library of ONNX Runtime itself, from the same release: use the GPU package (onnxruntime-gpu, onnxruntime_gpu for Java, Microsoft.ML.OnnxRuntime.Gpu) and copy all of its libraries next to the program',
  },
];

/** Version in the name of a library: `libnvinfer.so.8`, `nvinfer_10.dll`, `cudart64_110.dll`. */
const majorOf = (file: string): string | undefined =>
  /\.so\.(\d+)/.exec(file)?.[1] ?? /_(\d+)\.dll$/i.exec(file)?.[1]?.replace(/^(1[01])\d$/, '$1');

/** `libnvinfer.so.8` is of TensorRT 8. */
function productOf(file: string | undefined): { product?: string; from?: string } {
  const name = (file ?? '').replace(/^.*[\\/]/, '');
  const found = LIBRARIES.find((one) => one.name.test(name));
  if (found === undefined) return {};
  const major = found.major && majorOf(name);
  // TensorRT-RTX has its libraries under the same names, with its own versions.
  if (found.product === 'TensorRT' && major && Number(major) < 5) return {};
  const from = /\.dll$/i.test(name) ? (found.windows ?? found.from) : found.from;
  return { product: major ? `${found.product} ${major}` : found.product, from };
}

function gpuNamed(groups: RuleValues, text: string, { version, product, gpu }: RuleContext): RuleValues {
  const raw = ['hex', 'sm', 'sm2', 'sm3'].map((name) => groups[name]).find((one) => one !== undefined);
  const sm = raw === undefined ? undefined : (computeCapability(raw) ?? undefined);
  const known = sm === undefined ? null : gpuSupport(sm, version, product);
  const board = known?.supported === true && JETSON.test(sm ?? '');
  // TensorRT itself refuses the GPU: a release has builds for several versions of CUDA, and for several boards.
  const support = known?.supported && (board || version !== null) ? null : known;
  return {
    sm,
    gpu: gpu ?? undefined,
    arch: archOf(gpu),
    dropped: droppedBy(version, support),
    version: version ?? undefined,
    why: support === null ? '' : `: ${support.why}`,
    use: board ? OTHER_BUILD : (support?.use ?? versionFor(text)),
  };
}

/** Compute capabilities of Jetson boards. */
const JETSON = /^(?:5\.3|6\.2|7\.2|8\.7)$/;

/** The architecture that nvcc compiles for the GPU that a log names. */
function archOf(gpu: string | null): string | undefined {
  const capability = gpuIn(gpu ?? '')?.capability;
  return capability === undefined ? undefined : `for this GPU ${capability}`;
}

/** What to do where a package lacks a GPU that its version has by the support matrix. */
const OTHER_BUILD =
  'The packages of one version are built for different GPUs: those of a PC or of a server with ARM (sbsa) lack the GPUs of Jetson boards. On a Jetson install the TensorRT of its JetPack, without pinning another; otherwise take a later TensorRT';

/** What the support matrix says against a GPU, where the version that it is for is known. */
function droppedBy(version: string | null, support: GpuSupport | null): string | undefined {
  return version !== null && support?.supported === false ? support.why : undefined;
}

/** Which version takes a GPU of which the message says little. */
function versionFor(text: string): string {
  if (text.includes('major < 10'))
    return 'It is one of compute capability 10 or later (Blackwell): use TensorRT 10.8 or later with CUDA 12.8 or later';
  return text.includes('NVRTC')
    ? 'Use a TensorRT and CUDA that are newer than the GPU'
    : 'Use a version of TensorRT that lists this compute capability in its support matrix: a later one for a newer GPU (8.6 takes all up to Ada and Hopper, 10.8 Blackwell), an earlier one for a GPU of Pascal or Volta and before';
}

/** A plugin whose name shares a word with an operator: `PillarScatterPlugin` for `ScatterBEV`; undefined: none, or itself. */
function similarPlugin(op: string, plugins: readonly string[]): string | undefined {
  if (plugins.includes(op)) return undefined;
  const words = (op.match(/[A-Z]?[a-z]+|[A-Z]{3,}/g) ?? []).filter((word) => word.length > 3 && word !== 'Plugin');
  return plugins.find((plugin) => words.some((word) => plugin.includes(word)));
}

/** Operators that a version before 8.6 brought (operators.md of onnx-tensorrt 5.1, its changelog). */
const EARLIER = new Map(
  Object.entries({
    '5.1': 'Acos Acosh Asin Asinh Atan Atanh Cast Cos Gather Sin',
    '8.0': 'Celu CumSum EyeLike GatherElements GreaterOrEqual LessOrEqual LpNormalization LpPool ReverseSequence',
    '8.2': 'Einsum GatherND IsNaN Round Scatter ScatterElements ScatterND Sign',
    '8.4': 'Shrink Xor',
    '8.5':
      'GridSample MeanVarianceNormalization Mod NonMaxSuppression NonZero RandomNormal RandomUniform RoiAlign Trilu',
  }).flatMap(([version, operators]) => operators.split(' ').map((operator) => [operator, version])),
);

/** Operators that 8.6 has and 7.2 did not, or perhaps not. */
const NOT_IN_7 =
  /^(?:GlobalLpPool|GroupNormalization|HardSwish|IsInf|LayerNormalization|OneHot|RandomNormalLike|RandomUniformLike)$/;

/** The first version from 7.2 on that has an operator, or an earlier one, where it is known; undefined: none. */
function sinceOf(op: string): string | undefined {
  const earlier = EARLIER.get(op);
  if (earlier !== undefined) return earlier;
  const [since = '-', rtx] = (operatorRow(op) ?? '').split(' ');
  if (rtx !== 'y' || !/^\d/.test(since)) return undefined;
  // What the changelog does not name was there before it begins.
  return since === '8.6' && !NOT_IN_7.test(op) ? '7.2' : since;
}

/** The first version from 7.2 on that has an operator, or an earlier one, where it is known; undefined: none. */
function operatorSince(op: string): string | undefined {
  const earlier = EARLIER.get(op);
  if (earlier !== undefined) return earlier;
  const [since = '-', rtx] = (operatorRow(op) ?? '').split(' ');
  if (rtx !== 'y' || !/^\d/.test(since)) return undefined;
  // What the changelog does not name was there before it begins.
  return since === '8.6' && !NOT_IN_7.test(op) ? '7.2' : since;
}

/** Names of the Python API that came after TensorRT 8.0; a script that uses them needs a later version. */
const isNew = (name: string): boolean =>
  /^(?:num_io_tensors|\w*_?tensor_(?:name|mode|shape|dtype|address|location|format)\w*|execute_async_v3|set_input_shape|set_memory_pool_limit|build_serialized_network|MemoryPoolType|TensorIOMode|IProgressMonitor|IOutputAllocator|HardwareCompatibilityLevel|IPluginV3\w*|BF16|FP8|INT4|STRONGLY_TYPED|\w+_v2)$/.test(
    name,
  ) && !/^(?:execute_(?:async_)?v2|add_plugin_v2)$/.test(name);

/** Whether a name of the Python API was removed, or is not there yet. */
function fateOf(name: string, type: string | undefined): { fate: string; other: string } {
  const isGone = Object.hasOwn(INSTEAD, name) || goneIn(name, type) !== undefined;
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

/** What takes the place of a name of the Python interface. */
function replacement(name: string, type: string | undefined): string {
  if (Object.hasOwn(INSTEAD, name)) return INSTEAD[name]!;
  const since = sinceOf(name);
  if (since !== undefined)
    return `It came with TensorRT ${since}: install that or a later one (on a Jetson a later JetPack), or take an older release of the program.`;
  const gone = goneIn(name, type);
  if (gone === undefined)
    return isNew(name)
      ? 'Install the TensorRT that the script was written for (its requirements name it), or use the older interface.'
      : "Use the version that it was written for, or its newer interface (NVIDIA's migration guide).";
  const said = gone.advice.includes('trtlens') ? '' : gone.advice;
  const instead = said || (gone.since === '11.0' ? typesInstead(name) : '');
  return `TensorRT ${gone.since} removed it.${instead && ` ${instead}`} Otherwise use the version before that (\`pip install "tensorrt<${gone.since.split('.')[0]}"\`), or a newer release of the program.`;
}

const goneIn = (name: string, type: string | undefined) =>
  goneName('python', type === undefined ? name : `${type}.${name}`);

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

/** What it says that the shapes of a profile break the model's own; undefined: the message is not about a profile. */
function ofProfile(text: string): string | undefined {
  const which = /\bk(MIN|OPT|MAX) values for profile/.exec(text)?.[1]?.toLowerCase();
  return (
    which &&
    `The shapes of the profile (${which}) do not fit, so the exporter wrote a size of its example, most often the batch, into the model: export again with that dimension dynamic (an update of the export script may do it), or with the batch that is needed, and let the profile have no other.`
  );
}

/** What two shapes say whose sizes differ by a factor that is the first dimension of one of them; undefined: nothing. */
function fixedBatch(from: string | undefined, to: string | undefined): string | undefined {
  const [a, b] = [from, to].map((text) => text?.match(/-?\d+/g)?.map(Number) ?? []) as [number[], number[]];
  const volume = (shape: readonly number[]) => shape.reduce((product, size) => product * size, 1);
  if (a.length === 0 || b.length === 0 || [...a, ...b].some((size) => size < 1)) return undefined;
  const factor = Math.max(volume(a) / volume(b), volume(b) / volume(a));
  return Number.isInteger(factor) && factor > 1 && (volume(a) > volume(b) ? a : b)[0] === factor
    ? `They differ by the factor ${factor}, the first dimension: most likely a batch size is fixed in one of them by the export`
    : undefined;
}

/** TensorRT lists every node, and empty names for those with a precision of their own. */
function layerNorms(text: string): string {
  const list = /nodes in FP16: (.*)/.exec(text)?.[1];
  const torch = /(?:= )?(aten::layer_norm)\([\s\S]*?scope: (\S+)/.exec(text);
  if (torch) {
    const scope = torch[2]!
      .split('/')
      .at(-1)!
      .replace(/^__module\./, '');
    return `Layer normalization ${scope} (${torch[1]}) runs in FP16 and may overflow.`;
  }
  const names = list?.split(', ').filter(Boolean);
  if (!names) return `Layer normalizations run in FP16 and may overflow: ${causeText(text)}`;
  return names.length === 0
    ? 'All normalization nodes have an explicit precision.'
    : `${counted(names.length, 'node')} of layer normalizations ${names.length === 1 ? 'runs' : 'run'} in FP16 and may overflow.`;
}
