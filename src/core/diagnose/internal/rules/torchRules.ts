import { counted } from '../../../base/text.ts';
import { type DiagnosisRule, EVERY_CAUSE, type RuleContext } from '../rule.ts';

/** Torch-TensorRT's own checks in Python: what was given to it, and how its modules are run. */
const TORCH_CHECKS: readonly DiagnosisRule[] = [
  {
    id: 'torch-trt-inputs',
    code: 'profile-missing',
    pattern:
      /Missing required arguments for class Input|Found that both shape[^\n]{0,40}and one or more of min_shape|Input (?:shape specifications|sizes) for inputs are required|Module input definitions are required|'inputs' should not (?:be used at the same time|(?:both|all) be None)|Invalid input type [^\n]{1,80}encountered (?:during|in) (?:the )?[Dd]ynamo|Invalid input type \([^\n]{1,60}\) found\. Supported types are torch_tensorrt\.Input|Input set as dynamic, expected dictionary|Not all inputs provided are torch\.tensors|Requested an example tensor from a dynamic shaped input/,
    severity: 'error',
    cause: 'The inputs that were given to Torch-TensorRT are not of a form that it takes.',
    advice:
      'Give one list for all inputs of forward: tensors on the GPU (fixed shapes), or torch_tensorrt.Input(min_shape=…, opt_shape=…, max_shape=…, dtype=…) with all three shapes and nothing else for each dynamic one. Pass inputs, or arg_inputs with kwarg_inputs, and not both.',
    source: 'Torch-TensorRT _Input.py, _compile.py, dynamo/utils.py',
  },
  {
    id: 'torch-trt-module-kind',
    code: 'bad-flag-value',
    pattern:
      /Module (?:is an unknown format|was provided in an unsupported format)|Requested using the [\w. -]+ but the [\w. -]+ is not available in this build|Input model is of type nn\.Module\. Saving nn\.Module|Provided model is a torch\.\w+\.\w+ (?:but the output_format|and retrace is True)|doesn't correspond to a valid (?:Torchscript module or )?ExportedProgram|Input graph should be an ExportedProgram but got type|torch\.jit\.ScriptFunctions? currently (?:is|are) not|Torch-TensorRT Runtime is not available|PythonTorchTensorRTModule[^\n]{0,60}not serializable|Python runtime does not support serialization/,
    severity: 'error',
    cause: 'The module, or the format that was asked for, is not one that this call of Torch-TensorRT takes.',
    advice:
      'torch_tensorrt.compile takes an nn.Module; ir="dynamo" gives a GraphModule, ir="ts" a ScriptModule. Save what it gave with torch_tensorrt.save(module, path, inputs=…): output_format="exported_program" (torch.export.load or torch_tensorrt.load reads it) or "torchscript" (torch.jit.load, after `import torch_tensorrt`). torch_tensorrt.dynamo.compile takes what torch.export.export gave. Only modules compiled with use_python_runtime=False can be saved.',
    source: 'Torch-TensorRT _compile.py, dynamo/_compiler.py; pytorch/TensorRT#2652',
  },
  {
    id: 'torch-trt-types',
    code: 'type-mismatch',
    pattern:
      /When use_explicit_typing is enabled, only torch\.float32|does not support float64 \(double\) precision|Provided an unsupported (?:data type|tensor format|memory format)|Provided unsupported (?:source|destination) type for dtype|Unsupported (?:torch|numpy|tensorrt) dtype|Attempted to enable kernel precisions that are not supported|doesn't support fast native int8|Dtype mismatch for \d+th input|Unable to process subgraph input type of at::kLong|Unsupported input data type (?<type>[\w ]+)|Unsupported TypeMeta in ATen|Expected input tensors to have type/,
    severity: 'error',
    cause:
      'Torch-TensorRT does not take the type of an input, a constant or a tensor between two parts of the module[[: {type}]].',
    advice:
      'Cast inputs and buffers in the module: double to float, uint8 and other small integers to int32 or float (`.int()`, `.float()`), and give inputs the dtype of the compilation. INT64 and double pass with truncate_double=True (truncate_long_and_double in older releases; TensorRT has INT64 from 9 on). With use_explicit_typing the module itself has the types (`.half()`) and enabled_precisions stays {torch.float32}. ir="dynamo" takes more than the TorchScript front end; leave the part to PyTorch otherwise (torch_executed_ops).',
    after: ['library-missing', 'gpu-unsupported'],
    sure: 'likely',
    source:
      'Torch-TensorRT _enums.py, dynamo/_compiler.py, core/partitioning/shape_analysis.cpp; pytorch/TensorRT#731, #1455, #2178, #2597',
  },
  {
    id: 'torch-trt-not-set-up',
    code: 'runtime-failed',
    pattern: /Engine has not been (?:setup|initialized) yet|PythonTorchTensorRTModule is not initialized/,
    severity: 'error',
    cause:
      'A module of Torch-TensorRT has no engine yet: it was compiled with lazy_engine_init=True (or for Windows), or copied or loaded without its state.',
    advice:
      'Compile with lazy_engine_init=False, or call setup_engine() of each TorchTensorRTModule in it before it runs or is saved. A module that was compiled for Windows (cross_compile_for_windows) is saved with torch_tensorrt.save_cross_compiled_exported_program and runs there only.',
    after: ['out-of-memory', 'engine-other-version', 'engine-other-device', 'no-implementation', 'library-missing'],
    source: 'Torch-TensorRT dynamo/runtime/_TorchTensorRTModule.py; pytorch/TensorRT#3100',
  },
  {
    id: 'torch-trt-run',
    code: 'runtime-shape',
    pattern:
      /Wrong number of inputs, expect(?:ed)? (?<want>\d+),? (?:got|get) (?<have>\d+)|Encountered dynamic output shapes during runtime|CUDA Graphs are not compatible with OutputAllocator|incompatible with CUDA Graphs|The input size \([^)\n]+\) of dimension \([^)\n]+\) is not in dynamic shape range|Failed to set weight streaming budget|Requested budget is greater than streamable bytes|Streamable bytes are zero/,
    severity: 'error',
    named: ({ groups: { want } = {} }) => ({ values: { takes: want && counted(Number(want), 'input') } }),
    cause:
      'The compiled module of Torch-TensorRT is run in another way than it was compiled for[[ (it takes {takes} and got {have})]].',
    advice:
      'Give the inputs of the compilation, within their shapes. Outputs whose size depends on the data (nonzero, unique, masks) need the output allocator, which cannot be used together with CUDA graphs (torch_tensorrt.runtime.set_cudagraphs_mode(False)). Weight streaming needs enable_weight_streaming=True when compiling, and a budget between 0 and the streamable bytes.',
    after: ['out-of-memory', 'runtime-failed'],
    sure: 'likely',
    source: 'Torch-TensorRT dynamo/runtime',
  },
  {
    id: 'torch-trt-refit',
    code: 'flag-conflict',
    pattern:
      /Refitting is not enabled\. Please recompile|engine provided is either not refittable|New weights module is not compatible with previously compiled|Attempted to refit a cached engine|Refitting [Ff]ailed[.!]|is not found in weight mapping|`REFIT` flag is not compatible|`immutable_weights` (?:must be|has to be) False|type of graph module is not supported for refitting/,
    severity: 'error',
    cause: 'Torch-TensorRT cannot put new weights into the engine of the module.',
    advice:
      'Compile with immutable_weights=False (make_refittable=True up to release 2.5) and refit with a module of the same structure, types and input shapes. Delete the engine cache after other settings. Where weights have no name in the engine, compile again.',
    sure: 'likely',
    source: 'Torch-TensorRT dynamo/_refit.py, _TRTInterpreter.py',
  },
  {
    id: 'torch-trt-full-compilation',
    code: 'unsupported-op',
    pattern:
      /require_full_compilation=True was specified, but model is not fully supported|require_full_compilation is enabled however the list of|Conversion of (?:module (?<name>[^\n]{1,80}?)|(?:method|module of type) \S+) not currently (?:fully )?supported/,
    severity: 'error',
    cause: 'Not every operator of the module[[ {name}]] can be converted, and a whole engine was asked for.',
    advice:
      'Compile without require_full_compilation, so that the rest runs in PyTorch. For an engine of the whole module (convert_exported_program_to_serialized_trt_engine) replace the operators that the dry run lists (dryrun=True: "Graph Structure"), register converters, or go by ONNX.',
    after: ['type-mismatch'],
    source: 'Torch-TensorRT dynamo/partitioning, ts/_compiler.py',
  },
  {
    id: 'torch-trt-small-block',
    code: 'unsupported-op',
    pattern:
      /(?<have>\b\d+) supported operations detected in subgraph containing (?<all>\d+) computational nodes\. Skipping this subgraph, since min_block_size was detected to be (?<least>\d+)/,
    severity: 'warning',
    named: ({ groups: { have, all, least } = {} }) => ({
      values: {
        operators: counted(Number(all), 'operator'),
        why:
          have === '0'
            ? 'none of its operators has a converter'
            : `fewer than min_block_size (${least}) can be converted`,
      },
    }),
    cause: 'A part of the module with {operators} ({have} supported) stays in PyTorch: {why}.',
    advice:
      'Compile with min_block_size=1 to have TensorRT run such parts, too (dryrun=True lists what is supported). Many small parts come from graph breaks: see them with TORCH_LOGS=graph_breaks. Switches between PyTorch and TensorRT cost time, so that it may be slower.',
    source: 'Torch-TensorRT dynamo/_compiler.py; pytorch/TensorRT#2356',
  },
  {
    id: 'torch-trt-dynamic-dimension',
    code: 'unsupported-form',
    pattern:
      /Channel dim can't be dynamic for (?<what>[\w ]+)|Last \d dimensions can't be dynamic for (?<what2>\w+)|Can't chunk on dynamic shape dimension|k value cannot be dynamic|We don't support squeeze dynamic dim|(?<what3>(?<![\w.])[\w.]+) received input [^\n]{1,200} that is not part of the TensorRT region/,
    severity: 'error',
    named: ({ groups: { what, what2, what3 } = {} }) => ({ values: { what: what ?? what2 ?? what3 } }),
    cause:
      'A converter of Torch-TensorRT needs a size or an input that is fixed when compiling, and the module computes it[[: {what}]].',
    advice:
      'Make only the dimensions dynamic that vary (batch, height and width, not channels), give the others as fixed sizes, and take sizes from constants of the model. Otherwise leave the operator to PyTorch (torch_executed_ops).',
    source: 'Torch-TensorRT dynamo/conversion/impl',
  },
  {
    id: 'torch-trt-program-load',
    code: 'model-unreadable',
    pattern: /recording\.py:\d+\] failed while running evaluate_expr\(|\bSerializeError: /,
    severity: 'error',
    once: true,
    cause:
      'PyTorch cannot read or write the compiled module as an exported program: what it says of the dynamic dimensions or of the engine was lost or cannot be stored.',
    advice:
      'Use a later Torch-TensorRT with its PyTorch (2.5 and later keep the ranges of dynamic dimensions), save with torch_tensorrt.save(module, path, inputs=[…]) and load with torch_tensorrt.load after `import torch_tensorrt`. Where that fails: fix the shapes, save with output_format="torchscript", keep use_python_runtime=False, or compile again at the start (engine_cache_dir saves the time).',
    after: ['bad-flag-value', 'type-mismatch'],
    sure: 'likely',
    source: 'PyTorch torch/fx/experimental/recording.py; pytorch/TensorRT#2652, #3108, #3205',
  },
];

/** What calls that are often given something else take. */
const CALLS: Readonly<Record<string, string>> = {
  parse: 'It takes the bytes of the model (`open(path, "rb").read()`); for a path call parse_from_file(path).',
  parse_from_file: 'It takes the path of the model as a str; for bytes call parse(data).',
  deserialize_cuda_engine: 'It takes the bytes of the engine (`open(path, "rb").read()`), not its path.',
  set_tensor_address:
    'It takes the name and an address as int: tensor.data_ptr() of PyTorch, array.data.ptr of CuPy, int(buffer) of PyCUDA.',
  execute_async_v3:
    'It takes the handle of a stream as int (stream_handle): stream.cuda_stream of PyTorch, stream.ptr of CuPy, stream.handle of PyCUDA.',
  execute_v2: 'It takes a list of addresses as int, one for each input and output.',
  set_input_shape: 'It takes the name and a tuple of int.',
  create_network: 'It takes an int: `1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED)`, or 0.',
  set_memory_pool_limit: 'It takes the pool and a number of bytes as int (`1 << 30`).',
  __init__:
    'Objects of TensorRT are made with a logger: `trt.Builder(logger)`, `trt.Runtime(logger)`, `trt.OnnxParser(network, logger)`.',
  set_shape: 'It takes the name and three tuples of int: min, opt and max.',
};

/** Torch-TensorRT, torch2trt, and the export of PyTorch models. */
export const TORCH_RULES: readonly DiagnosisRule[] = [
  ...TORCH_CHECKS,
  {
    id: 'torchscript-runtime-missing',
    code: 'library-missing',
    pattern:
      /Unknown type name '__torch__\.torch\.classes\.tensorrt\.Engine'|torch\.classes\.tensorrt[^\n]*(?:does not exist|has no attribute)/,
    severity: 'error',
    cause:
      'The TorchScript file holds TensorRT engines, and the program has not loaded the runtime of Torch-TensorRT that runs them.',
    advice:
      'Python: `import torch_tensorrt` before torch.jit.load. C++: link libtorchtrt_runtime.so and keep it (`-Wl,--no-as-needed -ltorchtrt_runtime`), or dlopen it. Its version must be that of the compilation, and the GPU one of the same kind.',
    source: 'pytorch/TensorRT#632, #1045, #1567, #1651, #2088, #3766',
  },
  {
    id: 'torch-trt-abi',
    code: 'engine-other-version',
    pattern: /targets (?:a different Torch-TensorRT ABI [Vv]ersion|an incompatible Torch-TensorRT ABI)/,
    severity: 'error',
    cause: 'The module was compiled with another release of Torch-TensorRT than the one that loads it.',
    advice: 'Compile it again with the installed release, or install the one of the compilation with its PyTorch.',
    source: 'Torch-TensorRT core/runtime/TRTEngine.cpp',
  },
  {
    id: 'torch-trt-device',
    code: 'engine-other-device',
    pattern: /No compatible device (?:found on system to run program|was found for instantiating TensorRT engine)/,
    severity: 'error',
    cause: 'The module was compiled for another kind of GPU than those of this machine.',
    advice:
      'Compile it on this GPU, or with hardware_compatible=True (from Ampere on). If it is the same GPU, see that CUDA_VISIBLE_DEVICES shows it.',
    source: 'Torch-TensorRT core/runtime/TRTEngine.cpp, execute_engine.cpp',
  },
  {
    id: 'torch-trt-shape',
    code: 'runtime-shape',
    pattern:
      /Error while setting the (?:input shape|(?:input |output )?tensor address)|The shapes of the inputs: [^\n]*cannot be inferred/,
    severity: 'error',
    cause: 'An input of the compiled module has a shape that its engine does not take.',
    advice:
      'Use the shapes of the compilation, or compile with torch_tensorrt.Input(min_shape=…, opt_shape=…, max_shape=…) for all that occur. The line of TensorRT above gives the limits. With an engine cache (engine_cache_dir), clear it: early releases took engines of other shapes from it.',
    after: ['runtime-shape', 'out-of-memory', 'runtime-failed'],
    sure: 'likely',
    source: 'Torch-TensorRT core/runtime/execute_engine.cpp; pytorch/TensorRT#3148',
  },
  {
    id: 'torch-trt-runtime',
    code: 'runtime-failed',
    pattern:
      /\[Error thrown at core\/(?:runtime|execution)\/[^\]]*\](?![^\n]*(?:cuda_engine\.get\(\) != nullptr|ABI|most_compatible_device|setInputShape))|Could not find a TensorRT engine binding for (?:in|out)put named/,
    severity: 'error',
    cause:
      'The runtime of Torch-TensorRT stopped at a check: the engine in the module is not what it expects (names, number or shapes of inputs), most often because another release compiled it.',
    advice:
      'Compile and save the module again with the release that runs it, give all inputs of the compilation on the GPU, and run one module from one thread at a time. If it stays, compile with ir="dynamo" and the latest release.',
    after: EVERY_CAUSE,
    sure: 'possible',
    source: 'Torch-TensorRT core/runtime; pytorch/TensorRT#1550',
  },
  {
    id: 'torch-trt-conversion',
    code: 'unsupported-op',
    pattern:
      /Target (?<name3>aten\.[\w.]+) does not support|Conversion of function (?<name>\S+) not currently supported|UnsupportedOperatorException|Unable to (?:convert|get schema for)(?: node)?:? (?<name2>[^\n(]{0,200})|Could not find schema for[^\n]*/,
    severity: 'error',
    named: ({ groups: { name, name2, name3 } = {} }) => ({
      values: { name: name ?? name3 ?? /\baten::\w+|\bprim::\w+/.exec(name2 ?? '')?.[0] },
    }),
    cause: 'Torch-TensorRT has no converter for an operator of the module[[: {name}]], or not in this form.',
    advice:
      'Leave it to PyTorch: name it in torch_executed_ops and compile without require_full_compilation (to convert a whole module to an engine every operator needs a converter). A later Torch-TensorRT has more converters, and the Dynamo front end (ir="dynamo") more than TorchScript.',
    after: ['out-of-memory'],
    source: 'Torch-TensorRT dynamo/conversion/_TRTInterpreter.py, core/conversion',
  },
  {
    id: 'torch-trt-partition',
    code: 'unsupported-form',
    pattern:
      /\[Error thrown at core\/(?<part>partitioning|lowering|conversion|ir|util)\/[^\]]*\] (?!Building TensorRT engine failed)(?<why>[^\n]+)|Expected \w+ but got (?:Uninitialized|None|GenericDict|Tuple)|ivalues_maps|mini graph input/,
    severity: 'error',
    named: ({ groups: { part } = {} }) => ({
      values: {
        what:
          part === 'conversion'
            ? 'a converter does not take an operator of the module in this form'
            : 'the TorchScript graph cannot be divided into parts for TensorRT and PyTorch, mostly for branches, loops, values that are set in place (x[i] = …), or inputs that are not tensors',
      },
    }),
    cause: 'The TorchScript front end of Torch-TensorRT stopped: {what}.',
    advice:
      'Compile with ir="dynamo" (torch_tensorrt.dynamo.compile), which replaced this front end. To stay with it: trace the module (torch.jit.trace) in place of scripting it, replace what is set in place by torch.where or cat, leave modules to PyTorch (torch_executed_modules), and use the latest release.',
    after: EVERY_CAUSE,
    sure: 'likely',
    source: 'Torch-TensorRT core/; pytorch/TensorRT#922, #1410, #1536, #1687, #1823',
  },
  {
    id: 'torchscript-frontend',
    code: 'unsupported-form',
    pattern:
      /expected type comment but found|torch\.jit\.frontend\.\w+Error|Could not export Python function call|Unknown builtin op: |Python builtin [^\n]{1,80} is currently not supported in Torchscript|Compiled functions can't take variable number of arguments|torch\.jit\.\w*[Tt]racingCheckError|isn't a function in TorchScript|Module '[^']+' has no attribute '[^']+' ?\(This (?:attribute|function)/,
    severity: 'error',
    cause: 'PyTorch cannot turn the module into TorchScript: its Python code uses what that language does not have.',
    advice:
      'Trace it: `torch.jit.trace(model.eval(), example)` records the operators in place of reading the code (a wrong `# type:` comment or a decorator also stops the reading). Or avoid TorchScript: torch_tensorrt.compile(model, ir="dynamo"), or torch.onnx.export. TensorRT is not what fails.',
    source: 'PyTorch torch/jit/frontend.py; pytorch/TensorRT#820',
  },
  {
    id: 'torch-autograd',
    code: 'unsupported-form',
    pattern: /Autograd has not been implemented for operator/,
    severity: 'error',
    cause: 'PyTorch compiles the module with gradients, and an operator that TensorRT is to run has none.',
    advice:
      'Compile and call it without gradients: `model.eval()` and `with torch.inference_mode():` (or torch.no_grad()) around torch.compile and the call. A later Torch-TensorRT does that itself.',
    source: 'PyTorch; pytorch/TensorRT#2328',
  },
  {
    id: 'dynamo-export',
    code: 'unsupported-form',
    pattern:
      /torch\._dynamo\.exc\.(?!BackendCompilerFailed)(?<name>\w+)|ConstraintViolationError|Constraints violated \(|GuardOnDataDependentSymNode|Could not guard on data-dependent expression|Failed to export the model with torch\.export/,
    severity: 'error',
    once: true,
    named: (_, text) => ({
      values: {
        what: /[Cc]onstraint/.test(text)
          ? 'a dimension that is declared dynamic is fixed by its code, or the other way round'
          : /data-dependent|DataDependent/.test(text)
            ? 'a shape or a branch depends on values of tensors'
            : 'its Python code has something that torch.export cannot follow',
      },
    }),
    cause: 'PyTorch could not capture the module as a graph: {what}.',
    advice:
      'The lines after it name the place in the code. Give the dimensions that it proposes (torch.export.Dim, or torch_tensorrt.Input with min, opt and max), fix the shapes, or rewrite that place (torch.cond, torch.where, torch._check). `TORCH_LOGS="+dynamic"` says more; torch.compile(backend="tensorrt") leaves such places to Python.',
    after: ['out-of-memory', 'library-missing'],
    sure: 'likely',
    source: 'PyTorch torch._dynamo and torch.export; Torch-TensorRT docs',
  },
  {
    id: 'onnx-export-amax',
    code: 'quantization',
    pattern: /Expected node type 'onnx::Constant' for argument '(?<name>\w*(?:amax|scale|zero_point)\w*)' of node/,
    severity: 'error',
    cause:
      'The export to ONNX needs {name} of a node as a constant, and the model computes it while it runs. Where it is of a quantizer, that quantizer has no value from a calibration, or one for each channel or block of its input.',
    advice:
      'Calibrate before the export (`mtq.quantize(model, config, forward_loop)` with data that reaches every layer) and quantize activations statically, with one scale per tensor: INT8_DEFAULT_CFG or FP8_DEFAULT_CFG, not a dynamic or per-channel one for FP8. For another operator give the argument as a number.',
    sure: 'likely',
    source: 'PyTorch torch/onnx/symbolic_helper.py; NVIDIA/Model-Optimizer#621',
  },
  {
    id: 'onnx-export-constant',
    code: 'unsupported-form',
    pattern: /Expected node type 'onnx::Constant' for argument '(?<name>\w+)' of node(?: '(?<what>[\w:]+)')?/,
    severity: 'error',
    cause:
      'The export to ONNX needs {name} of a node[[ ({what})]] as a constant, and the model computes it while it runs.',
    advice:
      'Give it as a plain number in the code of the model, or fix the input sizes that it is computed from; `torch.onnx.export(…, dynamo=True)` and later releases of PyTorch take more. TensorRT is not what fails.',
    source: 'PyTorch torch/onnx/symbolic_helper.py',
  },
  {
    id: 'onnx-export-translation',
    code: 'unsupported-op',
    pattern: /\(Occurred when translating (?<op>\w+)\)/,
    severity: 'error',
    once: true,
    named: ({ groups: { op } = {} }) => ({
      values: {
        op,
        use:
          op === 'scaled_dot_product_attention'
            ? 'Load the model with attn_implementation="eager" (diffusers: pipe.unet.set_attn_processor(AttnProcessor())), or give `scale` as None or a float and no dropout.'
            : 'Give its arguments as plain numbers, or rewrite that call in the code of the model.',
      },
    }),
    cause:
      'The export to ONNX failed at the operator {op}: this PyTorch cannot write it with the arguments that the model gives.',
    advice:
      '{use} A later PyTorch, the newest opset, or `torch.onnx.export(…, dynamo=True)` write more. TensorRT is not what fails.',
    sure: 'likely',
    source: 'PyTorch torch/onnx/utils.py; NVIDIA/TensorRT#4089',
  },
  {
    id: 'onnx-export-operator',
    code: 'unsupported-op',
    pattern:
      /Exporting the operator '?(?<op>[\w:.]+)'? to ONNX opset version (?<opset>\d+) is not supported|ONNX export (?:failed|of operator)[^\n]{0,40}?(?:export |operator )(?<op2>[\w:]+)|torch\.onnx\.errors\.(?:Unsupported\w+|SymbolicValue)Error/,
    severity: 'error',
    cause:
      'The export to ONNX has no form for an operator of the model[[ ({op}, opset {opset})]], so there is no model to build.',
    advice:
      'Export with the newest opset that the TensorRT reads (opset_version=17 and later), with a later PyTorch, or with `torch.onnx.export(…, dynamo=True)`. Otherwise rewrite that part of the model, or register a symbolic (torch.onnx.register_custom_op_symbolic).',
    source: 'PyTorch torch/onnx',
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
    id: 'torch2trt-output',
    code: 'unsupported-form',
    pattern: /'(?<type>list|tuple|dict|NoneType|float|int|bool|str|Parameter)' object has no attribute '_trt'/,
    named: ({ groups: { type } = {} }) => ({
      values: {
        what:
          type === 'Parameter'
            ? 'a parameter of the model is used in an operator whose converter takes only tensors that were converted'
            : `an input or output of the module, or an argument of an operator, is a ${type} and no tensor`,
      },
    }),
    cause: 'The conversion by torch2trt stopped: {what}.',
    advice:
      'Wrap the module in one whose forward takes and returns tensors, or a flat tuple of them, and convert that; take what comes before and after out of it. A later torch2trt flattens nested outputs and has more converters.',
    sure: 'likely',
    source: 'NVIDIA-AI-IOT/torch2trt#260 and torch2trt.py',
  },
  {
    id: 'torch2trt-converter',
    code: 'unsupported-op',
    pattern: /has no attribute '_trt'/,
    once: true,
    after: ['unsupported-type'],
    named: (_, __, context) => ({ values: { names: methodsIn(context) } }),
    cause: 'A method that the model calls before has no converter in torch2trt[[: {names}]].',
    advice:
      'Rewrite the module without it, add a converter (`@tensorrt_converter`), or go by ONNX: torch.onnx.export, then trtexec. The last frames of the traceback show which layer got a tensor that torch2trt does not know.',
    source: 'NVIDIA-AI-IOT/torch2trt torch2trt.py; NVIDIA-AI-IOT/torch2trt#15, #48, #150',
  },
  {
    id: 'torch2trt-unconverted',
    code: 'unsupported-op',
    pattern: /known unsupported method (?<name>[\w.]+)/,
    severity: 'warning',
    once: true,
    harmless: true,
    named: (_, __, context) => ({ values: { names: methodsIn(context) } }),
    cause:
      'Methods of the model have no converter in torch2trt[[: {names}]]; the engine has what they gave for the example input as constants.',
    advice:
      'That is fine for what does not depend on the values of the input (shapes, types, devices). Otherwise the engine gives wrong results, or the conversion stops at the next layer: compare its output with that of PyTorch for another input, rewrite the module without these methods, add a converter (`@tensorrt_converter`), or go by ONNX.',
    source: 'NVIDIA-AI-IOT/torch2trt torch2trt.py; NVIDIA-AI-IOT/torch2trt#736, #763',
  },
  {
    id: 'binding-layer-for-tensor',
    code: 'unknown-flag',
    pattern:
      /Invoked with: <tensorrt[\w.]*INetworkDefinition object[^>\n]*>,[^\n]*<tensorrt[\w.]*\.(?<kind>I\w+Layer) object/,
    severity: 'error',
    cause: 'A call that adds a layer got a layer ({kind}) where it takes a tensor.',
    advice: "Pass the layer's output: `layer.get_output(0)`.",
    source: 'TensorRT python pyGraph.cpp; NVIDIA/TensorRT#2594',
  },
  {
    id: 'binding-none',
    code: 'failed',
    pattern:
      /TypeError: (?:\w+\.)*(?<call>\w+)\(\): incompatible (?:function|constructor) arguments(?![\s\S]*\(self: (?:onnxruntime|torch|pycuda|cv2|pyds)\.)[\s\S]*?Invoked with:(?=[^\n]*(?:, |: )None\b)/,
    severity: 'error',
    named: ({ groups: { call } = {} }) => ({
      values: {
        use: /plugin/.test(call!)
          ? 'It is the plugin: create_plugin() gave none. Its fields must have the names and types of this version (PluginField of int32 or float32 arrays that are kept alive), and the creator must be that of the version; plugins of TensorRT changed theirs between releases, so use the one that the script was written for.'
          : /deserialize/.test(call!)
            ? 'It is the engine: build_serialized_network() gave none, and an error of TensorRT before says why.'
            : /^add_|mark_output/.test(call!)
              ? 'It is a tensor or a layer: the add_ call that should give it was refused, and an error of TensorRT before says why.'
              : 'An error of TensorRT before says why.',
      },
    }),
    cause: 'The script gives None to {call}() of TensorRT, because the call before that should give an object failed.',
    advice: '{use} Check each object for None where it is made.',
    after: EVERY_CAUSE.filter((code) => code !== 'internal'),
    sure: 'likely',
    source: 'pybind11; Linaom1214/TensorRT-For-YOLO-Series#68',
  },
  {
    id: 'python-base-init',
    code: 'failed',
    pattern:
      /TypeError: (?:(?:\w+\.)*tensorrt\w*\.(?=[A-Z])|(?=I[A-Z]))(?<base>\w+)\.__init__\(\) must be called when overriding __init__/,
    severity: 'error',
    cause: 'A class of the script that derives from {base} of TensorRT does not call the constructor of {base}.',
    advice: 'Begin its __init__ with `trt.{base}.__init__(self)`, once for each base class of TensorRT.',
    source: 'pybind11; built with TensorRT 10.6',
  },
  {
    id: 'binding-arguments',
    code: 'unknown-flag',
    pattern:
      /TypeError: (?<call>[\w.]+)\(\): incompatible (?:function|constructor) arguments(?![\s\S]*\(self: (?:onnxruntime|torch|pycuda|cv2|pyds)\.)|Unable to cast Python instance(?: of type \S+)? to C\+\+ type/,
    severity: 'error',
    named: ({ groups }) => ({ values: { use: CALLS[groups!['call']?.split('.').at(-1) ?? ''] } }),
    cause: 'A call of the Python interface of TensorRT[[ ({call})]] got arguments of other types or in another number.',
    advice:
      '[[{use} ]]The lines after it list the types that this version takes, and what the script gave ("Invoked with"). None there means that an earlier call failed (a layer, profile or engine that was not made); otherwise the script is for another TensorRT: lists became trt.Dims or tuples, NumPy numbers need int(), and the type ITensor of torch2trt needs its latest version.',
    after: EVERY_CAUSE,
    sure: 'likely',
    source: 'pybind11; NVIDIA/TensorRT python',
  },
  {
    id: 'driver-error-empty',
    code: 'library-mismatch',
    pattern: /RuntimeError: (?:Driver error|CUDA driver error|CUDA initialization error):\s*$/m,
    severity: 'error',
    cause: 'TensorRT could not use CUDA when the build began: its driver, CUDA, cuDNN or cuBLAS do not fit.',
    advice:
      'See that `nvidia-smi` works and that TensorRT, CUDA, cuDNN and PyTorch are for the same CUDA (its support matrix), with one set on LD_LIBRARY_PATH; build one model with trtexec to see what TensorRT itself says.',
    after: EVERY_CAUSE,
    sure: 'possible',
    source: 'TensorRT Python bindings; Megvii-BaseDetection/YOLOX#232',
  },
  {
    id: 'hub-model',
    code: 'model-missing',
    pattern:
      /(?<=(?<name>\S+) )is not a local folder and is not a valid model identifier|GatedRepoError|(?:Access to|Cannot access gated repo for) [^\n]*(?:gated|restricted)|(?<=(?<name2>\S+) )does not appear to have (?:a file|files) named (?<file>[\w.-]+)|Repo id must (?:be in the form|use alphanumeric)|We couldn't connect to 'https:\/\/huggingface\.co(?![^\n]*using)/,
    severity: 'error',
    once: true,
    named: ({ groups: { name, name2, file } = {} }, text) => ({
      values: {
        name: name ?? name2,
        why: /[Gg]ated|restricted/.test(text)
          ? 'it is restricted, and this account has no access'
          : file
            ? `it has no ${file}`
            : /couldn't connect/.test(text)
              ? 'the server cannot be reached'
              : 'no folder and no repository has that name',
      },
    }),
    cause: 'The model[[ {name}]] cannot be loaded from Hugging Face or from a folder: {why}.',
    advice:
      'Check the name or the path (as seen inside the container; with config.json, tokenizer and weights in it). For a restricted model accept its conditions on its page and log in (`huggingface-cli login`, HF_TOKEN); without a connection download it before and give the folder. TensorRT is not what fails.',
    source: 'transformers and huggingface_hub',
  },
  {
    id: 'hub-version',
    code: 'library-mismatch',
    pattern:
      /model type `(?<name>[\w.-]+)` but Transformers does not recognize|Should have a `model_type` key in its config\.json|set the option `trust_remote_code=True`|does not recognize this architecture|`rope_scaling` must be a dictionary/,
    severity: 'error',
    once: true,
    named: ({ groups: { name } = {} }, text) => ({
      values: {
        what: name
          ? `it does not know the architecture ${name}`
          : text.includes('rope_scaling')
            ? 'the settings of the model (rope_scaling) are of a newer one'
            : text.includes('trust_remote_code')
              ? 'the model brings its own code, which has to be allowed'
              : 'the folder has no config.json of a model',
      },
    }),
    cause: 'The library transformers cannot load the model: {what}.',
    advice:
      'Update transformers (to what this release of TensorRT-LLM or of the program allows) for a newer model; pass trust_remote_code=True (--trust_remote_code) where you trust its code; give the folder of the original model, with its config.json, not one of a converted checkpoint.',
    source: 'transformers',
  },
  {
    id: 'checkpoint-unreadable',
    code: 'model-unreadable',
    pattern:
      /Weights only load failed|WeightsUnpickler error|UnpicklingError: (?<why>[^\n]+)|PytorchStreamReader failed|Error\(s\) in loading state_dict for (?<name>\w+)|size mismatch for [\w.]+: copying a param|invalid header or archive is corrupted|Error while deserializing header/,
    severity: 'error',
    once: true,
    named: ({ groups: { name } = {} }, text) => ({
      values: {
        what: /[Ww]eights ?[Oo]nly|WeightsUnpickler/.test(text)
          ? 'PyTorch 2.6 and later read weights only by default, and the file holds objects of Python'
          : name || /size mismatch/.test(text)
            ? `its weights are not those of this ${name ?? 'network'} (another variant or number of classes)`
            : 'it is damaged, incomplete, or of another kind',
      },
    }),
    cause: 'The checkpoint cannot be loaded, so there is no model to build: {what}.',
    advice:
      'For "weights only": if you trust the file, torch.load(…, weights_only=False), an update of the program, or PyTorch 2.5. For other weights: give the configuration (variant, classes) that the model was trained with. Otherwise download the file again and compare its size: a Git LFS pointer has a hundred bytes.',
    source: 'PyTorch torch/serialization.py and nn/modules/module.py; safetensors',
  },
];

/** Methods whose result does not depend on the values of a tensor. */
const OF_NO_VALUES =
  /has_torch_function|is_grad_enabled|get_default_dtype|has_names|__(?:hash|new|len|bool|repr|format|iter)__|\.(?:numel|size|dim|stride|is_\w+|type|device|cpu|cuda|to|detach|clone|contiguous|storage\w*|data_ptr)$/;

/** The methods without a converter that may matter, the last ones. */
function methodsIn({ unconverted }: RuleContext): string | undefined {
  const names = unconverted.filter((name) => !OF_NO_VALUES.test(name));
  return names.length === 0 ? undefined : names.slice(-4).join(', ');
}
