import { type DiagnosisRule, EVERY_CAUSE } from '../rule.ts';

const NO_HEADER =
  'Open engines and ONNX models with mode "rb" (`open(path, "rb")`): they are binary. Ultralytics writes its metadata before the engine: it cannot read an engine that trtexec or another script wrote, so build it with `yolo export format=engine`, or update ultralytics, which later takes such engines. The reverse, another program with an engine of Ultralytics: cut that header off (4 bytes with its length, then the JSON). Otherwise check the file\'s encoding, and use paths without letters outside ASCII.';
const UTF8 =
  'Start it with PYTHONUTF8=1 (Windows: `set PYTHONUTF8=1`), keep its paths and files free of letters outside ASCII, or give `encoding="utf-8"` to open() at the place that the traceback shows.';

/** What exceptions of Python, NumPy, PyTorch and OpenCV mean that no other rule knows: whatever else failed comes first. */
export const PYTHON_RULES: readonly DiagnosisRule[] = [
  {
    id: 'python-not-overridden',
    code: 'library-mismatch',
    pattern: /Method: (?<name>\w+) was not overrid+en/,
    severity: 'error',
    named: ({ groups: { name } = {} }) => ({
      values: {
        of: /calibration|get_batch|get_algorithm/.test(name!)
          ? 'calibrator'
          : /allocate|reallocate/.test(name!)
            ? 'allocator'
            : /report_layer/.test(name!)
              ? 'profiler'
              : 'class',
      },
    }),
    cause:
      'TensorRT calls {name}() of a Python {of}, which does not define it: the class is written for another version.',
    advice:
      'Define {name} in that class (a calibrator needs get_batch_size, get_batch, read_calibration_cache and write_calibration_cache: return None from the reading one and do nothing in the writing one if there is no cache), and call the constructor of its base class (`trt.IInt8EntropyCalibrator2.__init__(self)`). Where it belongs to a package such as torch2trt, update that.',
    source: 'TensorRT python/include/utils.h; NVIDIA-AI-IOT/torch2trt#446',
  },
  {
    id: 'torch-without-ndim',
    code: 'library-mismatch',
    pattern: /'Tensor' object has no attribute 'ndim'/,
    severity: 'error',
    cause: 'The installed PyTorch is too old for this program: its tensors have no ndim, which came with PyTorch 1.2.',
    advice:
      'Install a later PyTorch (on a Jetson the wheel of NVIDIA for its JetPack), or a release of the program from before (for torch2trt one of August 2020 or older).',
    sure: 'likely',
    source: 'PyTorch; NVIDIA-AI-IOT/torch2trt#413, NVIDIA-AI-IOT/trt_pose#66',
  },
  {
    id: 'python-module-attribute',
    code: 'library-mismatch',
    pattern:
      /^AttributeError: (?<kind>module|type object|partially initialized module) '(?<module>[^'\n]+)' has no attribute '(?<name>[^'\n]+)'/m,
    severity: 'error',
    lastResort: true,
    named: ({ groups: { kind, module } = {} }) => ({ values: { file: kind === 'type object' ? undefined : module } }),
    cause: '{module}, as it is installed here, has no {name}: the program is for another version of it.',
    advice:
      "Install the version that the program's requirements name, or update the program.[[ `print({file}.__file__)` shows what is loaded: a file or folder of that name next to the script, or half an installation, hides the package.]]",
    after: EVERY_CAUSE,
    sure: 'likely',
    source: 'Python; NVIDIA/Model-Optimizer#31, NVIDIA-AI-IOT/torch2trt#510',
  },
  {
    id: 'python-kind',
    code: 'failed',
    pattern:
      /^(?:AttributeError|TypeError): '(?<kind>(?!NoneType)[\w.]+)' object (?:has no attribute '(?<name>\w+)'|(?<not>is not \w+|does not support [\w ]+))|^TypeError: cannot unpack non-iterable (?<kind2>(?!NoneType)[\w.]+) object/m,
    severity: 'error',
    lastResort: true,
    named: ({ groups: { kind, kind2, name, not } = {} }) => ({
      values: { kind: kind ?? kind2, how: name ? `has no ${name}` : (not ?? 'has no elements to unpack') },
    }),
    cause: 'The program has an object of the kind {kind} where it expects another: it {how}.',
    advice:
      'Either the package that it is from is of another version than the program is written for (compare with its requirements), or the call before gave something else, such as a list of outputs in place of one: print it there.',
    after: EVERY_CAUSE,
    sure: 'possible',
    source: 'Python',
  },
  {
    id: 'python-lookup',
    code: 'failed',
    pattern:
      /^(?:KeyError: (?<key>'[^'\n]{1,80}')|ValueError: (?<item>'[^'\n]{1,80}') is not in (?:list|tuple)|IndexError: (?<index>(?:list|tuple|index \d+)[^\n]{0,60}out of (?:range|bounds)))/m,
    severity: 'error',
    lastResort: true,
    named: ({ groups: { key, item, index } = {} }) => ({
      values: {
        what: index ? 'more outputs, inputs or elements than there are' : `${key ?? item}, which is not there`,
      },
    }),
    cause: 'The program asks for {what}.',
    advice:
      'The engine, model or configuration is of another kind than the program expects. Compare the names and the number of inputs and outputs of the engine (`trtlens`, or engine.get_tensor_name(i)) with those in the code, and export the model with the script that belongs to the program (with or without NMS, for example).',
    after: EVERY_CAUSE,
    sure: 'possible',
    source: 'Python; triple-Mu/YOLOv8-TensorRT#33',
  },
  {
    id: 'python-binary-text',
    code: 'failed',
    pattern: /^UnicodeDecodeError: '(?<code>[\w-]+)' codec can't decode byte/m,
    severity: 'error',
    lastResort: true,
    named: ({ groups: { code } = {} }) =>
      /^utf-?8$/i.test(code!)
        ? { values: { what: 'as text that is binary, or the header of an engine that has none', use: NO_HEADER } }
        : {
            values: {
              what: `in the encoding of the system (${code}), and it is in another, most often UTF-8`,
              use: UTF8,
            },
          },
    cause: 'The program reads a file {what}.',
    advice: '{use}',
    after: EVERY_CAUSE,
    sure: 'likely',
    source: 'Ultralytics autobackend.py; triple-Mu/YOLOv8-TensorRT#47',
  },
  {
    id: 'python-open-size',
    code: 'runtime-shape',
    pattern:
      /^(?:ValueError: (?:negative dimensions are not allowed|array is too big|Maximum allowed dimension exceeded)|RuntimeError: Trying to create tensor with negative dimension -\d+)/m,
    severity: 'error',
    lastResort: true,
    cause:
      'The program makes a buffer with the size of a dynamic dimension, which is -1 (or a number that is no size).',
    advice:
      'Set the shapes of the inputs first (context.set_input_shape) and take the sizes of the outputs from the context (context.get_tensor_shape); one that stays -1 depends on the data (NonZero, NMS) and needs an output allocator (context.set_output_allocator, get_max_output_size). Or build with fixed shapes. In Torch-TensorRT use ir="dynamo" or fixed shapes. For YOLO of Ultralytics export the engine with the same release that loads it.',
    after: EVERY_CAUSE,
    sure: 'likely',
    source: 'NumPy, PyTorch; ultralytics/ultralytics#13548, pytorch/TensorRT#775, #1113',
  },
  {
    id: 'python-sizes',
    code: 'failed',
    pattern:
      /The size of tensor a \((?<a>[^\n]{1,40})\) must match the size of tensor b \((?<b>[^\n]{1,40})\)|mat1 and mat2 shapes cannot be multiplied|shape '\[[^\]\n]*\]' is invalid for input of size|could not broadcast input array from shape|cannot reshape array of size|Sizes of tensors must match except|operands could not be broadcast together|(?:not enough|too many) values to unpack|expected input\[[^\]\n]*\] to have \d+ channels/,
    severity: 'error',
    lastResort: true,
    named: ({ groups: { a, b } = {} }) => ({ values: { sizes: a && `${a} and ${b}` } }),
    cause:
      'Sizes do not fit in the code of the model or of the program[[: {sizes}]]. It is fed another size than it takes, or it gets other outputs than it expects.',
    advice:
      'Feed the batch, channels (NCHW) and height and width that the model was exported for: most networks need multiples of 32 (or 64). Read the outputs by their names and real shapes (engine.get_tensor_name, context.get_tensor_shape), not by their order, and use the post-processing that belongs to that export.',
    after: EVERY_CAUSE,
    sure: 'likely',
    source: 'PyTorch, NumPy; pytorch/TensorRT#2617',
  },
  {
    id: 'python-types',
    code: 'failed',
    pattern:
      /expected (?:scalar type|m1 and m2 to have the same dtype)[^\n]{0,60}|mat1 and mat2 must have the same dtype|Input type \([^)\n]*\) and (?:weight|bias) type \([^)\n]*\) should be the same|Expected tensor for argument #\d+ '[^'\n]+' to have the same (?:type|dtype) as|unsupported ScalarType|not implemented for 'Half'|Unsupported dtype: torch\.|must have the same dtype/,
    severity: 'error',
    lastResort: true,
    cause:
      'Types, or devices, do not fit in PyTorch: some tensors are FP16 or BF16 and others FP32, or some are not on the GPU.',
    advice:
      'Bring the model and its inputs to one type and device (.half() or .float() on both, .cuda() on both). Many operations have no FP16 on the CPU: export on the GPU or in FP32 and let TensorRT choose FP16. A model that is FP16 already is exported without autocast (auto_cast=False). NumPy has no BF16: .float() before .numpy().',
    after: EVERY_CAUSE,
    sure: 'likely',
    source: 'PyTorch; GVCLab/PersonaLive#57',
  },
  {
    id: 'python-device',
    code: 'failed',
    pattern:
      /is on (?:CPU|cpu), but expected (?:it|them) to be on (?:GPU|cuda|CUDA)|Expected object of (?:device|backend) type|to be on the same device|can't convert cuda:\d+ device type tensor to numpy/,
    severity: 'error',
    lastResort: true,
    cause: 'Some tensors are on the CPU and others on the GPU.',
    advice:
      'Move the model and all inputs to the GPU (.cuda()) before, and outputs to the CPU (.cpu()) where NumPy takes them. A tensor that the module makes in its code needs device=x.device.',
    after: EVERY_CAUSE,
    sure: 'stated',
    source: 'PyTorch',
  },
  {
    id: 'python-pickle',
    code: 'failed',
    pattern: /(?:cannot|can't) pickle '?(?<kind>[\w.]+)'?|(?:Can't|cannot) pickle (?<kind2><[^>\n]+>)/,
    severity: 'error',
    lastResort: true,
    named: ({ groups: { kind, kind2 } = {} }) => ({ values: { kind: kind ?? kind2 } }),
    cause:
      'The program copies or sends an object that cannot be: {kind}. Engines and contexts of TensorRT belong to their process.',
    advice:
      'Make the engine and its context in the process that uses them (after the start of a worker), and pass on the bytes of engine.serialize() or the path. Leave them out of copy.deepcopy and torch.save.',
    after: EVERY_CAUSE,
    sure: 'likely',
    source: 'Python pickle; NVIDIA/TensorRT Python API',
  },
  {
    id: 'python-backend',
    code: 'library-mismatch',
    pattern: /^NotImplementedError: Could not run '(?<op>[\w:.]+)' with arguments from the '(?<backend>\w+)' backend/m,
    severity: 'error',
    lastResort: true,
    cause: 'The PyTorch that is installed has no {op} for {backend}.',
    advice:
      'With CUDA: PyTorch or torchvision is installed without it, or they do not belong together; install both of one release for this CUDA. With quantized backends: run that model on the CPU, or export it without quantization.',
    after: EVERY_CAUSE,
    sure: 'likely',
    source: 'PyTorch dispatcher',
  },
  {
    id: 'python-undefined',
    code: 'failed',
    pattern:
      /^(?:NameError: (?:global )?name '(?<name>\w+)' is not defined|UnboundLocalError: (?:local|cannot access local) variable '(?<name2>\w+)')/m,
    severity: 'error',
    lastResort: true,
    named: ({ groups: { name, name2 } = {} }) => ({ values: { name: name ?? name2 } }),
    cause:
      'The script uses {name}, which it has not set: an import of it failed quietly before, or a part of the script did not run.',
    advice:
      'Run `python -c "import tensorrt"` (and the other imports that the script tries) to see what fails, install it, and look whether a newer version of the script corrects it.',
    after: EVERY_CAUSE,
    sure: 'likely',
    source: 'Python',
  },
  {
    id: 'python-syntax',
    code: 'failed',
    pattern: /^(?:SyntaxError|IndentationError|TabError): (?<what>[^\n]{1,80})/m,
    severity: 'error',
    lastResort: true,
    cause: 'Python cannot read a file of the program: {what}.',
    advice:
      'It is for a newer Python than this one (`python --version`; JetPack 4 has 3.6), or an edit or download damaged it. Use the Python that the program names, or take the file again.',
    after: EVERY_CAUSE,
    sure: 'likely',
    source: 'Python',
  },
  {
    id: 'download-failed',
    code: 'failed',
    pattern:
      /(?<!Retrying [^\n]{0,300})(?:Max retries exceeded with url|(?:URLError|HTTPError|SSLError|ReadTimeoutError|ConnectTimeout|NewConnectionError)\b[^\n]{0,200}|ConnectionError\b[^\n]{0,200}(?:https?:|host=|HTTP))|Temporary failure in name resolution|Could not resolve host|getaddrinfo failed|CERTIFICATE_VERIFY_FAILED/,
    severity: 'error',
    lastResort: true,
    overcome: /Successfully (?:installed|built|tagged) |AutoUpdate success|saved as '/,
    cause: 'The program could not download something it needs, or reach a server.',
    advice:
      'Check the network, the proxy (HTTPS_PROXY) and the address; behind a firewall load the file on another machine and put it where the program looks for it (its cache, or a local path in place of a name). Containers need a DNS server.',
    after: EVERY_CAUSE,
    sure: 'stated',
    source: 'Python requests, urllib',
  },
  {
    id: 'opencv-check',
    code: 'failed',
    pattern: /OpenCV\([\w.-]+\)[^\n]{0,200}? error: \((?<number>-?\d+):(?<what>[^)\n]{1,60})\)(?<text>[^\n]{0,120})/,
    severity: 'error',
    lastResort: true,
    cause: 'OpenCV, not TensorRT, stopped the program ({what}).',
    advice:
      'Most often an image, video or model file was not found (imread and VideoCapture give nothing then, without an error), or an array has another type or size than the function takes: print the shape and type before that line.',
    after: EVERY_CAUSE,
    sure: 'possible',
    source: 'OpenCV error.hpp',
  },
  {
    id: 'yolo-outputs',
    code: 'runtime-failed',
    pattern: /^ *assert size (?:% 7 == 0|== grid_sizes\[)/m,
    severity: 'error',
    once: true,
    cause:
      'The outputs of the engine are not those of the YOLO layer that the program expects (7 values for each box): it was built without that plugin, for another size, or by other scripts.',
    advice:
      'Delete the engine, compile the plugin again (`make clean; make` in plugins), and build the engine with onnx_to_tensorrt.py of the same checkout, from a configuration with the width, height and number of classes that the program is given.',
    after: ['library-missing', 'out-of-memory'],
    sure: 'likely',
    source: 'jkjung-avt/tensorrt_demos#288, #363, #512',
  },
  {
    id: 'python-condition',
    code: 'failed',
    pattern:
      /^ *assert (?<claim>[^\n]{1,150})\n(?:[ ~^]*\n)?AssertionError|^AssertionError: (?<what>[^\n]{0,120})$|\nAssertionError$/m,
    severity: 'error',
    lastResort: true,
    named: ({ groups: { claim, what } = {} }) => ({
      values: { what: (claim ?? what)?.replace(/\.$/, '') || undefined },
    }),
    cause: 'A condition of the program does not hold[[: {what}]].',
    advice:
      'The line above it in the traceback is the condition (an input, a size, a file or a version that the program expects). An error above the traceback comes first.',
    after: EVERY_CAUSE,
    sure: 'possible',
    source: 'Python',
  },
];
