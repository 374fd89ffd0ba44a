import { type DiagnosisRule, EVERY_CAUSE } from '../rule.ts';

/** Polygraphy's own checks: of the data and options that it was given. */
/** The type that PyTorch lacks an operation for, as TensorRT calls it. */
const halfType = ({ groups }: RegExpExecArray) => ({ values: { type: groups!['type'] === 'Half' ? 'FP16' : 'BF16' } });

const POLYGRAPHY_RULES: readonly DiagnosisRule[] = [
  {
    id: 'polygraphy-data',
    code: 'runtime-shape',
    pattern:
      /Input tensor: (?<input>\S+) \| (?:Cannot reuse input data|Does not exist in the provided input data|Cannot override original shape|Could not use the provided input)|so the default data loader cannot generate|cannot be recognized as a feed_dict|In --val-range, for input|Array payload is empty or invalid/m,
    severity: 'error',
    cause: 'The data that Polygraphy was given, or makes, does not fit an input of the model[[, {input}]].',
    advice:
      'Give the shapes of dynamic inputs (--input-shapes x:[1,3,224,224], and the same sizes in --trt-opt-shapes), and data under the name of each input, with its shape and type (--data-loader-script, --load-inputs, --val-range x:[0,1]). Inputs of values that mean something (lengths, indices, masks, BF16) need a data loader of your own: random values are no use there.',
    source: 'Polygraphy comparator/data_loader.py, util/util.py',
  },
  {
    id: 'polygraphy-profile',
    code: 'profile-inconsistent',
    pattern:
      /Mismatch in input names between (?:minimum|optimum) shapes|Profile is not valid, please provide profile data|Failed to set optimization profile to|For input: (?<input>\S+), failed to set (?:shape to: (?<shape>[^\n]+)|tensor address)|since this is a shape tensor, it must reside in host memory/,
    severity: 'error',
    cause:
      'The shapes that Polygraphy was given do not fit the inputs or the optimization profile[[: {input} to {shape}]].',
    advice:
      'Name the same inputs, as the model spells them (`polygraphy inspect model`), in --trt-min-shapes, --trt-opt-shapes and --trt-max-shapes, and run with shapes between them. Shape tensors are given in host memory.',
    after: ['runtime-shape', 'runtime-failed', 'out-of-memory'],
    sure: 'likely',
    source: 'Polygraphy backend/trt: profile.py, runner.py; tools/args',
  },
  {
    id: 'polygraphy-buffer',
    code: 'runtime-shape',
    pattern:
      /Provided host buffer is (?<how>not contiguous|larger than device buffer|smaller than device buffer)|A view cannot exceed the number of bytes/,
    severity: 'error',
    cause: 'An array that is copied to or from the GPU does not fit the buffer there[[: it is {how}]].',
    advice:
      'Make it contiguous (`np.ascontiguousarray`) and of the type and shape of the tensor (float64 is twice as long as float32): compare array.nbytes with the size of the device buffer, and resize that one for other shapes.',
    source: 'Polygraphy cuda/cuda.py',
  },
  {
    id: 'polygraphy-options',
    code: 'flag-conflict',
    pattern:
      /Cannot set EXCLUDE_LEAN_RUNTIME|`--exclude-lean-runtime` requires|(?:not supported|only supported) with USE_TENSORRT_RTX=1|likely not using a TensorRT-RTX build|Cannot mark layers to run in \w+ if it is not enabled|Please enable at least one precision besides|precision tool cannot work with engines|(?:check-average|use-subprocess|warm-up|streaming=True)[^\n]{0,40}(?:cannot be|is not supported|requires|does not support)|No outputs were selected\. Please check|Could not automatically determine model type|Please (?:explicitly )?specify the (?:desired output format|type) with|TensorRT network scripts must exist|(?<what>(?<![\w.])[\w.]+) is not available on TensorRT version (?<have>[\d.]+)/,
    severity: 'error',
    cause:
      'Polygraphy was given options, or a file, that do not go together[[: {what} does not exist in TensorRT {have}]].',
    advice:
      'The sentence says which: take one of them out, or add what it names (--fp16 or --int8 for layers in that type, --version-compatible, --model-type, the ending .onnx, .plan or .py). TensorRT-RTX has no precision flags, DLA or calibrators: put the types into the model.',
    source: 'Polygraphy tools and backend/trt/config.py',
  },
  {
    id: 'polygraphy-invalid-values',
    code: 'failed',
    pattern:
      /Output validation failed: iteration \d+ contains invalid values|Encountered (?:one or more )?(?:NaNs?|non-finite)[^\n]{0,60}(?:values|in output)|(?<!\b[Nn]o )\b(?:NaN|Inf) Detected\b/,
    severity: 'error',
    once: true,
    cause: 'An output has NaN or infinite values.',
    advice:
      'Find the first tensor with them: run with --validate and all outputs marked (--trt-outputs mark all --onnx-outputs mark all --onnxrt). If ONNX Runtime has them too, the input or the model makes them. If only FP16 has them, values exceed 65504 there: keep that part (normalization, softmax, exp, sums) in FP32, or use BF16.',
    sure: 'likely',
    source: 'Polygraphy comparator/comparator.py',
  },
  {
    id: 'polygraphy-outputs-unlike',
    code: 'failed',
    pattern: /All outputs were skipped, no common outputs found/,
    severity: 'error',
    cause: 'The two runners have no output of the same name, so nothing was compared.',
    advice:
      'Give both the same model or the same marked outputs (--onnx-outputs and --trt-outputs with one list). An engine from another export, or a fused node, has other names: compare by position with a script, or rename them.',
    source: 'Polygraphy comparator/compare.py',
  },
  {
    id: 'polygraphy-cuda-library',
    code: 'library-missing',
    pattern: /Could not load the CUDA runtime library\. Is it on your loader path/,
    severity: 'error',
    cause: 'Polygraphy does not find the CUDA runtime (libcudart.so, or cudart64_*.dll on Windows).',
    advice:
      'Install it (`pip install nvidia-cuda-runtime-cu12` or the CUDA toolkit) and put its folder on LD_LIBRARY_PATH (PATH on Windows): the wheel has it in site-packages/nvidia/cuda_runtime/lib.',
    source: 'Polygraphy cuda/cuda.py',
  },
  {
    id: 'polygraphy-no-dla',
    code: 'dla-failed',
    pattern: /DLA was requested via --use-dla, but no DLA hardware is available/,
    severity: 'error',
    cause: 'The build is for the DLA, and this machine has none (or the container does not see it).',
    advice:
      'Build on a Jetson with DLA (Xavier, Orin except the Nano modules), in a container with --runtime nvidia and its devices, or leave --use-dla out.',
    source: 'Polygraphy backend/trt/config.py',
  },
  {
    id: 'polygraphy-subprocess',
    code: 'crashed',
    pattern: /\| Terminated prematurely\. Check the exception logged above/,
    severity: 'error',
    cause: 'The process of a runner ended before it gave results: it crashed, was killed, or raised an exception.',
    advice:
      'Run without --use-subprocess: then its own error is seen. If there is none, it crashed or ran out of memory (`dmesg`); run each runner alone, with --save-outputs and --load-outputs.',
    after: EVERY_CAUSE,
    sure: 'possible',
    source: 'Polygraphy comparator/comparator.py',
  },
];

/** Why TF-TRT leaves an operator to TensorFlow, and what changes that. */
const LEFT: readonly (readonly [RegExp, string])[] = [
  [
    /data_format|NCHW/,
    'Its data format must be NCHW (channels first) in the graph that the converter gets: the layout optimizer of TensorFlow, which runs before on a machine with a GPU, or the training changes it; look at the attribute data_format of the node in that graph.',
  ],
  [
    /dimension|shape|rank|batch/i,
    'Give the inputs fixed sizes, or convert with use_dynamic_shape=True and build() (TensorFlow 2.6 and later).',
  ],
  [/\btype\b|DT_\w+|data ?type/i, 'Cast its inputs to FP32, FP16 or INT32: other types stay in TensorFlow.'],
  [/must be a (?:constant|tensor)|const/i, 'Freeze the graph and fold constants, so that this input is one.'],
  [
    /not (?:implemented|supported|registered)|no converter/i,
    'This TensorFlow has no converter for it: use a later one, or other operators.',
  ],
];

const entryFor = (table: readonly (readonly [RegExp, string])[], text: string) =>
  table.find(([pattern]) => pattern.test(text));

/** Polygraphy, ONNX Runtime, TensorFlow, Paddle, and programs that build on them. */
export const FRAMEWORK_RULES: readonly DiagnosisRule[] = [
  ...POLYGRAPHY_RULES,
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
    id: 'ort-cuda-graph',
    code: 'flag-conflict',
    pattern:
      /cannot use the (?:CUDA Graph|graph capture) feature as requested|CUDA [Gg]raph (?:is|feature)[^\n]{0,60}not supported[^\n]{0,60}(?:control flow|provider)/,
    severity: 'error',
    cause:
      'CUDA graphs were asked for, and not all nodes of the model run on the one provider that captures them (or it has If, Loop or Scan).',
    advice:
      'Leave enable_cuda_graph (trt_cuda_graph_enable, nv_cuda_graph_enable) out, or see with log_severity_level=1 which nodes are on the CPU: fold shapes and constants, fix the input shapes, and remove control flow, so that one provider takes all.',
    source: 'ONNX Runtime inference_session.cc; ELS-RD/kernl#50',
  },
  {
    id: 'provider-cpu-only',
    code: 'library-missing',
    pattern: /^Applied providers: \['CPUExecutionProvider'\]/m,
    severity: 'warning',
    once: true,
    cause: 'ONNX Runtime runs the models on the CPU: no provider of a GPU was chosen, or none could be loaded.',
    advice:
      'Choose CUDA or TensorRT in the program (often --execution-provider cuda), and have onnxruntime-gpu installed, not onnxruntime next to it: `python -c "import onnxruntime; print(onnxruntime.get_available_providers())"` must list CUDAExecutionProvider.',
    after: ['library-missing'],
    sure: 'likely',
    source: 'insightface model_zoo; hacksider/Deep-Live-Cam#1263',
  },
  {
    id: 'provider-not-in-build',
    code: 'library-missing',
    pattern:
      /Specified provider '(?<name>\w+)' is not in available provider names|(?:Unknown Provider Type|Unsupported provider type|provider type is not supported): ?'?(?<name2>\w+ExecutionProvider)|Could not find specified ONNX-Runtime execution provider\.\s+Note: Requested provider was: (?<name5>\w+)|(?<name3>TensorRT|CUDA|NvTensorRTRTX) execution provider is (?:not enabled|not supported) in this build|entry point named 'OrtSessionOptionsAppendExecutionProvider_(?<name4>\w+)'/,
    once: true,
    // In Python only a warning: the session takes the other providers.
    named: ({ groups: { name, name2, name3, name4, name5 } = {} }) => ({
      ...(name !== undefined && { severity: 'warning' }),
      values: { name: name ?? name2 ?? name3 ?? name4 ?? name5 },
    }),
    cause:
      'The ONNX Runtime that is loaded was built without {name}; the model runs on another provider or not at all.',
    advice:
      'Install the package with it: onnxruntime-gpu has the CUDA and TensorRT providers, and must be the only one (`pip uninstall onnxruntime onnxruntime-gpu`, then install it again; .NET: Microsoft.ML.OnnxRuntime.Gpu; Java: onnxruntime_gpu). On a Jetson it is a wheel of NVIDIA for the JetPack; other builds need --use_tensorrt.',
    source: 'ONNX Runtime onnxruntime_inference_collection.py and provider factories',
  },
  {
    id: 'provider-option',
    code: 'unknown-flag',
    pattern:
      /Unknown provider option: "(?<name>[^"\n]+)"|Failed to parse provider option "(?<name2>[^"\n]+)": ?(?<why>[^\n]*)/,
    named: ({ groups: { name, name2 } = {} }) => ({
      values: { name: name ?? name2, what: name ? 'this release does not have' : 'has a value that it does not take' },
    }),
    cause: 'The provider of ONNX Runtime got an option that {what}: {name}.',
    advice:
      'Values are texts: "1" or "0" (True and False in Python), numbers as text. Options differ by release and by provider (trt_… for TensorRT, nv_… for NvTensorRTRTX, none of them for CUDA): see the page of the provider for the release that is installed. Where a binding for another language sets the option, update it, or match it with the ONNX Runtime that it names.',
    source: 'ONNX Runtime provider_options_utils.h; pykeio/ort#100',
  },
  {
    id: 'provider-subgraph-shapes',
    code: 'model-invalid',
    pattern: /graph_build\.Resolve\(\)\.IsOK\(\) was false|GetSupportedList [^\n]*was false/,
    severity: 'error',
    cause:
      'The TensorRT provider of ONNX Runtime could not cut a part out of the model: shapes or types in it are not known.',
    advice:
      'Infer them first: `python -m onnxruntime.tools.symbolic_shape_infer --input model.onnx --output model.inferred.onnx --auto_merge`, or make the input shapes fixed. If that changes nothing, use a later ONNX Runtime, or build the model with trtexec.',
    sure: 'likely',
    source: 'ONNX Runtime tensorrt_execution_provider.cc; microsoft/onnxruntime#7757',
  },
  {
    id: 'session-debug-mixed',
    code: 'library-mismatch',
    pattern:
      /Exception during initialization: (?:bad array new length|vector too long|string too long|bad allocation|std::bad_alloc|invalid (?:map|string|vector)\b)/,
    severity: 'error',
    cause:
      'ONNX Runtime failed while it created the session, in a C++ container: most often a Debug build is mixed with libraries of a Release build (TensorRT comes as Release only), or the memory ran out.',
    advice:
      'Use the Release build of ONNX Runtime and of the program next to TensorRT, all of one compiler. If they are, watch the memory, and run with log_severity_level=0.',
    sure: 'likely',
    source: 'microsoft/onnxruntime#16273',
  },
  {
    id: 'tf-trt-resource',
    code: 'runtime-failed',
    pattern: /Container TF-TRT does not exist|Could not find resource: TF-TRT|TRTEngineCacheResource not yet created/,
    severity: 'warning',
    cause: 'TF-TRT has no engine in its cache yet for a part of the graph: it is built at the first run.',
    advice:
      'It is no failure by itself. To have the engines before: call converter.build(input_fn=…), then converter.save(), and load that SavedModel on the same GPU and TensorRT.',
    sure: 'likely',
    source: 'TensorFlow trt_engine_resource_ops.cc; tensorflow/tensorrt#145, #336',
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
      'Nothing failed: the results are right, but not faster. What TensorRT says about it comes before (lines with "DefaultLogger"); too little memory next to TensorFlow (limit it with per_process_gpu_memory_fraction or set_memory_growth), and shapes that differ from those of build(), are the usual causes.',
    after: EVERY_CAUSE,
    sure: 'possible',
    source: 'TensorFlow trt_engine_op.cc; NVIDIA/TensorRT#192, tensorflow/tensorrt#283',
  },
  {
    id: 'tf-trt-shapes',
    code: 'runtime-shape',
    pattern:
      /Engine (?:buffer|cache) is full\. buffer limit=(?<limit>\d+), current entries=\d+, requested batch=(?<batch>\d+)|Input shapes (?:are inconsistent on|contain scalar)[^\n]*? for (?<part>\S+): (?<shapes>[^\n]+)|Incorrect batch dimension, for (?<part2>\S+): (?<shapes2>[^\n]+)|Engine retrieval for (?:input|batch) ?\w*:? (?<shapes3>[^\n]*?) failed\. Running native segment|Found no engine in cache matching input shapes|Failed to (?:get engine batch, running native segment|execute engine[^\n]*[Rr]etrying with native segment)|Running native segment for[^\n]* due to failure in verifying input shapes/,
    severity: 'warning',
    once: true,
    named: ({ groups: { limit, batch, part, part2, shapes, shapes2, shapes3 } = {} }) => ({
      layer: part ?? part2,
      values: {
        what: batch
          ? `a batch of ${batch} comes, and its cache of ${limit} engine${limit === '1' ? '' : 's'} is full of smaller ones`
          : (shapes ?? shapes2 ?? shapes3)
            ? `it has no engine for the shapes ${shapes ?? shapes2 ?? shapes3}`
            : 'it has no engine for the shapes that come, or the engine failed',
      },
    }),
    cause: 'TF-TRT leaves a part of the graph to TensorFlow: {what}.',
    advice:
      'The results are right, but this part is not faster. Convert with the largest batch (max_batch_size), with room for more engines (is_dynamic_op=True, maximum_cached_engines), or with TrtGraphConverterV2, use_dynamic_shape=True and build() for the shapes that come. Parts of a detection head, whose batch is the number of boxes, are better left out: raise minimum_segment_size.',
    after: EVERY_CAUSE,
    source: 'TensorFlow trt_engine_op.cc; tensorflow/models#5876',
  },
  {
    id: 'tf-trt-fallback-aborts',
    code: 'runtime-failed',
    pattern: /Check failed: mutable_output\(index\) == nullptr/,
    severity: 'error',
    cause:
      'An engine of TF-TRT failed at run time, and this TensorFlow aborts in place of running that part of the graph itself.',
    advice:
      'The line before names the part and its shapes: a 0 in them (no boxes inside of NonMaxSuppression) is nothing that TensorRT runs. Leave small parts to TensorFlow (minimum_segment_size=10 or more), and use a later TensorFlow, which releases the outputs first and goes on.',
    source: 'TensorFlow trt_engine_op.cc; tensorflow/tensorflow#36724',
  },
  {
    id: 'frigate-models',
    code: 'failed',
    pattern: /ls: cannot access '\*\.trt'|executing command[^\n]*trt-model-prepare/,
    severity: 'error',
    once: true,
    cause: 'The script of Frigate that makes its models built no engine, and hides what TensorRT said.',
    advice:
      'Run onnx_to_tensorrt.py of that script again with --verbose. Usual reasons: a GPU without FP16 (Pascal and older: set USE_FP16=False), a GPU or driver too old for the TensorRT of the image (its documentation names them), or too little GPU memory: choose a smaller model (YOLO_MODELS=yolov7-tiny-416).',
    after: EVERY_CAUSE,
    sure: 'possible',
    source: 'Frigate docker/tensorrt, trt-model-prepare; remz1337/Proxmox#13',
  },
  {
    id: 'half-on-gpu',
    code: 'unsupported-type',
    pattern: /"(?<op>\w*?(?:cuda|cusolver|cublas|magma)\w*)" not implemented for '(?<type>Half|BFloat16)'/,
    severity: 'error',
    named: halfType,
    cause: 'PyTorch has no {op} for {type} on the GPU.',
    advice:
      'Run that operation in FP32 (`x.float()` before it, `.half()` after it), or keep the whole model in FP32 and let TensorRT choose FP16 (--fp16, or --bf16 from 9 on; TensorRT 11 and TensorRT-RTX: a typed copy of the model). TensorRT is not what fails.',
    source: 'PyTorch AT_DISPATCH',
  },
  {
    id: 'half-on-cpu',
    code: 'unsupported-type',
    pattern: /"(?<op>\w+?)(?:_impl|_cpu_?|_channels_last|KernelImpl)*" not implemented for '(?<type>Half|BFloat16)'/,
    severity: 'error',
    sure: 'likely',
    named: halfType,
    cause: 'PyTorch runs a model in {type} on the CPU, where it has no {op}: TensorRT is not what fails.',
    advice: {
      ultralytics:
        'Export with device=0, where FP16 is there; with half=True and dynamic=True old releases export on the CPU: use one of the two, or update ultralytics.',
      other:
        'Move the model and its inputs to the GPU (.cuda()) before the export, or export in FP32 (.float()) and let TensorRT choose FP16.',
    },
    source: 'PyTorch; ultralytics/ultralytics#9516',
  },
  {
    id: 'tf-trt-not-candidate',
    code: 'unsupported-op',
    pattern:
      /Not a TF-TRT candidate,? \(Op type: (?<op>\w+)\), \(Op name: (?<layer>[^)\n]*)\), \(Reason: (?:[A-Z]\w+(?: \w+)?: )?(?<why>[^\n]*?)(?:, at \S+)?\)?(?:\n|$)|There are \d+ ops of \d+ different types in the graph that are not converted to TensorRT: (?<ops>[^\n(]{1,200})/,
    severity: 'warning',
    named: ({ groups: { op, why, ops } = {} }) => ({
      values: {
        what: op === undefined ? ops?.replace(/[\s,.]+$/, '') : `this node (${op})`,
        why,
        step: entryFor(LEFT, why ?? '')?.[1],
      },
    }),
    cause: 'TF-TRT leaves {what} to TensorFlow[[: {why}]].',
    advice:
      '[[{step} ]]Nothing fails for it; each switch between TensorRT and TensorFlow costs copies, and parts smaller than minimum_segment_size stay in TensorFlow, too. To run all of the model in TensorRT, convert it with tf2onnx and build the ONNX model.',
    source: 'TensorFlow tf2tensorrt/segment/segment.cc; NVIDIA/TensorRT#435, tensorflow/tensorrt#193',
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
    id: 'simplifier-failed',
    code: 'failed',
    pattern: /[Ss]implif(?:ier|ying|ication)[^\n]{0,20} [Ff]ail(?:ure|ed)/,
    severity: 'warning',
    once: true,
    harmless: true,
    cause: 'The simplifier of ONNX models (onnxsim, onnxslim) failed; the export goes on with the model as it was.',
    advice:
      'Where the export succeeds after it, nothing has to be done: models with plugins of TensorRT (EfficientNMS_TRT) cannot be simplified after they are added. Otherwise update onnx and onnxsim or onnxslim, or export with simplify=False.',
    source: 'Ultralytics and YOLOv7 export; Linaom1214/TensorRT-For-YOLO-Series#50',
  },
  {
    id: 'ort-custom-operator',
    code: 'unsupported-op',
    pattern: /(?<=(?<op>\w+)(?:\(-?\d+\))?) is not a registered function\/op/,
    severity: 'error',
    // A simplifier that cannot load the model leaves it as it is.
    named: (_, text) => (/Load model|\(-?\d+\) is not/.test(text) ? {} : { severity: 'warning' }),
    cause:
      'ONNX Runtime does not have the operator {op} of the model: it is a plugin of TensorRT or a custom operator.',
    advice:
      'A model with plugins of TensorRT (…_TRT) is for TensorRT only: build its engine with trtexec, or export it again for ONNX Runtime without them (YOLOv7: --max-wh or without --end2end; others without NMS). Other custom operators need their library: session_options.register_custom_ops_library(PATH).',
    source: 'ONNX Runtime core/graph/graph.cc; WongKinYiu/yolov7#1859, triple-mu/YOLOv8-TensorRT#83',
  },
  {
    id: 'ort-logger-missing',
    code: 'library-mismatch',
    pattern: /Attempt to use DefaultLogger but none has been registered/,
    severity: 'error',
    once: true,
    cause:
      'ONNX Runtime was not set up when a provider started: its libraries are of different releases, or no environment was made.',
    advice:
      'Let onnxruntime and onnxruntime_providers_* come from one package of one release, and remove older copies (an onnxruntime.dll in System32 or next to the program comes first). Create the environment before the options and providers: Ort::Env in C++, OrtEnv.Instance() in C#, `ort::init().commit()` in Rust.',
    sure: 'likely',
    source: 'ONNX Runtime core/common/logging; microsoft/onnxruntime#11572, pykeio/ort#236',
  },
  {
    id: 'ort-input',
    code: 'runtime-shape',
    pattern:
      /Got invalid dimensions for input: (?<input>\S+) for the following indices\s+(?<what>[^\n]+)|Unexpected input data type\. Actual: \(*(?<have>\w+(?:\(\w+\))?)\)* ?, expected: \(*(?<want>\w+(?:\(\w+\))?)|Invalid (?:Feed Input|Output) Name: ?(?<name>\S+)|Invalid input name: ?(?<name2>\S+)|Missing Input: ?(?<name3>\S+)|Invalid rank for input: (?<input2>\S+) Got: (?<rank>\d+) Expected: (?<wanted>\d+)|Required inputs \(\[(?<name4>[^\]]+)\]\) are missing/,
    severity: 'error',
    named: ({ groups: { input, input2, what, have, want, name, name2, name3, name4, rank, wanted } = {} }) => {
      const missing = name3 ?? name4;
      return {
        values: {
          input: undefined,
          what: what
            ? `input ${input} has another size than the model (${what.trim()})`
            : rank
              ? `input ${input2} has ${rank} dimensions and the model ${wanted}`
              : have
                ? `an input is of type ${have} and the model takes ${want}`
                : missing
                  ? `the model also needs ${missing}`
                  : `the model has no input or output ${name ?? name2}`,
        },
      };
    },
    cause: 'What the program gives ONNX Runtime does not fit the model: {what}.',
    advice:
      'Print the names, shapes and types of session.get_inputs(), and give exactly those (NumPy: `.astype(np.float32)`, the size of the export); export with dynamic axes for sizes that vary.',
    source: 'ONNX Runtime core/session/inference_session.cc',
  },
  {
    id: 'ort-file',
    code: 'model-missing',
    pattern:
      /NO_SUCHFILE : [^\n]*?(?:Load model from )?(?<file>(?<!\S)\S+\.\w+) failed|Load model from (?<file2>.+?) failed:\s*(?<why>[^\n]+)|INVALID_PROTOBUF/,
    severity: 'error',
    named: ({ groups: { file, file2, why } = {} }, text) => ({
      values: {
        file: file ?? file2 ?? 'the model',
        why: /NO_SUCHFILE|doesn't exist|No such file/.test(text)
          ? 'the file does not exist'
          : /INVALID_PROTOBUF|[Pp]rotobuf parsing failed/.test(text)
            ? 'it is no complete ONNX file (cut off, a Git LFS pointer, or of another format)'
            : why!.replace(/\.+$/, ''),
      },
    }),
    cause: 'ONNX Runtime cannot load {file}: {why}.',
    advice:
      'Check the path and the size of the file; weights that lie outside of it (model.onnx.data) belong next to it. An opset or IR version that is too new needs a later ONNX Runtime, or an export with an older one.',
    sure: 'likely',
    source: 'ONNX Runtime core/graph/model.cc, error codes',
  },
  {
    id: 'ort-kernel-missing',
    code: 'unsupported-op',
    pattern:
      /(?:Could not find an implementation for|NOT_IMPLEMENTED : [^\n]*?for(?: the node)?) (?:[^\s:]*:)?(?<op>\w+)\((?<opset>\d+)\)/,
    severity: 'error',
    cause: 'No provider of ONNX Runtime computes {op} (opset {opset}) with these types.',
    advice:
      'Add CUDAExecutionProvider and CPUExecutionProvider behind the one of TensorRT, or export with types (FLOAT) and an opset that they have.',
    source: 'ONNX Runtime core/framework/session_state_utils',
  },
  {
    id: 'ort-input-bytes',
    code: 'runtime-shape',
    pattern: /not enough space: expected (?<want>\d+), got (?<have>\d+)/,
    severity: 'error',
    once: true,
    named: ({ groups: { have } = {} }, text) => ({
      values: {
        step: !/ensemble|onnx runtime error|Triton/i.test(text)
          ? 'The length that CreateTensor takes counts bytes for plain memory and elements for typed arrays.'
          : have === '0'
            ? 'Nothing arrived from the step before: see that each value of input_map and output_map has the name, type and dims of both models, and try another release of Triton.'
            : 'Requests of different lengths must not share a batch: pad them to one length, or leave dynamic_batching out; the batch is not in dims where max_batch_size is above 0.',
      },
    }),
    cause: 'An input for ONNX Runtime holds {have} bytes, and its type and shape need {want}.',
    advice: 'Compare the shape and type of that input with the data. {step}',
    source:
      'ONNX Runtime onnxruntime_c_api.cc; triton-inference-server/server#7593, #3776, triton-inference-server/onnxruntime_backend#95',
  },
  {
    id: 'ort-output-shape',
    code: 'model-invalid',
    pattern:
      /OrtValue shape verification failed\. Current shape:(?<have>\{[^}]*\}) Requested shape:(?<want>\{[^}]*\})|Expected shape from model of (?<want2>\{[^}]*\}) does not match actual shape of (?<have2>\{[^}]*\})/,
    severity: 'error',
    named: ({ groups: { have, want, have2, want2 } = {} }) => ({
      values: { have: have ?? have2, want: want ?? want2 },
    }),
    cause:
      'The model says of an output that its shape is other than the one that it computes ({want} and {have}): its export wrote fixed or wrong shapes.',
    advice:
      'Remove the shapes of the outputs and of the values in between from the model, or make them dynamic, and infer them again (`python -m onnxruntime.tools.symbolic_shape_infer --auto_merge`, onnxslim); otherwise export it again with dynamic axes. With caches of engines, delete these.',
    sure: 'likely',
    source: 'ONNX Runtime core/framework/execution_frame.cc; VisoMasterFusion/VisoMaster-Fusion#347',
  },
  {
    id: 'ort-data-transfer',
    code: 'library-missing',
    pattern: /There's no data transfer registered for copying tensors from Device/,
    severity: 'error',
    cause:
      'The program binds tensors on the GPU, and no provider for the GPU is active in the session: that of CUDA or TensorRT could not be loaded.',
    advice:
      'Look for its message at the start of the session, and install the CUDA, cuDNN and TensorRT that this onnxruntime-gpu was built with; `session.get_providers()` must list CUDAExecutionProvider.',
    sure: 'likely',
    source: 'ONNX Runtime core/framework/data_transfer_manager.cc; visomaster/VisoMaster#30',
  },
  {
    id: 'built-without-tensorrt',
    code: 'library-missing',
    pattern:
      /(?<!Tensorflow has )(?:didn'?t|did not|was not|is not|not) (?:been )?(?:compiled?|built?) with (?:TrtBackend|TensorRT|TRT)\b|TensorRT (?:backend )?is not (?:supported|available|enabled) in this (?:build|version)|(?:without|no) TensorRT support/i,
    severity: 'error',
    once: true,
    named: (_, text) => (/fall|continu|skip|disabl|instead|using/i.test(text) ? { severity: 'warning' } : {}),
    cause: 'The program or library was built without TensorRT.',
    advice:
      'Install its package or image with TensorRT (for GPUs, for this CUDA and TensorRT), or compile it with that option (ENABLE_TRT_BACKEND=ON for FastDeploy, --use_tensorrt for ONNX Runtime, WITH_TENSORRT=ON for Paddle).',
    source: 'PaddlePaddle/FastDeploy#2140',
  },
  {
    id: 'fastdeploy-failed',
    code: 'failed',
    pattern:
      /Failed to parse ONNX model by TensorRT|BuildTrtEngine\s+Failed|CreateTrtBackend\s+Load model[^\n]* failed|Failed to create tensorrt engine\b|(?<!assert[^\n]{0,300}|AssertionError: )Failed to create TensorRT (?:engine|builder|network)|TensorRT [Ee]ngine build timed out/,
    severity: 'error',
    once: true,
    named: (_, text) => ({
      values: {
        what: text.includes('timed out') ? 'the build took longer than the program waits' : 'its errors are above',
      },
    }),
    cause: 'The program got no engine from TensorRT: {what}.',
    advice:
      'Look at the first error of TensorRT. If there is none: build the ONNX file once with trtexec --verbose (the parser names the node that it refuses; a build takes minutes, on a small GPU longer), export with fixed or dynamic shapes as the program expects, and keep its cache of engines, so that it builds only once.',
    after: [...EVERY_CAUSE, 'failed'],
    sure: 'possible',
    source: 'PaddlePaddle/FastDeploy#436, VisoMasterFusion/VisoMaster-Fusion#236',
  },
  {
    id: 'provider-list',
    code: 'runtime-failed',
    pattern: /required to explicitly set the providers parameter/,
    cause:
      'The program makes a session of ONNX Runtime without saying which providers it uses, which builds with TensorRT or CUDA need.',
    advice:
      "Pass `providers=['TensorrtExecutionProvider', 'CUDAExecutionProvider', 'CPUExecutionProvider']` to InferenceSession, or update the program, which was written for an ONNX Runtime before 1.9.",
    source: 'ONNX Runtime, onnxruntime_inference_collection.py; microsoft/onnxruntime#16585',
  },
  {
    id: 'provider-profile',
    code: 'profile-inconsistent',
    pattern:
      /TensorRT EP (?:failed to parse (?:input tensor and generate optimization profiles|explicit profiles?)|: [^\n]{0,80}optimization profile)/i,
    cause: 'The TensorRT provider of ONNX Runtime cannot make an optimization profile of the shapes that it has.',
    advice:
      'Give trt_profile_min_shapes, trt_profile_opt_shapes and trt_profile_max_shapes for every dynamic input as `name:1x3x224x224,…`, or none of them, and delete the caches of profiles (.profile) of other shapes. In C and C++ use the V2 options (UpdateTensorRTProviderOptions), or set every field of OrtTensorRTProviderOptions.',
    sure: 'likely',
    source: 'ONNX Runtime tensorrt_execution_provider.cc; microsoft/onnxruntime#14614',
  },
  {
    id: 'provider-failed',
    code: 'failed',
    pattern:
      /TensorRT EP (?:failed to create|could not build|could not deserialize|Failed to Build) [eE]ngine|EP_FAIL : (?<why>[^\n]+)|TensorRT EP failed to create/,
    named: ({ 0: text }) => ({ values: { who: /TensorRT|TRT/i.test(text) ? 'The TensorRT provider' : 'A provider' } }),
    cause: '{who} of ONNX Runtime gave up[[: {why}]].',
    advice:
      'The first error of the provider above is the cause; set log_severity_level=0 and trt_detailed_build_log to see it. Without the provider in the list, or with the CUDA provider after it, the model runs meanwhile.',
    after: EVERY_CAUSE,
    sure: 'possible',
    source: 'ONNX Runtime tensorrt_execution_provider.cc; microsoft/onnxruntime#21567',
  },
  {
    id: 'provider-no-dla',
    code: 'dla-failed',
    pattern: /Try to use DLA core, but platform doesn't have any DLA core/,
    severity: 'warning',
    once: true,
    harmless: true,
    cause: 'The TensorRT provider is to use the DLA, which this machine does not have; it goes on with the GPU.',
    advice: 'Set trt_dla_enable to 0. What fails after that has another cause.',
    source: 'ONNX Runtime tensorrt_execution_provider.cc; microsoft/onnxruntime#17312',
  },
  {
    id: 'vs-mlrt-engine',
    code: 'file-missing',
    pattern: /operator \(\): open engine failed/,
    severity: 'error',
    cause:
      'The plugin of vs-mlrt (vstrt) cannot open the engine file: it does not exist at that path, or trtexec failed to write it.',
    advice:
      'Check the path (on Windows as a raw string, r"…") and the rights of the folder (engine_folder=…). Where vsmlrt.py builds the engine, look at the log of trtexec in the folder for temporary files first.',
    source: 'vs-mlrt vstrt; styler00dollar/VSGAN-tensorrt-docker#18',
  },
  {
    id: 'vs-mlrt-failed',
    code: 'failed',
    pattern:
      /trtexec execution fails,? log has been written to (?<file>\S+)|Command '(?=[^\n]*returned non-zero exit status \d)(?<command>\[?[^\n]{0,200})[^\n]*returned non-zero exit status (?<status>\d+)/,
    cause: 'The program that was to build the engine failed[[; its log is {file}]].',
    advice: 'Diagnose that log; without one, run the command in a terminal with --verbose.',
    after: EVERY_CAUSE,
    sure: 'possible',
    source: 'AmusementClub/vs-mlrt#89, #167',
  },
  {
    id: 'tensorflow-no-tensorrt',
    code: 'library-missing',
    pattern:
      /(?:Linked|Loaded) TensorRT version:? \(?0[,.] ?0[,.] ?0\)?|Tensorflow has not been built with TensorRT support/i,
    // Its converter raises the second as an exception.
    named: ({ 0: text }) => ({ severity: text.includes('0') ? 'warning' : 'error' }),
    once: true,
    cause:
      'This TensorFlow was built without TensorRT, or finds none: TF-TRT converts nothing, and the saved model runs without it.',
    advice:
      "Use a TensorFlow with TensorRT: NVIDIA's container (nvcr.io/nvidia/tensorflow) or wheel for Jetson, or the tensorflow wheel of pip for Linux up to 2.17 with the TensorRT that it was compiled with on LD_LIBRARY_PATH. Windows and later wheels have none.",
    sure: 'likely',
    source: 'TensorFlow trt_convert.py; tensorflow/tensorrt#250',
  },
  {
    id: 'tensorflow-op-version',
    code: 'engine-other-version',
    pattern:
      /NodeDef mentions attr '(?<name>\w+)' not in Op<name=TRTEngineOp|Op type not registered '(?<name2>TRT\w+)'|TF function for the TRT segment could not be empty|GraphDef-interpreting binary is up to date with your GraphDef-generating/,
    severity: 'error',
    once: true,
    named: ({ groups: { name, name2 } = {} }, text) => ({
      values: {
        what: name2
          ? `it does not know ${name2}`
          : name
            ? `it does not know the attribute ${name}`
            : text.includes('segment could not be empty')
              ? 'its TRTEngineOp names the function of the part in another way'
              : 'it lacks an attribute',
      },
    }),
    cause: 'The converted model and the TensorFlow that reads it are of different versions or builds: {what}.',
    advice:
      'Convert with the TensorFlow that runs the model. An unregistered TRTEngineOp also means that this TensorFlow is built without TensorRT, or that `from tensorflow.python.compiler.tensorrt import trt_convert` was not imported before the model was loaded.',
    sure: 'likely',
    source: 'TensorFlow TF-TRT; tensorflow/tensorrt#216',
  },
  {
    id: 'paddle-no-tensorrt',
    code: 'library-missing',
    pattern:
      /Pass tensorrt_subgraph_pass has not been registered|The TRT network should be initialized first|paddle[^\n]{0,60}(?:not compiled|compiled without)[^\n]{0,20}tensorrt/i,
    severity: 'error',
    cause: 'This Paddle was built without TensorRT.',
    advice:
      'Install the wheel or library of Paddle Inference that is compiled with TensorRT, for this CUDA, cuDNN and TensorRT (its download page lists them), or run without use_tensorrt (run_mode=paddle).',
    source: 'PaddlePaddle/PaddleDetection#3892, #5675, PaddlePaddle/Paddle#34689, geoyee/buildseg#5',
  },
  {
    id: 'paddle-tensorrt-library',
    code: 'library-missing',
    pattern: /Load tensorrt (?:api|plugin) ?(?<name>\w+)? failed/,
    severity: 'error',
    cause: 'Paddle does not find the library of TensorRT, or finds one of another version ([[{name} ]]is missing).',
    advice:
      'Install the TensorRT that this Paddle was compiled with, and put its lib folder on LD_LIBRARY_PATH (PATH on Windows) before others.',
    sure: 'likely',
    source: 'Paddle dynload/tensorrt.h; PaddlePaddle/Paddle#34689',
  },
  {
    id: 'paddle-operator',
    code: 'unsupported-op',
    pattern: /no OpConverter for optype \[(?<op>\w+)\]/,
    severity: 'error',
    cause: 'Paddle has no conversion of the operator {op} to TensorRT.',
    advice:
      'Raise min_subgraph_size so that small parts stay in Paddle, exclude it (`config.exp_disable_tensorrt_ops`), or use a later Paddle.',
    source: 'Paddle inference/tensorrt/convert/op_converter.h',
  },
  {
    id: 'paddle-calibration',
    code: 'calibration-failed',
    pattern: /predictor_id_per_thread must be initialized|TensorRTEngineOp::RunCalibration|TRTInt8Calibrator::setBatch/,
    severity: 'error',
    once: true,
    cause: 'Paddle failed while it calibrated INT8 for TensorRT.',
    advice:
      'A model that PaddleSlim quantized has its scales already: use_calib_mode=False. Otherwise calibrate with use_calib_mode=True, data of the shapes of the model and one thread; releases differ here (2.4 fails in its calibration thread), so try a later one, or make the table on another machine. Half (trt_fp16) needs no calibration.',
    after: ['out-of-memory', 'library-missing', 'library-mismatch', 'gpu-unsupported'],
    sure: 'likely',
    source:
      'Paddle trt_int8_calibrator.cc, engine.h; PaddlePaddle/Paddle#34715, PaddlePaddle/Paddle-Inference-Demo#418',
  },
  {
    id: 'paddle-build',
    code: 'failed',
    pattern:
      /Build TensorRT cuda engine failed|Adding (?:input|output) (?<tensor>\S+) failed in TensorRT inference network|Error occurs? in Paddle-?TRT|(?:engine|op_converter|tensorrt_engine_op|trt_engine)\.(?:cc|h):\d+\)/i,
    severity: 'error',
    cause: 'Paddle could not make a TensorRT engine of a part of the model[[, at {tensor}]].',
    advice:
      'An error of TensorRT before this line is the cause. If there is none: give min, max and optimal shapes of every tensor that the parts begin with (collect_shape_range_info, then enable_tuned_tensorrt_dynamic_shape; or set_trt_dynamic_shape_info), or none at all for a model with fixed shapes; raise min_subgraph_size (to 10, 15, …) to leave small parts to Paddle, and workspace_size where memory is short.',
    after: EVERY_CAUSE,
    sure: 'likely',
    source: 'Paddle inference/tensorrt/engine.cc; PaddlePaddle/PaddleOCR#3260',
  },
  {
    id: 'mmdeploy-model',
    code: 'file-missing',
    pattern: /no ModelImpl can read model (?<file>\S+)|Failed to load model:? "(?<file2>[^"]+)", implementations tried/,
    severity: 'error',
    once: true,
    named: ({ groups: { file, file2 } = {} }) => ({ values: { file: file ?? file2 } }),
    cause: 'The SDK of mmdeploy gets a file ({file}) where it takes the folder of a deployed model.',
    advice:
      'Give the folder that tools/deploy.py wrote with --dump-info (it holds deploy.json, pipeline.json, detail.json and end2end.engine).',
    sure: 'likely',
    source: 'mmdeploy csrc/mmdeploy/core/model.cpp; open-mmlab/mmdeploy#1312, #2601',
  },
  {
    id: 'mmdeploy-failed',
    code: 'failed',
    pattern: /`?mmdeploy\.[\w.]+`? with Call id: \d+ failed/,
    severity: 'error',
    once: true,
    cause: 'A step of mmdeploy failed; its reason is above.',
    advice:
      'If no line says why: build its custom operators and see that check_env.py finds them (tensorrt custom ops: Available), use a deployment configuration with a range of shapes that fits the model and the memory, and a TensorRT that supports the GPU.',
    after: [...EVERY_CAUSE, 'failed', 'file-missing'],
    sure: 'possible',
    source: 'mmdeploy pipeline_manager.py; open-mmlab/mmdeploy#780, #962, #2177',
  },
  {
    id: 'vs-mlrt-planes',
    code: 'unknown-input',
    pattern: /operator \(\): expects (?<want>\d+) input planes/,
    severity: 'error',
    cause: 'The model takes {want} planes (channels) of input, and the script gives another number of clips or planes.',
    advice:
      'Use the vsmlrt.py and the models of one release of vs-mlrt, and the function that belongs to the model (RIFE of another generation takes other inputs).',
    source: 'AmusementClub/vs-mlrt#71',
  },
  {
    id: 'ultralytics-exported',
    code: 'runtime-failed',
    pattern:
      /should be a \*\.pt PyTorch model to run this method|'?\.engine'? model loading not implemented|is not a supported model format|Unsupported model type[^\n]*\.engine/,
    severity: 'error',
    cause:
      'The program does with an exported engine what only the PyTorch model can, or its ultralytics is too old for engines.',
    advice:
      'Use the .engine with predict, track and val only: leave out .to(), .cuda(), .half() and .fuse() (give device= to predict), and train and export from the .pt. Update ultralytics, and give task= with an exported model.',
    source: 'ultralytics, engine/model.py; ultralytics/ultralytics#7644, #866',
  },
  {
    id: 'ultralytics-device',
    code: 'library-missing',
    pattern:
      /export running on CPU but must be on GPU|TensorRT requires GPU export[^\n]*CPU|Invalid CUDA 'device=(?<device>[^']*)' requested|cpu is invalid for the backend tensorrt/,
    severity: 'error',
    cause: 'The export to TensorRT needs the GPU, and PyTorch uses the CPU or does not find the GPU.',
    advice:
      'Export with device=0 (--device cuda:0). If that fails, `python -c "import torch; print(torch.cuda.is_available())"` must print True: install a PyTorch with CUDA (on a Jetson the wheel of NVIDIA) and see that nvidia-smi works.',
    source: 'ultralytics and yolov5, export',
  },
  {
    id: 'ort-node-failed',
    code: 'runtime-failed',
    pattern:
      /Non-zero status code returned while running (?<op>\w+) node\. Name: ?'(?<node>[^']*)' ?Status Message: (?<why>[^\n]+)/,
    severity: 'error',
    once: true,
    cause: 'ONNX Runtime failed at the node {node} ({op}): {why}',
    advice:
      'A TRTKernel node is an engine of TensorRT: its errors are above. Otherwise the provider that runs the node has the error: run the model once on CPUExecutionProvider only; if that fails, too, the inputs or the model are wrong, if not, update ONNX Runtime and its CUDA and cuDNN, or leave the provider out.',
    after: [...EVERY_CAUSE, 'failed'],
    sure: 'possible',
    source: 'ONNX Runtime core/framework/sequential_executor.cc',
  },
  {
    id: 'ort-status',
    code: 'failed',
    pattern:
      /\[ONNXRuntimeError\] : \d+ : (?![^\n]{0,400}(?:Shape|Type)InferenceError)(?<status>\w+) : (?<why>[^\n]{3,300})/,
    severity: 'error',
    lastResort: true,
    once: true,
    named: ({ groups: { status } = {} }) => {
      const [what, use] = ORT_STATUS[status!] ?? ORT_STATUS['FAIL']!;
      return { values: { what, use } };
    },
    cause: 'ONNX Runtime gives up: {what} ({why}).',
    advice: '{use} With log_severity_level=0 it says what each provider does.',
    after: EVERY_CAUSE,
    sure: 'possible',
    source: 'ONNX Runtime core/common/status.h',
  },
  {
    id: 'paddle-status',
    code: 'failed',
    pattern:
      /(?:^|[\s(])(?<status>InvalidArgument|NotFound|OutOfRange|ResourceExhausted|PreconditionNotMet|Unimplemented|Unavailable|Fatal|External)(?:Error: | error\. |\) )(?=[^]{0,600}?(?:\[Hint:|[Pp]addle))(?<why>[^\n]{3,200})(?=[^]{0,400}?(?:\[Hint:|[Pp]addle))/,
    severity: 'error',
    lastResort: true,
    once: true,
    named: ({ groups: { status } = {} }) => {
      const [what, use] = PADDLE_STATUS[status!] ?? PADDLE_STATUS['External']!;
      return { values: { what, use } };
    },
    cause: 'Paddle gives up: {what}.',
    advice: '{use} Run the model without use_tensorrt once: if it fails as well, TensorRT has no part in it.',
    after: EVERY_CAUSE,
    sure: 'possible',
    source: 'Paddle phi/core/errors.h',
  },
];

/** What the statuses of ONNX Runtime mean, and what to do. */
const ORT_STATUS: Readonly<Record<string, readonly [what: string, use: string]>> = {
  FAIL: [
    'a check of the runtime or of a provider failed',
    'Run the model on CPUExecutionProvider only: if that fails as well, the model is at fault, otherwise the provider with its CUDA, cuDNN or TensorRT.',
  ],
  INVALID_ARGUMENT: [
    'an input, an option or an attribute does not fit',
    'Compare names, types and shapes of what is fed with session.get_inputs(), and the options of the provider with those of this release.',
  ],
  NO_SUCHFILE: ['the file of the model does not exist', 'Check the path, from the folder that the program runs in.'],
  NO_MODEL: ['no model was loaded', 'Check the path, and the errors before.'],
  ENGINE_ERROR: ['a provider failed inside', 'Look at its errors above.'],
  RUNTIME_EXCEPTION: [
    'a provider failed while it set up the session or ran a node',
    'Most often memory of the GPU ran out, or CUDA, cuDNN and TensorRT are not of the versions that this release of ONNX Runtime was built with: check both, and try CUDAExecutionProvider, then CPUExecutionProvider alone.',
  ],
  INVALID_PROTOBUF: ['the file is no complete ONNX model', 'Copy or export it again, and check its size.'],
  NOT_IMPLEMENTED: [
    'no provider has a kernel for an operator with these types',
    'Add the CUDA and CPU providers to the list, or export with FP32 and an older opset; a later ONNX Runtime has more.',
  ],
  INVALID_GRAPH: [
    'the model is not valid',
    'Check it with onnx.checker and export it again; a conversion to FP16 or a quantization often leaves types that do not fit.',
  ],
  EP_FAIL: ['a provider failed', 'Its errors are above; without it in the list the model runs on the others.'],
};

/** What the statuses of Paddle mean, and what to do. */
const PADDLE_STATUS: Readonly<Record<string, readonly [what: string, use: string]>> = {
  InvalidArgument: [
    'an operator or the predictor got what it does not take (a shape, a type, a value)',
    'Feed the shapes that the model was exported for, export it with the release of Paddle that runs it, and give dynamic shapes of all inputs or of none.',
  ],
  NotFound: [
    'a file, variable or operator is not there',
    'Check the paths of the model and its parameters, and that one release of Paddle exported and runs it.',
  ],
  OutOfRange: ['an index or a size is out of its range', 'Check the inputs and the number of classes of the model.'],
  ResourceExhausted: ['memory ran out', 'Use a smaller batch, input or workspace, or a GPU with more memory.'],
  PreconditionNotMet: [
    'a library or a step that it needs before is missing',
    'Install the CUDA, cuDNN and TensorRT that this wheel of Paddle names, on the path of the loader.',
  ],
  Unimplemented: ['this build does not have that', 'Use a build of Paddle with GPU and TensorRT, or another release.'],
  Unavailable: ['a resource could not be opened', 'Check the paths and the GPU.'],
  Fatal: ['it crashed', 'Try one release of Paddle with the TensorRT and CUDA that it names, and check the memory.'],
  External: [
    'a call of CUDA, cuDNN or TensorRT failed',
    'The number and name in the message say which; check the driver, the free memory of the GPU and that one set of libraries is loaded.',
  ],
};
