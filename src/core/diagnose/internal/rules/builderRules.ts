import { sizeText } from '../../../base/text.ts';
import { causeText } from '../causeText.ts';
import type { DiagnosisRule, RuleContext } from '../rule.ts';
import { cudaError, PLUGIN_FAILED } from './runtimeRules.ts';

/** What to do when tactics do not fit into the workspace. */
export const WORKSPACE_ADVICE = {
  trtexec:
    'Increase the workspace (`--memPoolSize=workspace:<MiB>`, before TensorRT 8.4 `--workspace=<MiB>`) or leave it unlimited.',
  polygraphy: 'Increase the workspace (`--pool-limit workspace:<bytes>`) or leave it unlimited.',
  trtlens: 'Increase the workspace (--workspace) or leave it unlimited.',
  onnxruntime: 'Increase trt_max_workspace_size of the TensorRT provider.',
  'nv-tensorrt-rtx': 'Increase nv_max_workspace_size of the provider.',
  'torch-tensorrt': 'Increase workspace_size of torch_tensorrt.compile, or leave it at 0.',
  torch2trt: 'Increase max_workspace_size of torch2trt.',
  ultralytics: 'Increase workspace= of the export, or leave it unset.',
  deepstream: 'Increase workspace-size in the configuration of nvinfer.',
  other:
    'Increase the workspace (`config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, bytes)`, before TensorRT 8.4 `max_workspace_size`) or leave it unlimited.',
};

const FREE_MEMORY =
  'Free memory on the GPU: close other programs that use it (on a Jetson the desktop, and add swap), lower the workspace, the batch or the largest shape of the optimization profile, build in FP16, or build on a GPU with more memory.';
const DEVICE_MEMORY = {
  ultralytics: `${FREE_MEMORY} Ultralytics: lower batch, imgsz or workspace= and use half=True.`,
  torch2trt: `${FREE_MEMORY} torch2trt: fp16_mode=True and a smaller max_workspace_size.`,
  onnxruntime: `${FREE_MEMORY} ONNX Runtime: lower trt_max_workspace_size and the maximum of trt_profile_max_shapes.`,
  'tf-trt': `${FREE_MEMORY} TensorFlow takes all of the GPU for itself: leave room with per_process_gpu_memory_fraction (TensorFlow 1) or set_memory_growth, and lower max_workspace_size_bytes and max_batch_size.`,
  other: FREE_MEMORY,
};
const TACTIC_MEMORY =
  'Free memory on the GPU: close other programs that use it, lower the workspace or the largest shape of the optimization profile. Where an engine is built all the same, it uses other tactics.';
/** Failures of the builder by version, with what ended them: rows count where all that they name fits. */
const KNOWN_FAILURES: readonly {
  versions: RegExp;
  /** Words in the names of the layers. */
  of?: RegExp;
  gpu?: RegExp;
  /** Only where the command allows this type. */
  type?: string;
  /** Only for builds that end without a word. */
  crash?: true;
  says: string;
  source: string;
}[] = [
  {
    versions: /^8\.[0-3]\b/,
    of: /[sS]oftmax|[mM]ask/,
    says: 'an attention with its mask (Unsqueeze to Softmax) failed so in 8.2, and 8.4 builds it',
    source: 'NVIDIA/TensorRT#1917',
  },
  {
    versions: /^8\.[0-4]\b/,
    of: /MatMul/,
    says: 'a MatMul of dynamic shapes failed so in 8.4, and 8.5 builds it with --preview=+fasterDynamicShapes0805, the default of 8.6',
    source: 'NVIDIA/TensorRT#2124',
  },
  {
    versions: /^8\.6\b/,
    of: /MatMul|[aA]ttention|\battn|Softmax/,
    says: 'products that 8.6 takes for an attention failed so, and 10 builds them',
    source: 'NVIDIA/TensorRT#3930',
  },
  {
    versions: /^11\.[0-2]\b/,
    of: /ConvTranspose|[dD]econv/,
    says: 'a ConvTranspose in BF16 has no kernel in 11.0 to 11.2; FP16, or FP32 around it by Cast, builds',
    source: 'NVIDIA/TensorRT#4829, rerun-io/examples-monorepo#106',
  },
  {
    versions: /^10\.16\b/,
    gpu: /RTX 50\d0/,
    says: 'a model that other GPUs build failed on an RTX 5090 with 10.16, which 11.1 is to correct',
    source: 'NVIDIA/TransformerEngine#2891',
  },
  {
    versions: /^8\.5\.[01]\b/,
    type: 'FP16',
    crash: true,
    says: 'builds in FP16 crashed in 8.5.1, and 8.5.2 builds them',
    source: 'HolyWu/vs-animesr#3',
  },
  {
    versions: /^8\.6\b/,
    gpu: /RTX 20|\bT4\b|GTX 16|Quadro RTX|TITAN RTX/,
    type: 'FP16',
    crash: true,
    says: 'a model aborted in FP16 on an RTX 2080 Ti, and was built in FP32 there and in FP16 on an RTX 3090',
    source: 'NVIDIA/TensorRT#3162',
  },
  {
    versions: /^10\.0\.0\b/,
    type: 'FP16',
    crash: true,
    says: 'builds in FP16 ended without a word in 10.0.0, and were built in FP32',
    source: 'NVIDIA/TensorRT#3800',
  },
];

/** What was reported of such a failure in this version. */
export function knownFailure(
  { version, gpu, lowered = '' }: RuleContext,
  layers: string,
  isCrash = false,
): string | undefined {
  if (version === null) return undefined;
  const row = KNOWN_FAILURES.find(
    (one) =>
      one.versions.test(version) &&
      (one.of?.test(layers) ?? true) &&
      (one.gpu === undefined || (gpu !== null && one.gpu.test(gpu))) &&
      (one.type === undefined || lowered.split(/, | and /).includes(one.type)) &&
      (one.crash ?? false) === isCrash,
  );
  return row && `A known case: ${row.says} (${row.source}).`;
}

/** Values that the texts on a layer without implementation have in common. */
const failing = ({ groups: { layer = '' } = {} }: RegExpExecArray, text: string, context: RuleContext) => ({
  values: { reason: reasonIn(text), known: knownFailure(context, layer) },
});

const REGION =
  'It is compiled as a whole, so it usually needs more memory than other layers: free GPU memory, leave the workspace unlimited (where the GPU itself is full, limit it to 8 GiB or so), and narrow the largest shapes of the profile or the batch.[[ The command allows {lowered}: build once in FP32, and if that passes, keep the nodes of this part in FP32.]] See that the libraries of one TensorRT are loaded (LD_LIBRARY_PATH, PATH). Mark no outputs inside it, remove precision constraints from its nodes, and build without refit.';
const SPLIT =
  'Otherwise reduce the model to the nodes that fail, and rewrite them, replace them by a plugin or split the model there.';
const FOREIGN = `[[{suspect} ]][[{known} ]]A later TensorRT usually has the missing implementation: try one, with a driver for it. ${REGION} ${SPLIT}`;

/** What the builder could not do: memory and implementations. */
export const BUILDER_RULES: readonly DiagnosisRule[] = [
  {
    id: 'name-backslash',
    code: 'no-implementation',
    pattern:
      /No Myelin Error exists[\s\S]{0,400}?Could not find any implementation for node\s+(?<layer>\{ForeignNode\[[^\n\\]*\\[^\n]*\]\})/,
    cause: 'TensorRT cannot compile {layer}: the names of its nodes have backslashes.',
    advice: 'Rename these nodes: TensorRT-RTX builds them as they are, TensorRT 10.6 does not.',
    sure: 'likely',
    source: 'built with TensorRT 10.6 and TensorRT-RTX 1.7.1',
  },
  {
    id: 'region-allocation',
    code: 'out-of-memory',
    pattern:
      /CUDA error 2 for (?<bytes>\d+)-byte allocation(?:[\s\S]*?Could not find any implementation for node (?<layer>\{ForeignNode\[.+?\]\}|[^\s.,)]+))?/,
    named: (m) => ({
      severity: m.groups!['layer'] === undefined ? 'warning' : 'error',
      values: { size: sizeText(Number(m.groups!['bytes'])) },
    }),
    cause: 'The GPU has too little free memory: one buffer of {size} could not be allocated[[ for {layer}]].',
    advice: DEVICE_MEMORY,
    source: 'Myelin; NVIDIA/TensorRT#1686',
  },
  {
    id: 'no-tactic-fits',
    code: 'out-of-memory',
    pattern:
      /(?:insuff?icient memory on requested size of (?<bytes>\d{1,20})|allocator error allocating (?<bytes2>\d+)-byte buffer)[\s\S]*?Could not find any implementation for node\s+(?<layer>\{ForeignNode\[.+?\]\}|[^\s.,)]+)/,
    named: (m) => ({
      severity: 'error',
      values: { size: sizeText(Number(m.groups!['bytes'] ?? m.groups!['bytes2'])) },
    }),
    cause: 'No tactic of {layer} fits into memory: the last one needs {size}.',
    advice: {
      trtexec: `${WORKSPACE_ADVICE.trtexec} Before TensorRT 8.4 the default is 16 MiB. If it is not limited, the GPU has less free memory: lower the batch or the largest shape (--maxShapes), build in FP16, or use a GPU with more memory.`,
      onnxruntime: `Increase trt_max_workspace_size if it is below that. Otherwise lower the maximum of trt_profile_max_shapes, or build on a GPU with more memory.`,
      ultralytics: 'Lower batch or imgsz, use half=True, leave workspace= unset, or build on a GPU with more memory.',
      deepstream:
        'Increase workspace-size of nvinfer if it is below that. Otherwise lower batch-size or the input size.',
      other:
        'If the workspace is limited to less, raise the limit or remove it. Otherwise the GPU has less free memory: close other programs that use it, lower the batch or the largest shape of the optimization profile, build in FP16, split the model there, or build on a GPU with more memory.',
    },
    sure: 'likely',
    source: 'NVIDIA/TensorRT#2035, #4360',
  },
  {
    id: 'no-workspace',
    code: 'workspace-too-small',
    pattern: /(?:implementation for node (?<layer>.+?) )?due to insufficient workspace/,
    cause: 'No tactic[[ of {layer}]] fits into the workspace.',
    advice: WORKSPACE_ADVICE,
    after: ['out-of-memory'],
    source: 'captures of TensorRT 8.6',
  },
  {
    id: 'device-memory-of-tactic',
    code: 'out-of-memory',
    pattern: /Tactic Device request: (?<want>\d+) ?MB Available: (?<have>\d+) ?MB/,
    severity: 'warning',
    once: true,
    cause:
      'Tactics were skipped because the GPU has too little free memory ({want} MiB requested, {have} MiB available).',
    advice: TACTIC_MEMORY,
    source: 'ultralytics/yolov5#12248, ultralytics/ultralytics#14751',
  },
  {
    // With this advice of TensorRT's own the number counts MiB where it is small: 8.x rounds the request before it prints it.
    id: 'device-memory-requested',
    code: 'out-of-memory',
    pattern: /insuff?icient memory on requested size of (?<bytes>\d{1,20})[^\n]*?\s{0,20}Try decreasing the workspace/,
    severity: 'warning',
    named: (m) => ({ values: { size: mebibytes(m.groups!['bytes']!) } }),
    cause: 'Tactics were skipped because the GPU has too little free memory ({size} requested).',
    advice: TACTIC_MEMORY,
    source: 'ultralytics/yolov5#12248, NVIDIA/TensorRT#2643',
  },
  {
    id: 'workspace-of-tactic',
    code: 'workspace-too-small',
    pattern: /insuff?icient memory on requested size of (?<bytes>\d+)|do not have sufficient workspace memory/,
    severity: 'warning',
    named: (m) => ({
      values: { size: m.groups!['bytes'] === undefined ? undefined : sizeText(Number(m.groups!['bytes'])) },
    }),
    cause: 'Tactics were skipped because the workspace is too small[[ ({size} requested)]].',
    advice: WORKSPACE_ADVICE,
    after: ['out-of-memory'],
    source: 'TensorRT 5 to 8; captures',
  },
  {
    id: 'allocation-failed',
    code: 'out-of-memory',
    pattern:
      /Requested (?:amount of (?<where>GPU |host )?memory \((?<bytes>\d+) bytes\)|size was (?<bytes2>\d+) bytes)/,
    named: (m) => ({
      severity: 'error',
      values: {
        size: sizeText(Number(m.groups!['bytes'] ?? m.groups!['bytes2'])),
        where: m.groups!['where']?.trim() === 'host' ? 'the host' : 'the GPU',
      },
    }),
    cause: 'Out of memory: one buffer of {size} could not be allocated on {where}.',
    advice: DEVICE_MEMORY,
    after: ['runtime-failed'],
    source: 'NVIDIA-AI-IOT/torch2trt#661, NVIDIA/TensorRT#2643, ComfyUI-Upscaler-Tensorrt#49',
  },
  {
    id: 'host-memory',
    anywhere: true,
    code: 'out-of-memory',
    pattern: /std::bad_alloc|\bbad_alloc\b|MemoryError|Cannot allocate memory|DefaultCPUAllocator: not enough memory/,
    cause: 'The host ran out of memory.',
    advice:
      'Close other programs, add swap, or build on a machine with more memory. Models with external weights need about three times their size; a lower builder optimization level needs less.',
    after: ['library-missing'],
    source: 'glibc, Python',
  },
  {
    id: 'out-of-memory',
    code: 'out-of-memory',
    pattern: cudaError(
      '2',
      /out of memory(?!: Kill)|OutOfMemory|(?<!\btest_\w{0,60}|CNMEM_STATUS_)OUT_OF_MEMORY(?!\w*_test)|cudaErrorMemoryAllocation|CUDNN_STATUS_ALLOC_FAILED|CUBLAS_STATUS_ALLOC_FAILED|memory .*could not be allocated|GPU memory allocation failed|Allocation failed during deserialization|does not meet the minimum memory requirements|NvMapMem\w+:? [^\n]*\berror 12\b/i,
    ),
    cause: 'The GPU ran out of memory while {phase}.',
    advice: DEVICE_MEMORY,
    source: 'CUDA; NVIDIA/TensorRT#2643',
  },
  {
    id: 'memory-limit-too-large',
    code: 'bad-flag-value',
    pattern: /setMemoryPoolLimit::\d+, condition: poolSize <= \w+|poolSize <= (?:deviceMemory|mMaxPoolSize\w*)/,
    cause: 'The limit of a memory pool (workspace) is larger than the memory of the GPU.',
    advice: {
      trtexec: 'Lower --memPoolSize=workspace:MiB, or leave it out: by default TensorRT may use all of the memory.',
      other: 'Lower the limit (bytes, not MiB), or leave it out: by default TensorRT may use all of the memory.',
    },
    source: 'TensorRT builderConfig.cpp',
  },
  {
    id: 'output-inside-region',
    code: 'no-implementation',
    pattern: /Formal output tensor "(?<tensor>[^"\n]+)" is also a data tensor/,
    named: (_, text) => ({ severity: text.includes('Could not find any implementation') ? 'error' : 'warning' }),
    cause:
      'An output is marked inside a region that TensorRT compiles as a whole, where this version cannot give it: {tensor}.',
    advice:
      'Mark fewer outputs (not --trt-outputs mark all): only those of the node that is looked for. A later TensorRT (8.5) takes them, as does a build in FP32.',
    sure: 'likely',
    source: 'NVIDIA/TensorRT#2189',
  },
  {
    // A condition of the compiler's own source, which no amount of memory changes.
    id: 'no-implementation-foreign-check',
    code: 'no-implementation',
    pattern:
      /(?:(?:MyelinCheckException: |\b)(?<file>[\w-]+\.(?:cpp|h|hpp)):\d+: D?CHECK\((?<check>[^\n]{0,120}?)\) failed(?![^\n]*(?:memory|[aA]lloc))|\[(?<file2>[\w-]+\.(?:cpp|h|hpp)):\d+: \w*[mM]yelin\w*\] (?<check2>Called with unknown [^\n]{1,60}))[\s\S]*?Could not find any implementation for node\s+(?<layer>\{ForeignNode\[.+?\]\})/,
    named: ({ groups: { file, file2, check, check2 } = {} }) => ({
      values: { what: `${file ?? file2}: ${check2 ?? `CHECK(${check})`}` },
    }),
    cause:
      "TensorRT's compiler[[ ({version})]] fails at a check of its own ({what}) for {layer}: it is a bug of this version with an operation there, and not the memory.",
    advice:
      'Use a later TensorRT (or the one before), as such errors belong to a release. Where this one must stay, change what is in that region: fold its constants (`polygraphy surgeon sanitize --fold-constants`), give its nodes another type (Cast of BOOL and INT64 to INT32 or FP32), write the operation otherwise (an Attention as MatMul, Softmax and MatMul), take it out of an If or Loop, or split the model there. Report it to NVIDIA with the part of the model that fails.',
    after: ['out-of-memory', 'type-mismatch', 'library-mismatch', 'library-missing', 'gpu-unsupported'],
    sure: 'likely',
    source: 'NVIDIA/TensorRT#3411, #4511, #4739',
  },
  {
    id: 'no-implementation-foreign',
    code: 'no-implementation',
    pattern: /Could not find any implementation for node\s+(?<layer>\{ForeignNode\[.+?\]\})/,
    named: failing,
    cause:
      'TensorRT[[ {version}]] found no implementation[[ on {gpu}]] for {layer}, a region that it compiles as a whole[[: {reason}]]. Where the log says no more, that is usually an operation that this version cannot compile, or too little GPU memory.',
    advice: FOREIGN,
    sure: 'likely',
    after: ['out-of-memory', 'type-mismatch', 'library-mismatch', 'library-missing', 'gpu-unsupported'],
    source:
      'captures of TensorRT 8.6; open-mmlab/mmdeploy#2632, NVIDIA/TensorRT#4360, #4324, #4673; zhiqwang/yolort#385',
  },
  {
    id: 'no-implementation-quantize',
    code: 'no-implementation',
    pattern:
      /Could not find any implementation for node (?!\{)(?<layer>[^\s,]*(?:[qQ]uantizer|QuantizeLinear|quantize_)[^\n]*?)\.?\)?\.?\s{0,20}(?:$|\n)/,
    named: (_, text) => ({ values: { reason: reasonIn(text) } }),
    cause:
      'TensorRT found no implementation for {layer}, which quantizes[[: {reason}]]. Such a node often has a scale per channel where this version takes one per tensor, or a zero point that is not 0.',
    advice:
      '[[{suspect} ]]Quantize activations per tensor and symmetrically, only weights per output channel (SmoothQuant and its like scale activations per channel, before a MatMul only), and place Q/DQ nodes before Conv, MatMul and Gemm rather than before pooling. Allow FP16 next to INT8, or use a later TensorRT (10 takes more).',
    after: ['out-of-memory', 'library-mismatch', 'library-missing', 'gpu-unsupported', 'runtime-failed'],
    sure: 'likely',
    source: 'NVIDIA/TensorRT#4008; TensorRT documentation, explicit quantization',
  },
  {
    id: 'no-implementation-int8',
    code: 'no-implementation',
    pattern:
      /Could not find any implementation for node (?!\{)(?<layer>[^\n]*(?:[qQ]uantizer|QuantizeLinear|quantize_)[^\n]* \+ [^\n]*?)\.?\)?\.?\s{0,20}(?:$|\n)/,
    named: (_, text) => ({ values: { reason: reasonIn(text) } }),
    cause:
      'TensorRT found no INT8 implementation for {layer}, which has quantized weights[[: {reason}]]. Most often this version or GPU has no INT8 kernel for its form: dilation, groups, few channels, or what is fused to it.',
    advice:
      '[[{suspect} ]]Leave this node unquantized (take its Q/DQ nodes away, or disable its quantizers in the quantization tool) and allow FP16 next to INT8, or use a later TensorRT. In a verbose log, skipped tactics above this line say why each one failed.',
    after: [
      'out-of-memory',
      'workspace-too-small',
      'library-mismatch',
      'library-missing',
      'gpu-unsupported',
      'runtime-failed',
    ],
    sure: 'likely',
    source: 'NVIDIA/TensorRT#3813, #1461',
  },
  {
    id: 'no-implementation',
    code: 'no-implementation',
    // A brace that is open where another line follows: a terminal broke the name.
    pattern: /Could not find any implementation for node (?!\{[^}\n]*\n)(?<layer>.+?)\.?\)?\.?\s{0,20}(?:$|\n)/,
    named: failing,
    cause: 'TensorRT[[ {version}]] found no implementation[[ on {gpu}]] for {layer}[[: {reason}]].',
    advice:
      '[[{suspect} ]][[{known} ]]Free memory on the GPU and increase the workspace first.[[ The command allows {lowered}: build once without that, and if it passes, keep this node in FP32.]] Allow another precision for it (FP16 together with INT8, so that a layer may leave INT8), use a later TensorRT, or replace the operator; with a DLA build for the GPU. Errors and skipped tactics above this line in a verbose log say why each one failed.',
    after: [
      'no-implementation',
      'out-of-memory',
      'workspace-too-small',
      'type-mismatch',
      'library-mismatch',
      'library-missing',
      'gpu-unsupported',
      'runtime-failed',
    ],
    source:
      'captures; ComfyUI-Upscaler-Tensorrt#36, dusty-nv/jetson-inference#1499, NVIDIA/TensorRT#1505, #2681, NVIDIA/TensorRT-Incubator#694',
  },
  {
    id: 'no-formats',
    code: 'no-implementation',
    pattern:
      /candidate(?:Requirements|Choices)\.empty\(\)(?: failed| && "no supported formats)(?:\. [nN]o supported formats for (?<layer>[^\s)]+))?|Assertion Error in getSupportedFormats: 0 \(!formats\.empty\(\)/,
    cause: 'TensorRT found no data type and memory format in which [[{layer} of ]]the network can run.',
    advice:
      'Use a later TensorRT (8.6 solved it for reshapes of computed shapes), or fold constants and fix the input shapes. Where INT8 is on, build without it to see whether that is the cause. Where the program sets types of layers (layer.precision, set_output_type) with OBEY_PRECISION_CONSTRAINTS, remove those that the layer does not compute in. For a plugin check its supportsFormatCombination: it must accept one combination for all of its inputs, also with INT32.',
    sure: 'likely',
    source: 'NVIDIA/TensorRT#1315, #1337, #2326, #2751, #2966, #3107, #3688; ELS-RD/transformer-deploy#155',
  },
  {
    id: 'myelin-check',
    code: 'internal',
    pattern: /(?:^|(?<!:)\s|["'`“‘#])(?<file>\w+\.[ch]pp):\d+: D?CHECK\((?<claim>[^\n]*)\) failed/,
    severity: 'warning',
    named: (_, __, context) => ({
      severity: 'warning',
      values: { known: knownFailure(context, context.phase, true) },
    }),
    cause:
      "TensorRT's compiler (Myelin)[[ of {version}]] stopped at a check of its own in {file}: a bug of this version that a part of the network runs into.",
    advice:
      'Nothing has to be done where the build passes. [[{known} ]]Otherwise use a later TensorRT; where that is not possible,[[ leave out {lowered},]] narrow the range of the optimization profile (one shape first), build with another builder optimization level, or split the model at that part.',
    sure: 'likely',
    source: 'NVIDIA/TensorRT#2616, #3411, #3930, #3162',
  },
  {
    id: 'myelin-unknown',
    code: 'no-implementation',
    pattern:
      /(?<!deserializeFromBuffer[^\n]{0,60})Myelin error from unknown graph|No Myelin Error exists|Myelin Error in \w+: 0 \((?![^\n]*loop body)/,
    severity: 'error',
    cause:
      "TensorRT's compiler (Myelin) could not compile a part of the network, most often for too little GPU memory.",
    advice:
      'Free GPU memory or lower the largest shapes of the profile (batch, height, width, tokens). If that changes nothing, use a later TensorRT, or split the model at that part; loops (LSTM, GRU) can be unrolled when exporting.',
    after: ['internal', 'out-of-memory', 'library-mismatch', 'library-missing', 'gpu-unsupported'],
    sure: 'possible',
    source: 'NVIDIA/TensorRT#1466; NVIDIA/Stable-Diffusion-WebUI-TensorRT#305',
  },
  {
    id: 'no-kernel-for-capability',
    code: 'no-implementation',
    pattern: /Cannot compile operation '(?<layer>.+?)'(?: for (?<target>[^:]+))?: (?<why>[^.\n]+)/,
    cause: 'TensorRT has no kernel for {layer}[[ on {target}]]: {why}.',
    advice: 'Build for another compute capability, or give the node a precision that this GPU can compute.',
    source: 'captures of TensorRT-RTX 1.7.1',
  },
  {
    id: 'no-runners',
    code: 'no-implementation',
    pattern:
      /(?:layer |node |(?<!\S))(?<layer>\S+?)?:? ?has no runners that implement it|[Nn]o tactics to implement operation/,
    named: (m) => ({ values: { what: m.groups!['layer'] ?? 'this node' } }),
    cause: 'TensorRT can parse {what} but has no kernel for it on this target.',
    advice: {
      rtx: 'Replace the operator, or leave it outside the engine (NonMaxSuppression runs after it). The full TensorRT has more kernels.',
      other: 'Replace the operator, allow another precision, or use a newer TensorRT.',
    },
    source: 'built with TensorRT-RTX 1.7.1; NVIDIA/TensorRT#2161',
  },
  {
    id: 'plugin-initialize',
    code: 'runtime-failed',
    pattern: /Custom layer (?<layer>.+?) returned non-zero initialization/,
    severity: 'error',
    named: (m) => ({ layer: m.groups!['layer']!, values: { layer: m.groups!['layer'] } }),
    cause: 'The plugin {layer} failed to start: its initialize() returned an error.',
    advice: PLUGIN_FAILED,
    after: ['out-of-memory', 'gpu-unsupported', 'library-missing', 'library-mismatch'],
    source: 'TensorRT documentation, error messages',
  },
  {
    id: 'tactic-exception',
    code: 'internal',
    pattern: /Skipping tactic ?(?<tactic>\S+) due to exception (?<why>[^\n]*)/,
    severity: 'warning',
    named: (m) => ({ values: { why: causeText(m.groups!['why']!).replace(/\.$/, '') || m.groups!['tactic']! } }),
    cause: 'A tactic was skipped: {why}.',
    advice:
      'Nothing has to be done as long as the build passes. If it fails for that, the kernel does not run on this GPU or lacks memory: free GPU memory, allow another precision (BF16 needs Ampere or later), leave out the plugin that it belongs to, or use a newer TensorRT.',
    after: ['out-of-memory', 'no-implementation', 'library-mismatch'],
    source: 'NVIDIA/TensorRT#4845',
  },
];

/** Why tactics were skipped before TensorRT gave up. */
function reasonIn(text: string): string | undefined {
  const reason =
    /due to (?:exception\s+(?:\[[^\]]*\] )?|Myelin error: )([^\n]+?)[.:]?(?: In \w+ at \/\S+)?(?:\n|$)/.exec(text)?.[1];
  return reason && reason !== 'No Myelin Error exists' ? reason : undefined;
}

const mebibytes = (number: string): string => (Number(number) < 1 << 20 ? `${number} MiB` : sizeText(Number(number)));
