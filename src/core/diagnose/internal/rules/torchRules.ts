import type { DiagnosisRule } from '../rule.ts';
import { EVERY_CAUSE } from './everyCause.ts';

/** Torch-TensorRT, torch2trt, and the export of PyTorch models. */
export const TORCH_RULES: readonly DiagnosisRule[] = [
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
      'Use the shapes of the compilation, or compile with torch_tensorrt.Input(min_shape=…, opt_shape=…, max_shape=…) for all that occur. The line of TensorRT above gives the limits.',
    after: ['runtime-shape', 'out-of-memory', 'runtime-failed'],
    sure: 'likely',
    source: 'Torch-TensorRT core/runtime/execute_engine.cpp',
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
    id: 'dynamo-export',
    code: 'unsupported-form',
    pattern:
      /torch\._dynamo\.exc\.(?<name>\w+)|ConstraintViolationError|Constraints violated \(|GuardOnDataDependentSymNode|Could not guard on data-dependent expression|Failed to export the model with torch\.export/,
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
    id: 'binding-arguments',
    code: 'unknown-flag',
    pattern:
      /TypeError: (?<call>[\w.]+)\(\): incompatible (?:function|constructor) arguments|Unable to cast Python instance(?: of type \S+)? to C\+\+ type/,
    severity: 'error',
    cause: 'A call of the Python interface of TensorRT[[ ({call})]] got arguments of other types or in another number.',
    advice:
      'The lines after it list the types that this version takes, and what the script gave ("Invoked with"). None there means that an earlier call failed (a layer, profile or engine that was not made); otherwise the script is for another TensorRT: lists became trt.Dims or tuples, NumPy numbers need int(), and the type ITensor of torch2trt needs its latest version.',
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
