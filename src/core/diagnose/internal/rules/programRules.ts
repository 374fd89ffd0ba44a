import { goneName } from '../../../lint/lintSource.ts';
import { causeText } from '../causeText.ts';
import type { DiagnosisRule } from '../rule.ts';
import { EVERY_CAUSE } from './everyCause.ts';

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
    cause: 'A JSON file that the program reads is empty or damaged ({why}).',
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
    named: (m) => ({ values: { flag: m.groups!['flag'] ?? m.groups!['flag2'] } }),
    cause: 'This program does not support {flag}.',
    advice: 'Check --help: flags depend on the version (TensorRT 11 removed the precision flags).',
    source: 'captures of trtexec and Polygraphy',
  },
  {
    id: 'builder-flag-removed',
    code: 'unknown-flag',
    pattern: /BuilderFlag' has no attribute '(?<flag>\w+)'/,
    cause: 'This TensorRT has no builder flag {flag}.',
    advice: 'TensorRT 11 and TensorRT-RTX have no precision flags. Build a typed copy of the model.',
    source: 'TensorRT 11, TensorRT-RTX',
  },
  {
    id: 'api-removed',
    code: 'unknown-flag',
    pattern:
      /AttributeError: '?(?:tensorrt(?:_bindings)?\.)*(?:tensorrt\.)?(?<class>I?(?:Builder|BuilderConfig|CudaEngine|ExecutionContext|Runtime|NetworkDefinition|Network|OnnxParser)\w*)'? object has no attribute '(?<name>\w+)'|module 'tensorrt\w*' has no attribute '(?<name2>\w+)'/,
    named: (m) => {
      const { class: type, name = m.groups!['name2'] ?? '' } = m.groups!;
      return {
        values: {
          name,
          where: type ?? 'the module tensorrt',
          other: isNew(name) ? 'a later' : 'another',
          instead: replacement('python', name, type),
        },
      };
    },
    cause: '{name} of {where} does not exist in this version of TensorRT: the script is for {other} one.',
    advice: '{instead}',
    source:
      'Python bindings of TensorRT 8.6 to 11; Kiteretsu77/FAST_Anime_VSR#21, NVIDIA/Stable-Diffusion-WebUI-TensorRT#144, #350, NVIDIA/trt-samples-for-hackathon-cn#63',
  },
  {
    id: 'api-removed-cpp',
    code: 'unknown-flag',
    once: true,
    pattern:
      /error: [‘'`"]?class nvinfer1::(?:\w+::)*(?<class>I\w+)[’'`"]? has no member named [‘'`"](?<name>\w+)|error C2039: '(?<name2>\w+)': is not a member of 'nvinfer1::(?:\w+::)*(?<class2>I\w+)'/,
    severity: 'error',
    named: ({ groups: { class: type, name, name2, class2 } = {} }) => ({
      values: {
        name: name ?? name2,
        where: type ?? class2,
        instead: replacement('cpp', name ?? name2 ?? '', type ?? class2),
      },
    }),
    cause: '{where} has no {name} in this version of TensorRT: the program is for another one.',
    advice: '{instead}',
    source:
      'GCC, Clang and MSVC; headers of TensorRT 8.6 to 11; wang-xinyu/tensorrtx#1555, triple-mu/YOLOv8-TensorRT#265',
  },
  {
    id: 'flag-value',
    code: 'bad-flag-value',
    pattern:
      /Invalid DataType (?<type>\S+)|argument (?:--?\S+): (?:invalid|expected)[^\n]*|Invalid value for (?:\S+)|--?\S+: expected [^\n]*|--[\w-]+: .* is (?:not one|none) of /,
    named: (m, text) => ({
      values: {
        what: m.groups!['type'] ? `${m.groups!['type']} is not a data type of this version.` : causeText(text),
      },
    }),
    cause: '{what}',
    advice: 'Correct the value. A comma inside a layer name also splits the list and causes this error.',
    source: 'captures of trtexec and Polygraphy',
  },
  {
    id: 'killed',
    code: 'killed',
    pattern:
      /(?:^|\s)Killed\b|\bkilled\b(?= *(?:python|trtexec|polygraphy|\.\/|$))|oom-kill|OOMKilled|Out of memory: Kill(?:ed)? process|exit(?:ed)?(?: with)? (?:code|status):? ?(?:137|-9)\b|SIGKILL|died with <Signals\.SIGKILL|returned non-zero exit status 137|status=9\/KILL/m,
    once: true,
    cause: 'The program was killed while {phase}, most often by the system because the host memory (RAM) ran out.',
    advice:
      'Check `dmesg` for "Out of memory". Give it more RAM or swap (a container: a higher memory limit; a Jetson: swap and no desktop), build smaller (batch, largest shapes, --builderOptimizationLevel=2), and close other programs.',
    sure: 'likely',
    source: 'Linux; ceccocats/tkDNN#26, NVIDIA/TensorRT-LLM#743',
  },
  {
    id: 'crash-stack-overrun',
    code: 'crashed',
    pattern: /0[xX][cC]0000(?<code>409|374|142|135|139|138|07[bB]|[fF][dD])\b/,
    named: (m) => ({ values: { why: windowsCause(m.groups!['code']!.toLowerCase()) } }),
    cause: 'The program ended with 0xC0000{code} while {phase}: {why}.',
    advice:
      'Put the CUDA, cuDNN and TensorRT libraries of one version first on PATH (a Python wheel brings its own), and install the Visual C++ runtime. A debugger or `procmon` names the library.',
    sure: 'likely',
    source: 'Windows NTSTATUS',
  },
  {
    id: 'crashed',
    code: 'crashed',
    pattern:
      /Segmentation fault|SIGSEGV|0[xX][cC]0000005|\b3221225477\b|-1073741819|exit(?:ed)?(?: with)? (?:code|status):? ?(?:139|-11)\b|Bus error|SIGBUS|Illegal instruction|access violation|died with <Signals\.SIG(?:SEGV|BUS|ILL)/i,
    cause: 'The program crashed (access violation) while {phase}.',
    advice:
      '{usual} Otherwise find the layer: build with --verbose, look at the last layer that was timed, exclude its tactics (--tacticSources), reduce the model to it, try the next version and driver, and report it with the reduced model.',
    after: [
      'library-mismatch',
      'library-missing',
      'gpu-unsupported',
      'out-of-memory',
      'runtime-failed',
      'plugin-missing',
      'model-unreadable',
      'engine-invalid',
      'engine-other-version',
      'runtime-shape',
    ],
    sure: 'possible',
    source: 'operating systems; vs-mlrt, NVIDIA/TensorRT#2715',
  },
  {
    id: 'bindings-count',
    code: 'engine-invalid',
    pattern: /Assertion [`'](?:\w+(?:->|\.))?(?:getNbBindings|getNbIOTensors)\(\) == (?<want>\w+)' failed/,
    severity: 'error',
    cause:
      'The engine has another number of inputs and outputs than the {want} that the program expects: the model was exported for another program.',
    advice:
      'Export the model as the documentation of this program says (often with its own version of export.py, with or without NMS), and build the engine again; an inspection of the engine lists its inputs and outputs.',
    sure: 'likely',
    source: 'linghu8812/tensorrt_inference#3, xuarehere/yolov7_deepsort_tensorrt#3',
  },
  {
    id: 'heap-damaged',
    code: 'crashed',
    pattern:
      /old_top == initial_top|malloc\(\): (?:invalid|corrupted|unaligned|memory corruption)|free\(\): invalid|double free or corruption|corrupted (?:size vs\. prev_size|double-linked list)|munmap_chunk\(\): invalid/,
    severity: 'error',
    cause: 'The program damaged its own memory while {phase}.',
    advice:
      'Most often a part was compiled against another version of TensorRT, CUDA or its plugin library than the one that it loads: compile everything again here (make clean) and export the model again. Otherwise a plugin writes beyond its buffers: run it under `valgrind` or with AddressSanitizer.',
    after: ['library-mismatch', 'library-missing', 'out-of-memory', 'runtime-failed'],
    sure: 'possible',
    source: 'glibc malloc; NVIDIA-AI-IOT/CUDA-PointPillars#81',
  },
  {
    id: 'llm-gemm',
    code: 'no-implementation',
    pattern: /Can't free tmp workspace for GEMM tactics profiling|No valid (?:\w+ )*GEMM tactic/,
    severity: 'error',
    once: true,
    cause: 'TensorRT-LLM has no kernel that runs the quantized matrix products of this model on this GPU.',
    advice:
      'Use a quantization that this GPU has (its support matrix: FP8 and W4A8 need Ada or Hopper, INT4 AWQ and GPTQ Ampere or later), with the types and group size that it lists, and see that GPU memory is free while the engine is built. With fewer GPUs in tp_size the matrices get sizes that more kernels take. Otherwise use a later TensorRT-LLM.',
    after: ['out-of-memory', 'gpu-unsupported'],
    sure: 'likely',
    source: 'NVIDIA/TensorRT-LLM#1416, #1739, #1792, #1841, #1850',
  },
  {
    id: 'llm-gemm-untimed',
    code: 'no-implementation',
    pattern: /Have not found any valid GEMM config for shape/,
    severity: 'warning',
    once: true,
    cause:
      'TensorRT-LLM could not time kernels for some matrix products on this GPU; it uses a default, or fails when it runs.',
    advice:
      'If the engine runs, nothing has to be done. Otherwise the GPU has no kernels for this quantization (its support matrix), or its memory was full while the engine was built.',
    after: ['no-implementation', 'out-of-memory'],
    sure: 'possible',
    source: 'NVIDIA/TensorRT-LLM#353, #3274',
  },
  {
    id: 'engine-is-null',
    code: 'failed',
    pattern:
      /Assertion (?:[`']|failed: )(?:this->)?(?<what>\w*[eE]ngine\w*|network|serialized\w*|plan|m?_?context)(?: != ?(?:nullptr|NULL|0))?(?:' failed|, file)/,
    cause:
      'TensorRT gave the program a null pointer ({what}), which it does not expect: the cause is an error that TensorRT printed before.',
    advice:
      'Look at the first error above. If there is none, the usual causes: the program or plugin was compiled against another TensorRT than the one it loads (compile it again here), too little memory, or, where it builds the network from weights, a file of another version or variant.',
    after: EVERY_CAUSE,
    source: 'marcoslucianops/DeepStream-Yolo#624, wang-xinyu/tensorrtx#1271, #982',
  },
  {
    id: 'weights-file',
    code: 'weights-missing',
    pattern: /[lL]oadWeights\([^\n]*Assertion [`'][^\n]+' failed|Assertion [`'][^\n]*Unable to load weight file/,
    cause: 'The program cannot read the file with the weights.',
    advice:
      'Check its path (programs of tensorrtx look for it in the folder above), its kind (.wts or .weights), and that the converter of the same version of the program wrote it.',
    after: ['out-of-memory'],
    source: 'wang-xinyu/tensorrtx#1151, marcoslucianops/DeepStream-Yolo#136',
  },
  {
    id: 'weights-of-another-network',
    code: 'weights-missing',
    pattern:
      /(?:nvinfer1::I(?:\w*Layer|CudaEngine|HostMemory) ?\*|[\w:]*build_?\w*|createEngine\w*)[^\n]*\bnvinfer1::I[^\n]*Assertion [`'](?<what>\w*[a-z_]\w*)' failed/,
    cause:
      'The program could not add a layer to the network ({what}): the weights are most often those of another version or variant of the model.',
    advice:
      'Write the weights again with the converter of the same version of the program, from the model that is meant, and give the program its variant and its number of classes.',
    after: EVERY_CAUSE,
    sure: 'likely',
    source: 'wang-xinyu/tensorrtx#887, #905',
  },
  {
    id: 'torchscript-build',
    code: 'failed',
    pattern: /\[Error thrown at core\/conversion\/[^\]]*\] Building TensorRT engine failed/,
    cause: 'Torch-TensorRT got no engine from TensorRT: the cause is an error that TensorRT printed before.',
    advice:
      'Compile inside `with torch_tensorrt.logging.debug():` to see what TensorRT says, and look at the first error.',
    after: EVERY_CAUSE,
    source: 'pytorch/TensorRT#536',
  },
  {
    id: 'jetson-model-format',
    code: 'model-unreadable',
    pattern: /model format '(?<format>\w+)' not supported by jetson-inference/,
    cause: 'The format of the model ({format}) is none that jetson-inference reads.',
    advice:
      'The name of a network that it does not have is read as a file: check --network or --model, and update jetson-inference with its dependencies (`cmake -DBUILD_DEPS=YES ..`). A file needs the ending .onnx.',
    source: 'dusty-nv/jetson-inference#1686',
  },
  {
    id: 'jetson-model-missing',
    code: 'model-missing',
    pattern: /model file '(?<file>[^'\n]+)' was not found/,
    cause: 'The model {file} does not exist.',
    advice:
      'Check the path; a variable that is not set leaves only its end ($NET/model.onnx becomes /model.onnx). Models that come with jetson-inference have to be downloaded once.',
    source: 'dusty-nv/jetson-inference#1548',
  },
  {
    id: 'jetson-network',
    code: 'failed',
    pattern: /\b\w+Net failed to load network|\[TRT\]\s+\w+Net -- failed to initialize/,
    cause: 'The program of jetson-inference could not load the network: the cause is in the lines with [TRT] before.',
    advice:
      'Look at the first of them that says "failed" or "error". If there is none: download the models again (tools/download-models.sh), delete the .engine files next to them, and build jetson-inference again after an update of JetPack.',
    after: EVERY_CAUSE,
    source:
      'jetson-inference; dusty-nv/jetson-inference#1686, winter2897/Real-time-Auto-License-Plate-Recognition-with-Jetson-Nano#3',
  },
  {
    id: 'aborted',
    code: 'crashed',
    pattern:
      /terminate called after throwing an instance of '(?<what>[^']+)'|Aborted\b|SIGABRT|exit(?:ed)?(?: with)? (?:code|status):? ?(?:134|-6)\b|died with <Signals\.SIGABRT|Assertion [`'](?<assertion>[^'\n]+)' failed/,
    named: (m, text) => ({
      values: { why: /what\(\): +([^\n]+)/.exec(text)?.[1] ?? m.groups!['what'] ?? m.groups!['assertion'] },
    }),
    cause: 'The program aborted while {phase}[[: {why}]].',
    advice:
      'The first error before this line is the cause; a program that prints none hides the messages of TensorRT. {usual}',
    after: [...EVERY_CAUSE, 'failed'],
    sure: 'possible',
    source: 'C++ runtime; wang-xinyu/tensorrtx#1610',
  },
  {
    id: 'ultralytics-onnx',
    code: 'model-unreadable',
    pattern: /export failure[^\n]*failed to load ONNX file: (?<file>\S+)/,
    cause: "TensorRT's parser refuses {file}, which Ultralytics exported before.",
    advice:
      'The reason is in the errors of TensorRT above this line. If there are none, build the file itself with --verbose; an opset that this TensorRT does not know is a usual cause (opset=… of the export), and a newer TensorRT another way.',
    after: EVERY_CAUSE,
    sure: 'likely',
    source: 'ultralytics, exporter.py',
  },
  {
    id: 'engine-is-none',
    code: 'failed',
    pattern:
      /'NoneType' object has no attribute '(?<name>\w+)'|'NoneType' object (?:is not iterable|does not support the context manager|is not subscriptable)|AttributeError: __enter__|AssertionError: Failed to create TensorRT engine|`engine` should be str or trt\.ICudaEngine, but given: <class 'NoneType'>|a bytes-like object is required, not 'NoneType'/,
    cause:
      'The build gave no engine (None), and the script goes on with it: the cause is an error that TensorRT printed before.',
    advice:
      'Look at the first error above. If there is none, pass a logger with `trt.Logger(trt.Logger.VERBOSE)`, and print the errors of the parser (`parser.get_error(i)`).',
    after: EVERY_CAUSE,
    source: 'NVIDIA/TensorRT#1731, RizhaoCai/PyTorch_ONNX_TensorRT#3',
  },
  {
    id: 'triton-no-gpu',
    code: 'library-missing',
    pattern:
      /TensorRT backend supports only GPU device|GPU instances not supported|GPU Execution Accelerator can only be set on non-CPU/,
    once: true,
    cause: 'Triton sees no GPU that it can use, or the configuration places the model on the CPU.',
    advice:
      'Check `nvidia-smi` in the container (docker run --gpus all) and that the driver fits the release of the container; Triton prints the GPUs it found when it starts. In config.pbtxt use instance_group with KIND_GPU, or none. The build for JetPack has no GPU instances for its Python backend.',
    sure: 'likely',
    source: 'triton-inference-server/server#2488, #4696, #5863, #6588',
  },
  {
    id: 'triton-stub',
    code: 'failed',
    pattern: /Stub process '(?<name>[^']+)' is not healthy/,
    severity: 'error',
    once: true,
    cause: 'The Python model {name} of Triton ended while it was starting.',
    advice:
      'Its own error is further above in the log (a missing package, a wrong path in config.pbtxt, too little GPU memory). If there is none: start the container with more shared memory (--shm-size=2g) and more memory.',
    after: EVERY_CAUSE,
    sure: 'likely',
    source: 'Triton python_backend; triton-inference-server/tensorrtllm_backend#712',
  },
  {
    id: 'triton-repository',
    code: 'file-missing',
    pattern: /(?:err_msg:|Internal(?: -|:) )failed to stat file (?<file>\S+)/,
    cause: 'The model repository of Triton, {file}, does not exist.',
    advice:
      'Give the folder that holds one folder for each model (model/config.pbtxt, model/1/model.plan), as it is named inside the container.',
    source: 'Triton filesystem; NVIDIA-ISAAC-ROS/isaac_ros_dnn_inference#35',
  },
  {
    id: 'llm-engine-configuration',
    code: 'engine-other-version',
    pattern:
      /(?:loading failed with error: |creating modelInstanceState: )(?:key '(?<key>\w+)' not found|\[json\.exception\.(?<kind>\w+)[^\n]*)/,
    named: (m) => ({
      values: {
        what:
          m.groups!['kind'] === 'parse_error'
            ? 'is missing or empty: the path of the engine is most often wrong'
            : 'has other keys than this version of the server reads: the engine and the server are of different versions',
      },
    }),
    cause: 'The configuration of the engine (config.json) {what}.',
    advice:
      'Check gpt_model_path (engine_dir) in config.pbtxt: the folder with config.json and the .engine files, as it is named inside the container. Use one version of TensorRT-LLM for trtllm-build, the backend of Triton and its files config.pbtxt, and build the engine again.',
    sure: 'likely',
    source: 'triton-inference-server/tensorrtllm_backend#207, #500; NVIDIA/TensorRT-LLM#1803',
  },
  {
    id: 'llm-value-missing',
    code: 'flag-conflict',
    pattern: /creating modelInstanceState: bad optional access/,
    severity: 'error',
    cause: 'TensorRT-LLM needs a value for this kind of engine that its configuration does not give.',
    advice:
      'Fill in all parameters of config.pbtxt (fill_template.py) that this kind of decoding needs (decoding_mode, lookahead or Medusa values, max_beam_width), with the templates of the same version, or build the engine without that feature.',
    sure: 'likely',
    source: 'NVIDIA/TensorRT-LLM#2020',
  },
  {
    id: 'llm-world-size',
    code: 'flag-conflict',
    pattern:
      /Engine world size \((?<engine>[\d* ]+)\) != Runtime world size \((?<have>\d+)\)|MPI size (?<have2>\d+) != TP size (?<engine2>\d+ \* PP size \d+)|mpiSize == tp \* pp|MPI worldSize is expected to be equal to tp\*pp/,
    once: true,
    named: ({ groups: { engine, engine2, have, have2 } = {} }) => ({
      values: { engine: engine ?? engine2?.replace(' PP size', ''), have: have ?? have2 },
    }),
    cause:
      'The engine is for another number of processes (tensor parallel times pipeline parallel[[, {engine}]]) than were started[[ ({have})]].',
    advice:
      'Start as many: `mpirun -n N python run.py …`, or --world_size N of launch_triton_server.py. If mpirun starts N and each sees 1, mpi4py was built for another MPI than the mpirun that runs.',
    source: 'NVIDIA/TensorRT-LLM#108, #440, #753, #1796, #1992, #2021',
  },
  {
    id: 'llm-checkpoint',
    code: 'model-invalid',
    pattern: /KeyError: '(?:(?<key>architecture)|(?<model>\w+For(?:CausalLM|ConditionalGeneration)))'/,
    named: (m) => ({
      values: {
        what: m.groups!['key']
          ? 'The folder given to trtllm-build is no checkpoint of TensorRT-LLM, but most often one of Hugging Face'
          : `This version of TensorRT-LLM does not know the architecture ${m.groups!['model']}`,
      },
    }),
    cause: '{what}.',
    advice:
      'Write the checkpoint with convert_checkpoint.py (or quantize.py) of the same version for this model, and give its output folder to trtllm-build. For a newer architecture use a later TensorRT-LLM.',
    sure: 'likely',
    source: 'NVIDIA/TensorRT-LLM#2141, #6360',
  },
  {
    id: 'llm-cross-cache',
    code: 'flag-conflict',
    pattern: /Do not set crossKvCacheFraction for decoder-only model/,
    cause: 'The configuration gives a part of the cache to cross-attention, which a decoder-only model does not have.',
    advice: 'Remove cross_kv_cache_fraction from config.pbtxt of the model tensorrt_llm.',
    source: 'NVIDIA/TensorRT-LLM#2814',
  },
  {
    id: 'tf-trt-native-segment',
    code: 'no-implementation',
    pattern:
      /Engine creation for (?<layer>\S+) failed\. The native segment will be used instead\.?(?: Reason: (?<why>[^\n]+))?/,
    severity: 'warning',
    once: true,
    named: (m) => ({ layer: m.groups!['layer'], values: { why: m.groups!['why']?.replace(/\.$/, '') } }),
    cause: 'TF-TRT got no engine for {layer}, and TensorFlow runs these operators itself[[ ({why})]].',
    advice:
      'The results are right, but not faster. What TensorRT says about it comes before (lines with "DefaultLogger"); too little memory next to TensorFlow (limit it with per_process_gpu_memory_fraction or set_memory_growth), and shapes that differ from those of build(), are the usual causes.',
    after: EVERY_CAUSE,
    sure: 'possible',
    source: 'TensorFlow trt_engine_op.cc; NVIDIA/TensorRT#192, tensorflow/tensorrt#283',
  },
  {
    id: 'isaac-tensor-stream',
    code: 'runtime-failed',
    pattern: /tensor stream creation failed/,
    severity: 'error',
    cause: 'Isaac ROS could not create its stream for images on the GPU (VPI); the engine is not what fails.',
    advice:
      'Do not forward X11 (log in without ssh -X, or unset DISPLAY); run it at a display of the machine or headless, in the container of this Isaac ROS release on the JetPack that it names.',
    sure: 'possible',
    source: 'NVIDIA-ISAAC-ROS/isaac_ros_image_pipeline#38, #44, isaac_ros_apriltag#45',
  },
  {
    id: 'deepstream-labels',
    code: 'file-missing',
    pattern: /Could not open labels file: ?(?<file>\S+)/,
    severity: 'error',
    cause: 'The file of labels {file} cannot be opened by nvinfer; the engine is not what fails.',
    advice:
      'Correct labelfile-path in the configuration of nvinfer; a relative path starts at the folder of that file.',
    source: 'DeepStream nvdsinfer_context_impl.cpp; zzz3bbb3/YOLOX-deepstream#9',
  },
  {
    id: 'deepstream-configuration',
    code: 'file-missing',
    pattern: /Configuration file parsing failed|<gst_nvinfer_parse_config_file:\d+>: failed|\bparse_config_file failed/,
    severity: 'error',
    named: (_, text) => ({ values: { file: /Config file path: (\S+)/.exec(text)?.[1] } }),
    cause: 'DeepStream cannot read a configuration file[[, {file}]]: it does not exist, or a line of it is wrong.',
    advice:
      'Check the path given with -c and those in config-file: relative ones start at the folder of the file that names them. In the file itself each key needs its group ([property]) and one value.',
    source: 'NVIDIA-AI-IOT/Deepstream-Dewarper-App#13, marcoslucianops/DeepStream-Yolo#107',
  },
  {
    id: 'deepstream-element',
    code: 'library-missing',
    pattern: /no such element factory "(?<name>nv\w+)"/,
    severity: 'error',
    cause: 'GStreamer does not have the element {name} of DeepStream: its plugin was not found or could not be loaded.',
    advice:
      'Install DeepStream for this release; nvinferserver needs Triton (the container deepstream:…-triton), otherwise use nvinfer (plugin-type=0). Then remove ~/.cache/gstreamer-1.0 and look what `gst-inspect-1.0 ELEMENT` says.',
    source: 'NVIDIA-AI-IOT/deepstream_triton_model_deploy#4, NVIDIA-AI-IOT/deepstream_parallel_inference_app#3',
  },
  {
    id: 'triton-input-dims',
    code: 'profile-inconsistent',
    pattern:
      /failed to create \w+ backend on model:(?<model>\S+) because tensor:(?<input>\S+) input-dims is not correct/,
    severity: 'error',
    cause: 'The dimensions of input {input} in the configuration of model {model} do not suit nvinferserver.',
    advice:
      'Give dims in config.pbtxt as fixed sizes without the batch (three: channels, height, width) and set max_batch_size; export the model with fixed height and width.',
    sure: 'likely',
    source: 'NVIDIA-AI-IOT/deepstream_triton_model_deploy#17',
  },
  {
    id: 'triton-backend',
    code: 'library-missing',
    pattern:
      /unknown platform '(?<name>\w+)'|unknown Execution Accelerator '(?<name2>\w+)' is requested|unable to find backend library for backend '(?<name3>\w+)'|unable to find 'libtriton_(?<name4>\w+)\.so'(?: or '[^']+')? for model '(?<model2>[^']+)'|unexpected platform type +for (?<model>\S+)/,
    named: ({ groups: { name, name2, name3, name4, model, model2 } = {} }) => ({
      values: { name: name ?? name2 ?? name3 ?? name4, model: model ?? model2 },
    }),
    cause: 'This Triton does not have what the configuration of the model[[ {model}]] asks for[[: {name}]].',
    advice:
      'Check backend and platform in config.pbtxt (backend "tensorrt", or platform "tensorrt_plan", with model.plan for an engine, "onnxruntime_onnx" with model.onnx), and use a container that has the backend: those for one purpose (tensorrt-llm) and own builds have only some. The accelerator "tensorrt" needs an ONNX Runtime that was built with it.',
    source: 'triton-inference-server/server#2179, #3204, #8342, #2743, #5206',
  },
  {
    id: 'triton-configuration',
    code: 'profile-inconsistent',
    pattern:
      /model '(?<model>[^']+)', tensor '(?<tensor>[^']+)': the model expects (?<want>[^\n]+?) but the model configuration specifies (?<have>[^\n]+)/,
    cause:
      'The model configuration (config.pbtxt) of {model} does not fit the engine: tensor {tensor} has {want}, and the configuration gives {have}.',
    advice:
      'Give dims in config.pbtxt as the engine has them, without the batch where max_batch_size is above 0; -1 where the profile is dynamic. Or remove the inputs and outputs: Triton completes the configuration of an engine itself.',
    source: 'Triton, model_config_utils.cc',
  },
  {
    id: 'triton-inputs',
    code: 'profile-inconsistent',
    pattern:
      /unable to load model '(?<model>[^']+)', configuration expects (?<have>\d+) (?<kind>inputs|outputs), model provides (?<want>\d+)/,
    cause:
      'The model configuration (config.pbtxt) of {model} does not fit the engine, which has {want} {kind}; the configuration has {have}.',
    advice:
      'Give every input and output of the engine in config.pbtxt, or remove them all: Triton completes the configuration of an engine itself.',
    source: 'Triton, tensorrt_backend and model_config_utils.cc',
  },
  {
    id: 'provider-fallback-disabled',
    code: 'unsupported-op',
    pattern: /assigned to the default CPU EP, but fallback to CPU EP has been explicitly disabled/,
    cause: 'Some nodes are not taken by the TensorRT provider, and the session may not run them on the CPU.',
    advice:
      'Unset session.disable_cpu_ep_fallback, or add the CUDA provider. Set log_severity_level=0: the log then lists the provider of each node.',
    source: 'ONNX Runtime inference_session.cc',
  },
  {
    id: 'tf-trt-unknown-dimension',
    code: 'profile-missing',
    pattern: /Input tensor with shape (?<shape>\[[^\]]*\]) has an unknown non-batch dimension at dim (?<dim>\d+)/,
    cause:
      'Dimension {dim} of an input of shape {shape} is not known, and TF-TRT converts only segments whose shapes are.',
    advice:
      'Pass use_dynamic_shape=True to TrtGraphConverterV2 and call build() with inputs of the real sizes, or export the model with fixed sizes besides the batch.',
    source: 'TensorFlow, tf2tensorrt/convert/convert_nodes.cc',
  },
  {
    id: 'library-object-is-none',
    code: 'failed',
    pattern:
      /pybind11::init\(\): factory function returned nullptr|Assertion [`'](?:builder|runtime|parser)(?: !=? ?nullptr)?' failed/,
    cause:
      'TensorRT could not start (it gave no builder or runtime): most often it finds no GPU, or a driver that is too old.',
    advice:
      'Look at the first message above. Check that `nvidia-smi` works in the same environment (`docker run --gpus all` in a container), and that the driver is new enough for the CUDA of this TensorRT.',
    after: EVERY_CAUSE,
    sure: 'likely',
    source: 'pybind11; NVIDIA/TensorRT#2727',
  },
  {
    id: 'deepstream-build',
    code: 'failed',
    pattern: /Failed to get cuda engine from custom library API|build engine file failed|build backend context failed/,
    severity: 'error',
    once: true,
    cause: 'The engine could not be built by nvinfer; what failed is in the lines before.',
    advice:
      'Look at the first line with ERROR and those of TensorRT ([TRT]) before it. If there are none: the files of the model (onnx-file, or cfg and weights) and of the calibration (int8-calib-file; DeepStream-Yolo needs OPENCV=1 and INT8_CALIB_IMG_PATH to write one) must exist, and the custom library must be compiled for this DeepStream. Run with GST_DEBUG=3 for more.',
    after: EVERY_CAUSE,
    sure: 'likely',
    source: 'DeepStream nvdsinfer_context_impl.cpp; marcoslucianops/DeepStream-Yolo#252, #453',
  },
  {
    id: 'deepstream-library',
    code: 'library-missing',
    pattern: /dlsym failed to get func (?<name>\w+)|NVDSINFER_CUSTOM_LIB_FAILED/,
    once: true,
    after: ['library-missing'],
    cause:
      'The custom library of nvinfer lacks the function[[ {name}]] that its configuration names; the engine is not what fails.',
    advice:
      'Set custom-lib-path to the library that has it, and parse-bbox-func-name (or engine-create-func-name) to its exact name; `nm -D LIB | grep NvDsInfer` lists the names. Build the library against this DeepStream.',
    source: 'DeepStream nvdsinfer_context_impl.cpp; grimoire/mmdetection-to-tensorrt#119',
  },
  {
    id: 'torch-tensorrt-operators',
    code: 'unsupported-op',
    pattern:
      /Unsupported operators? listed below|Method requested cannot be compiled (?:end to end )?by (?:Torch-)?TensorRT|VerifyConverterSupportForBlock\(g->block\(\)\) to be true/,
    once: true,
    cause: 'Torch-TensorRT has no converter for some operators of the module; the log lists them (aten::…).',
    advice:
      'Leave them to PyTorch: compile without require_full_compilation, or name them in torch_executed_ops. The Dynamo front end (ir="dynamo") has more converters.',
    source: 'pytorch/TensorRT core/compiler.cpp',
  },
  {
    id: 'torch2trt-converter',
    code: 'unsupported-op',
    pattern: /has no attribute '_trt'|known unsupported method (?<name>[\w.]+)/,
    once: true,
    named: (m, text) => ({
      values: { name: m.groups!['name'] ?? /known unsupported method ([\w.]+)/.exec(text)?.[1] },
    }),
    cause: 'A method that the model calls has no converter in torch2trt[[: {name}]].',
    advice:
      'Rewrite the module without it, add a converter (`@tensorrt_converter`), or go by ONNX: torch.onnx.export, then trtexec.',
    source: 'NVIDIA-AI-IOT/torch2trt torch2trt.py',
  },
  {
    id: 'provider-failed',
    code: 'failed',
    pattern:
      /TensorRT EP (?:failed to create|could not build|could not deserialize|Failed to Build) [eE]ngine|EP_FAIL : (?<why>[^\n]+)|(?<!assert[^\n]*|AssertionError: )Failed to create TensorRT (?:engine|builder|network)|TensorRT EP failed to create/,
    cause: 'The TensorRT provider of ONNX Runtime gave up[[: {why}]].',
    advice:
      'The first error of TensorRT above is the cause; set log_severity_level=0 and trt_detailed_build_log to see it. Without the provider in the list, or with the CUDA provider after it, the model runs meanwhile.',
    after: EVERY_CAUSE,
    sure: 'possible',
    source: 'ONNX Runtime tensorrt_execution_provider.cc; microsoft/onnxruntime#21567',
  },
  {
    id: 'vs-mlrt-failed',
    code: 'failed',
    pattern:
      /trtexec execution fails,? log has been written to (?<file>\S+)|Command '(?<command>\[?[^\n]{0,200})[^\n]*returned non-zero exit status (?<status>\d+)/,
    cause: 'The program that was to build the engine failed[[; its log is {file}]].',
    advice: 'Diagnose that log; without one, run the command in a terminal with --verbose.',
    after: EVERY_CAUSE,
    sure: 'possible',
    source: 'AmusementClub/vs-mlrt#89, #167',
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
    pattern: /\[(?<layer>[^\]]+)\] requires bool(?: or uint8)? I\/O but node can ?not be handled by Myelin/,
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
  ) && !/^execute_(?:async_)?v2$/.test(name);

/** What to call instead of names of the API that are gone, or are not there yet. */
function replacement(language: 'python' | 'cpp', name: string, type: string | undefined): string {
  const known: Record<string, string> = {
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
  if (language === 'python' && Object.hasOwn(known, name)) return known[name]!;
  if (language === 'python' && isNew(name))
    return 'Install the TensorRT that the script was written for (its requirements name it), or use the older interface.';
  const gone = goneName(language, type === undefined ? name : `${type}.${name}`);
  const instead = gone === undefined || gone.advice === '' || gone.advice.includes('trtlens') ? '' : ` ${gone.advice}`;
  return gone === undefined
    ? "Use the version that it was written for, or its newer interface (NVIDIA's migration guide)."
    : `TensorRT ${gone.since} removed it.${instead} Otherwise use the version before that, or a newer release of the program.`;
}

function windowsCause(code: string): string {
  if (code === '135' || code === '7b') return 'a library (DLL) was not found';
  if (code === '139' || code === '138' || code === '142' || code === '07b')
    return 'a library (DLL) of another version or architecture was loaded';
  if (code === 'fd') return 'its stack overflowed, which deep models do to the parser';
  return 'memory was damaged, most often by libraries of different versions';
}
