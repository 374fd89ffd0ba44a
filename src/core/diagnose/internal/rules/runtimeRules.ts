import { type DiagnosisRule } from '../rule.ts';

const ONE_CONTEXT =
  'Make the engine, its context, the stream and the buffers in the thread that runs them, after cudaSetDevice of that GPU, and use one CUDA context for all: PyCUDA makes its own next to that of PyTorch (use the stream and the tensors of PyTorch, or `pycuda.autoprimaryctx`).';

const NEW_DRIVER =
  'Compare the CUDA version that nvidia-smi shows with that of this TensorRT (its package name, or the support matrix): the driver must be as new. On a Jetson use the TensorRT of its JetPack.';
const KERNEL =
  'A kernel of TensorRT, a plugin or the program failed before this line: run once under `compute-sanitizer`, and check the sizes of buffers and that no other thread uses the context.';

const PLUGIN =
  'It is in a plugin: compile the plugin for this GPU against the CUDA and TensorRT that are loaded (the driver must be as new), and give it the weights and the model that its version is for.';

/** How programs write the number of an error of CUDA. */
const CUDA_NUMBER = String.raw`(?:CUDA initialization failure with error:? |\b(?:CUDA|[cC]uda) (?:[eE]rror|ERROR|failure)(?: in (?:file '[^'\n]{1,200}' line \d{1,9}|[~\w:]{1,200}))?(?:: ?| )|Myelin[^\n]{0,200}?(?:failed \(|Error in \w+: ))`;

/** The pattern of an error of CUDA, by its numbers and its words. */
export const cudaError = (numbers: string, words: RegExp): RegExp =>
  new RegExp(`${words.source}|${CUDA_NUMBER}(?:${numbers})\\b(?!\\.\\d| (?:for|allocating) )`, words.flags);

const NEW_START = 'Restart the program, then the machine, and install the driver again if it comes back.';
const MPS =
  'Restart the control daemon of MPS (nvidia-cuda-mps-control), or run without it: unset CUDA_MPS_PIPE_DIRECTORY.';

/**
 * Errors of CUDA, cuDNN and cuBLAS by number, name or text: what they mean, and the step that fits. The numbers are those
 * of cudaError_t (driver_types.h of CUDA 12.9; CUresult has the same ones), those below 100 also of CUDA before 10.1.
 */
const CUDA_ERRORS: readonly (readonly [RegExp, string, string?])[] = [
  [
    /^error (?:1|11)\b|^\D*invalid (?:argument|value)/i,
    'an argument is invalid',
    `Where the first run passes and a later one fails, the script changes or frees its bindings or buffers in between: print them before each run. ${ONE_CONTEXT}`,
  ],
  [/^error 2\b/, 'the GPU is out of memory'],
  [
    /^error 3\b|initialization error/,
    'CUDA is not initialized',
    'Make the CUDA context in the process that uses it: a forked process cannot use that of its parent (start it with spawn).',
  ],
  [
    /^error 4\b|driver shutting down/,
    'CUDA was shut down before, or, with CUDA 10.0 and older, a kernel failed',
    'Destroy the objects of TensorRT before the program ends.',
  ],
  [
    /^error 9\b|invalid configuration argument/,
    'a kernel was started with an invalid size',
    'An empty tensor or too large a shape leads to that: check the shapes that are given, the batch above all.',
  ],
  [/^error (?:35|36|222)\b/, 'the driver is older than the CUDA of this TensorRT', NEW_DRIVER],
  [
    /^error 49\b|incompatible driver context/,
    'the current CUDA context is not one that the CUDA runtime can use',
    `It has to be the primary context of the GPU. ${ONE_CONTEXT}`,
  ],
  [
    /^error 101\b|invalid device ordinal/,
    'there is no GPU of that number',
    'Check --device, CUDA_VISIBLE_DEVICES and the number in cudaSetDevice.',
  ],
  [
    /^error 102\b|Grid license/i,
    'the virtual GPU has no license',
    'Look at the license in `nvidia-smi -q`, and let the machine reach the license server of its vGPU.',
  ],
  [/^error (?:103|127)\b|integrity checks failed|startup failure/, 'CUDA could not start', NEW_START],
  [/^error 201\b|invalid device context/, 'no CUDA context is current', ONE_CONTEXT],
  [
    /^error 214\b|ECC/,
    'the memory of the GPU has errors',
    'Restart the GPU or the machine; if it comes again, the GPU is defective (nvidia-smi -q -d ECC).',
  ],
  [
    /^error (?:220|226)\b|NVLink error|contained by the GPU|invalid access of peer GPU memory over nvlink/i,
    'the hardware reported an error of the GPU or of NVLink',
    'Look for an Xid in dmesg, and at `nvidia-smi nvlink --status`; restart the machine.',
  ],
  [
    /^error 215\b|limit is not supported/,
    'the GPU does not have the limit that the program sets',
    'Leave out that call of cudaDeviceSetLimit.',
  ],
  [
    /^error 216\b|exclusive-thread device already in use/,
    'another thread or process has the GPU for itself',
    'End that program, or set the compute mode to Default (`nvidia-smi -c 0`).',
  ],
  [
    /^error (?:217|711)\b|peer access is not supported|peer mapping resources exhausted/,
    'the GPUs cannot access the memory of each other',
    'Run on one GPU, or have data copied over the host (NCCL_P2P_DISABLE=1; TensorRT-LLM: use_custom_all_reduce off).',
  ],
  [
    /^error (?:704|705)\b|peer access (?:is already enabled|has not been enabled)/,
    'the program enables or disables access between GPUs twice',
    'Call cudaDeviceEnablePeerAccess once for each pair, and go on where it says so.',
  ],
  [
    /^error 218\b|PTX JIT compilation failed/,
    'the driver could not compile the PTX of a kernel',
    'Compile the plugin or program for the compute capability of this GPU (nvcc -gencode arch=compute_XX,code=sm_XX), and update the driver.',
  ],
  [
    /^error 219\b|invalid OpenGL or DirectX context/,
    'the context of OpenGL or DirectX is not valid',
    'Make it current in the thread that calls CUDA, on the same GPU.',
  ],
  [
    /^error 221\b|PTX JIT compiler library not found/,
    'the compiler of the driver for PTX (libnvidia-ptxjitcompiler) was not found',
    'Install the whole driver; a container needs NVIDIA_DRIVER_CAPABILITIES=compute,utility. What is compiled for this GPU does not need it.',
  ],
  [
    /^error 223\b|PTX JIT compilation was disabled/,
    'the driver may not compile PTX, and the program has no code for this GPU',
    'Unset CUDA_DISABLE_PTX_JIT, or compile for the compute capability of this GPU.',
  ],
  [/^error 224\b|execution affinity/, 'the GPU cannot be divided as the program asks (execution affinity)', MPS],
  [
    /^error (?:225|811|812)\b|call to cudaDeviceSynchronize|CUDA Dynamic Parallelism/i,
    'kernels that start or wait for kernels (dynamic parallelism) are not supported here',
    'Compile the plugin or program that has them with the CUDA that is installed, for this GPU, and run it without MPS.',
  ],
  [
    /^error (?:301|302|303)\b|^file not found|shared object (?:symbol not found|initialization failed)/,
    'the driver could not load a file or one of its libraries',
    'Install the driver again, whole; keep its libraries out of the container and of LD_LIBRARY_PATH.',
  ],
  [
    /^error 304\b|OS call failed/,
    'a call of the operating system failed',
    'dmesg names it. Usual ones: limits of the process (ulimit -l, -n, -v), no rights on /dev/nvidia*, a container or WSL without parts of the driver.',
  ],
  [
    /^error 401\b|performed in the present state/,
    'an object of CUDA is not in a state for this call',
    'Look at the order of the calls: events recorded, graphs captured and instantiated before they are used.',
  ],
  [
    /^error 600\b|device not ready/,
    'the GPU has not finished yet, which is no failure',
    'Wait for the stream (cudaStreamSynchronize) before its results are read.',
  ],
  [
    /^error (?:7|701)\b|too many resources/,
    'a kernel needs more registers or threads than the GPU has',
    'Start it with fewer threads in each block (512 or 256 in place of 1024) and compile it for this GPU: a Jetson has fewer registers than a PC.',
  ],
  [
    /^error (?:6|702)\b|launch timed out/,
    'a kernel ran longer than the system allows',
    'On Windows raise the limit (TdrDelay) or use a GPU without a display; elsewhere lower the batch or the shapes.',
  ],
  [
    /^error 708\b|device is active in this process/,
    'the program sets a property of the GPU after it began to use it',
    'Call cudaSetDeviceFlags and its like before anything else of CUDA, in one place.',
  ],
  [
    /^error (?:59|710)\b|device-side assert/,
    'a kernel checked a value and refused it',
    'Most often an index is out of range (labels, tokens, Gather): run with CUDA_LAUNCH_BLOCKING=1.',
  ],
  [
    /^error (?:712|713)\b|already mapped|registered memory region/,
    'memory of the host is registered twice, or released without being registered',
    'Pair each cudaHostRegister with one cudaHostUnregister of the same address.',
  ],
  [
    /^error 714\b|hardware stack error/,
    'a kernel ran out of its stack, or overwrote it',
    'Raise the limit (cudaDeviceSetLimit with cudaLimitStackSize), and run once under `compute-sanitizer`.',
  ],
  [/^error 715\b|illegal instruction/, 'a kernel has an instruction that the GPU does not know', KERNEL],
  [
    /^error 717\b|operation not supported on global\/shared address space/,
    'a kernel used an address that is not one of the memory which it must be in',
    'Most often a plugin is given a pointer of the host, or weights that were not copied to the GPU: `compute-sanitizer` shows the kernel. A plugin that a later TensorRT has as an operator of its own (ScatterND from 8.2 on) is not needed there.',
  ],
  [/^error 718\b|invalid program counter/, 'the program counter of a kernel is invalid', KERNEL],
  [/^error 719\b|launch failure|EXECUTION_FAILED/i, 'a kernel failed', KERNEL],
  [
    /^error 720\b|too many blocks in cooperative launch/,
    'a kernel needs all of its blocks at once, and the GPU has no room for so many',
    'Compile it for this GPU; under MPS or MIG the process has only a part of the GPU.',
  ],
  [/^error 721\b|TMEM|tensor memory/i, 'a kernel ended without giving back its tensor memory', KERNEL],
  [
    /^error 800\b|operation not permitted$/,
    'the process does not have the right to do this',
    'Usually a container without the rights that it needs (IPC, --cap-add, /dev/nvidia*), MPS of another user, or counters of the GPU that only an administrator may read.',
  ],
  [
    /^error 801\b|operation not supported$/,
    'this GPU, driver or system does not support the operation',
    'Usually WSL, a virtual GPU, MIG or a Jetson lacks what the program asks for (CUDA IPC, memory pools, peer access, managed memory): switch that off, or update the driver.',
  ],
  [
    /^error 802\b|system not yet initialized/,
    'the GPU system is not ready',
    'Start the fabric manager (nvidia-fabricmanager) of the version of the driver.',
  ],
  [/^error 8(?:0[5-9]|10)\b|\bMPS\b|support device connections/, 'MPS, which shares the GPU, failed', MPS],
  [
    /^error 90[0-8]\b|captur/i,
    'a call is not allowed while a CUDA graph is captured',
    'Run the engine once before the capture, and keep allocations, synchronizations and other streams out of it; loops and sizes that depend on data cannot be captured.',
  ],
  [/^error 909\b|wait operation timed out/, 'CUDA waited too long for the GPU', NEW_START],
  [
    /^error 910\b|graph update was not performed/,
    'a CUDA graph was updated with what it cannot take',
    'Instantiate the graph again: that is needed after every change of shapes.',
  ],
  [
    /^error 911\b|external entity outside of CUDA/,
    'a device outside of CUDA, which data are shared with, reported an error',
    'Look at its own messages (camera, video, DLA, graphics).',
  ],
  [
    /^error 912\b|cluster misconfiguration/,
    'a kernel was started with clusters that the GPU does not have',
    'Compile the plugin or program for the compute capability of this GPU.',
  ],
  [
    /^error (?:913|914|915)\b|function handle is not loaded|resource (?:type|configuration) invalid|invalid resource (?:type|configuration)/i,
    'the program gives CUDA an object that does not fit the call',
    'Compile the program with the CUDA that is installed.',
  ],
  [
    /^error (?:30|999)\b|unknown error/,
    'the driver does not know why',
    'Restart the program, then the machine: after a fault or a sleep the driver may stay in that state (dmesg shows an Xid).',
  ],
  [/MAPPING_ERROR/, 'the library cannot access memory of this GPU', ONE_CONTEXT],
  [
    /NOT_INITIALIZED/,
    'the library cannot be initialized',
    'Check its version, the path of the loader and the free GPU memory.',
  ],
  [/ARCH_MISMATCH/, 'the library does not support this GPU', 'Use versions of CUDA, cuDNN and TensorRT that do.'],
  [
    /VERSION_MISMATCH/,
    'parts of the library are of different versions',
    'Install one version of cuDNN and remove the others from the path of the loader.',
  ],
  [
    /BAD_PARAM|INVALID_VALUE|NOT_SUPPORTED/,
    'the library does not take what it was asked for',
    'Where the engine runs in several threads, give each an execution context of its own. Otherwise use the version of cuDNN and cuBLAS that this TensorRT was built with, and shapes inside the profile, or a batch that is not larger than the maximum of the engine.',
  ],
];

/** What the numbers of cuDNN (before 9) and cuBLAS mean. */
const CUDNN: Readonly<Record<number, string>> = {
  1: 'NOT_INITIALIZED',
  2: 'ALLOC_FAILED',
  3: 'BAD_PARAM',
  4: 'INTERNAL_ERROR',
  5: 'INVALID_VALUE',
  6: 'ARCH_MISMATCH',
  7: 'MAPPING_ERROR',
  8: 'EXECUTION_FAILED',
  9: 'NOT_SUPPORTED',
};
const CUBLAS: Readonly<Record<number, string>> = {
  1: 'NOT_INITIALIZED',
  3: 'ALLOC_FAILED',
  7: 'INVALID_VALUE',
  8: 'ARCH_MISMATCH',
  11: 'MAPPING_ERROR',
  13: 'EXECUTION_FAILED',
  14: 'INTERNAL_ERROR',
  15: 'NOT_SUPPORTED',
};

/** What to look at where the enqueue() of a plugin returns an error. */
export const PLUGIN_FAILED =
  'Check that the node gives the plugin the inputs, attributes and types that it is for (a plugin that is used under the name of another operator gets those of that operator). Compile the plugin library for the compute capability of this GPU and against this TensorRT and CUDA, and give it the model and the shapes that it is for. For EfficientNMS (models exported end to end) use TensorRT 8.4 or later, or export without NMS. What CUDA said is in its own output; `compute-sanitizer` shows the kernel.';

/** What fails when an engine runs. */
export const RUNTIME_RULES: readonly DiagnosisRule[] = [
  {
    id: 'bindings',
    code: 'runtime-failed',
    pattern:
      /Cannot find binding of given name:? ?(?<name5>\S+)?|failed to find requested (?:in|out)put layer (?<name6>\S+)|[Ii]nvalid (?:tensor|binding) (?:names?|index)\b:? ?'?(?<name>(?!found\b)[\w./:-]+)?|given invalid tensor name:? ?(?<name2>\S+)?|Tensor name \S+ (?:is )?not found|bindings? (?:index )?\d* ?(?:is|was) (?:null|not set)|(?:Address|address) is not set for (?:input |output )?tensor (?<name3>\S+?)(?=[.,)]{0,3}(?:\s|$))|Neither address or allocator is set for (?:input|output) tensor (?<name4>\S+?)[.\s]|Tensor "(?<name7>[^"]+)" is bound to nullptr|bindings\[\w+\] (?:\|\| nullBindingOK|!= nullptr)|condition: bindings != nullptr|profileObliviousBindings\.at\(\w+\)(?![^\n]*(?:is not set for|Neither address))|does not match (?:any )?(?:input|output) (?:tensor|binding)/,
    named: (m) => {
      const name = Object.values(m.groups!)
        .find((one) => one !== undefined)
        ?.replace(/[).]+$/, '');
      const of = name === undefined ? '' : ` (${name})`;
      return {
        values: {
          what: /Neither address|not set|null/.test(m[0])
            ? `The engine runs without a buffer for one of its tensors${of}`
            : `The program binds a tensor${of} that the engine does not have, or leaves one unbound`,
        },
      };
    },
    cause: '{what}.',
    advice: {
      onnxruntime:
        "The provider sets these addresses itself; what it forgets is an output without elements, or one whose size depends on the data (of NonZero, NonMaxSuppression, TopK and the like). Update ONNX Runtime, leave those operators to CUDA (trt_op_types_to_exclude='NonZero,NonMaxSuppression,RoiAlign'), or have the model give at least one element.",
      other:
        'Set the address of every input and output (`context.set_tensor_address`) by the names of the engine, which get_tensor_name() lists. The array of bindings that enqueueV2 and execute_v2 take needs a buffer for each of them in the order of the engine, also for outputs that the program does not use. Where the program is that of the model and names them so, the engine was built from another version or export of it: delete the engine and build it again from the model of this release. An output whose size depends on the data (of NonZero, NMS) needs an allocator in place of an address (`context.set_output_allocator`).',
    },
    after: ['calibration-failed'],
    source: 'TensorRT executionContext.cpp; NVIDIA/TensorRT#1727, #3874, #4057, #4224, microsoft/onnxruntime#26170',
  },
  {
    id: 'myelin-memory-access',
    code: 'runtime-failed',
    pattern:
      /Myelin[^\n]*(?:[eE]rror ?|failed|Start\w*:) ?\(?(?:700|716)\b|Error Code 1: Myelin[^\n]*(?:illegal memory access|misaligned address)/,
    cause:
      'A kernel that TensorRT made for a region which it compiles as a whole (Myelin) read or wrote outside its memory, or at an address that is not aligned; what failed after it is a consequence.',
    advice:
      'While the engine runs, first check that each buffer is on the GPU and large enough for the shapes that were set, that indices (Gather, token ids) are within range, and that each thread has a context of its own; `compute-sanitizer` shows the kernel. While it is built, or if all of that is right, it is an error of this version: use a later TensorRT (LSTM failed in 8.4, until 9.0), fix the shapes, or split the model there.',
    after: ['out-of-memory', 'calibration-failed'],
    sure: 'likely',
    source: 'CUDA error 700; NVIDIA/TensorRT#3167',
  },
  {
    id: 'illegal-memory-access',
    code: 'runtime-failed',
    pattern: cudaError(
      '700|716|74|77',
      /an illegal memory access was encountered|cudaErrorIllegalAddress|CUDA_ERROR_ILLEGAL_ADDRESS|misaligned address|Myelin[^\n]*(?:[eE]rror|failed|Start\w*:) ?\(?(?:700|716)\b|Myelin Error in \w+: (?:700|716)\b/,
    ),
    cause:
      'A kernel read or wrote outside its memory, or at an address that is not aligned; what failed after it is a consequence.',
    advice: {
      trtexec:
        'trtexec fills inputs with random numbers: where they are indices, such as token ids, they lie outside of the table that is read. Give real values (--loadInputs=name:file.bin). Otherwise a plugin is the usual cause; run once under `compute-sanitizer` to see which kernel. If it happens while building without plugins, try the next version.',
      other:
        'The usual causes: buffers smaller than the shapes that were set, host pointers in place of device pointers, buffers freed too early, an index out of range in Gather or a plugin, or a context used by two threads. Run once under `compute-sanitizer` to see which kernel; if it happens while building without plugins, try the next version.',
    },
    after: ['out-of-memory', 'calibration-failed'],
    sure: 'likely',
    source: 'CUDA error 700; NVIDIA/TensorRT#1931',
  },
  {
    id: 'invalid-resource-handle',
    code: 'runtime-failed',
    pattern: cudaError('33|400', /invalid resource handle/),
    cause:
      'A stream, buffer or execution context is used in another CUDA context, thread or GPU than the one that it was made in.',
    advice: ONE_CONTEXT,
    after: ['out-of-memory'],
    sure: 'likely',
    source:
      'CUDA error 400 (33 before CUDA 10.1); NVIDIA/TensorRT#720, #925, #1115, #3028, #4191, #4518; jkjung-avt/tensorrt_demos#520',
  },
  {
    id: 'plugin-enqueue',
    code: 'runtime-failed',
    pattern: /plugin\w*Runner\.cpp::execute[^\n]*Assertion status == kSTATUS_SUCCESS failed/,
    cause: 'A plugin failed when it ran: its enqueue() returned an error.',
    advice: PLUGIN_FAILED,
    after: ['out-of-memory', 'gpu-unsupported', 'library-missing', 'library-mismatch'],
    source: 'NVIDIA/TensorRT#1898, NVIDIA-AI-IOT/CUDA-PointPillars#27, Linaom1214/TensorRT-For-YOLO-Series#73, #122',
  },
  {
    id: 'cuda-other-error',
    code: 'runtime-failed',
    pattern:
      /Error Code:? 1: (?:Cuda (?:Runtime|Driver)|Cudnn|Cublas|Cask|Nvrtc)\w* \((?<why>[^)\n]+)\)|Cu(?<library>dnn|blas) Error in \S+: (?:(?<status>\d+)(?! \()|(?:\d+ )?\(?(?<why6>\w+))|(?<why7>CU(?:DNN|BLAS)_STATUS_(?!SUCCESS)\w+)|CUDA initialization failure with error:? (?<number5>\d+)|Myelin[^\n]*?(?:CUDA error |failed \(|Error in \w+: )(?<number6>[1-9]\d*)|(?<why8>Platform \(Cuda\) error)|CUDA error (?<number>\d+) at (?<file1>\S+?\.\w+:\d+)|CUDA runtime error in [^\n]*?: (?<why5>[a-z][\w ]+)|CUDA (?:ERROR|Error): (?<number4>\d+)|Cuda Error in [~\w:]+?: (?<number3>\d+)(?: \((?<why4>[^)\n]+)\))?|CUDA error(?: (?<number2>\d+))?:? (?<why2>[^\n]+)|[Cc]uda failure in file '(?<file2>[^'\n]+)' line \d+: ?(?<number7>\d+)|[Cc]uda failure:? ?(?<why3>[^\n]+)/,
    named: ({ groups: { file1, file2, library, status, ...groups } = {} }) => {
      const file = file1 ?? file2;
      const given = (name: string) =>
        Object.entries(groups).find(([key, value]) => key.startsWith(name) && value !== undefined)?.[1];
      const why = status
        ? `${library === 'dnn' ? 'CUDNN' : 'CUBLAS'}_STATUS_${(library === 'dnn' ? CUDNN : CUBLAS)[Number(status)] ?? status}`
        : given('why')?.trim().replace(/[.:]$/, '');
      const number = given('number') ?? (/^\d+$/.test(why ?? '') ? why : undefined);
      const said = number === undefined ? why : `error ${number}${file === undefined ? '' : ` at ${file}`}`;
      // Numbers have another meaning before CUDA 10.1: words count first.
      const [, means, step] =
        [why, said].map((one) => CUDA_ERRORS.find(([words]) => words.test(one ?? ''))).find(Boolean) ?? [];
      return {
        values: {
          ...(groups['number5'] && { phase: 'it started' }),
          why: means === undefined ? said : `${means} (${said})`,
          step: /\.cu(?::\d+)?$/.test(file ?? '') && (step === undefined || step === ONE_CONTEXT) ? PLUGIN : step,
        },
      };
    },
    cause: 'A CUDA library failed while {phase}: {why}.',
    advice:
      '[[{step} ]]The first CUDA error counts, later ones follow from it. Free GPU memory, check the driver and that one set of CUDA libraries is loaded; a driver reset (Xid in dmesg) or too long a kernel on a GPU with a display ends a build alike.',
    after: [
      'runtime-failed',
      'calibration-failed',
      'out-of-memory',
      'library-mismatch',
      'library-missing',
      'crashed',
      'killed',
    ],
    sure: 'possible',
    source: 'TensorRT error code 1',
  },
  {
    id: 'enqueue-failed',
    code: 'runtime-failed',
    pattern:
      /(?:enqueueV\d|enqueue|execute(?:V2|_v2|_async)|FAILED_EXECUTION)(?![^\n]*Parameter check failed)[^\n]{0,40}(?:fail|error|std::exception)|Error occurred during inference|TensorRT EP execution context enqueue failed/i,
    cause: 'The engine was loaded, but running it failed.',
    advice:
      'The errors before this line say why; a shape outside the profile and unset or too small buffers are the usual causes.',
    after: ['runtime-failed', 'runtime-shape', 'dla-failed', 'out-of-memory', 'internal'],
    sure: 'possible',
    source: 'NVIDIA/TensorRT#3567, #899',
  },
];
