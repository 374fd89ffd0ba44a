import type { BuildLog, LogMessage } from '../../formats/tensorrt/buildOutput.ts';

/** Where a Python exception came from, and what helps there. */
export interface RaisedIn {
  /** Fits before a colon and the exception. */
  what: string;
  advice: string;
}

const NOT_TENSORRT = 'TensorRT is not what fails, and no engine was built.';

/** Packages in the paths of a traceback, by what they do around TensorRT. */
const PLACES: readonly [RegExp, RaisedIn][] = [
  [
    /[\\/]torch[\\/]onnx[\\/]|export_onnx|onnx_export/,
    {
      what: 'The export to ONNX failed',
      advice: `${NOT_TENSORRT} Export in eval mode on one device, with inputs as in inference, with the newest opset and a later PyTorch (or dynamo=True); otherwise rewrite the code that the last frames of the traceback show.`,
    },
  ],
  [
    /[\\/]torch[\\/]jit[\\/]/,
    {
      what: 'PyTorch could not make TorchScript of the module, or load it',
      advice: `${NOT_TENSORRT} Trace the module in place of scripting it, rewrite what the message names, or use ir="dynamo" or an export to ONNX.`,
    },
  ],
  [
    /[\\/]torch[\\/](?:_dynamo|export|fx|_inductor|_functorch|_subclasses)[\\/]/,
    {
      what: 'PyTorch could not capture the module as a graph',
      advice:
        'Rewrite the place in the code of the model that the traceback shows last (what depends on values of tensors, or on Python objects), fix the shapes, or leave that module to PyTorch; a later PyTorch with its Torch-TensorRT captures more.',
    },
  ],
  [
    /[\\/]torch_tensorrt[\\/]/,
    {
      what: 'Torch-TensorRT failed',
      advice:
        'Compile with debug logging (`with torch_tensorrt.logging.debug():`), which names the operator. Leave it to PyTorch (torch_executed_ops), give the inputs on the GPU with their real types and shapes, and use the release that belongs to the installed PyTorch.',
    },
  ],
  [
    /[\\/]torch2trt[\\/]/,
    {
      what: 'torch2trt failed',
      advice:
        'The last frames name the converter. Install the latest torch2trt, rewrite that operator of the model, or go by ONNX: torch.onnx.export, then trtexec.',
    },
  ],
  [
    /[\\/](?:modelopt|ammo|pytorch_quantization)[\\/]/,
    {
      what: 'The quantization by Model Optimizer failed',
      advice: `${NOT_TENSORRT} Use the versions of torch, transformers and onnx that this release names, export the model with static shapes and opset 17 or later before, and check that it runs in ONNX Runtime; a later release knows more models.`,
    },
  ],
  [
    /convert_checkpoint\.py|[\\/]tensorrt_llm[\\/](?:models|quantization|layers|functional)|[\\/]examples[\\/][\w-]+[\\/](?:convert_checkpoint|hf_\w+|build|quantize)\.py/,
    {
      what: 'TensorRT-LLM could not convert or build this model',
      advice:
        'Use the scripts and the requirements.txt of the release that is installed (`pip show tensorrt_llm`), not those of another branch, and a model, data type and quantization that its support matrix lists; a newer architecture needs a later release.',
    },
  ],
  [
    /[\\/]tensorrt_llm[\\/]/,
    {
      what: 'TensorRT-LLM failed',
      advice:
        'An error of a worker above comes first. Otherwise use one release for the engine, the library and the scripts, see that GPU memory is free, and set TLLM_LOG_LEVEL=DEBUG.',
    },
  ],
  [
    /[\\/](?:transformers|huggingface_hub|diffusers|safetensors|tokenizers|accelerate)[\\/]/,
    {
      what: 'The model could not be loaded or run with the libraries of Hugging Face',
      advice: `${NOT_TENSORRT} Install the versions of transformers and diffusers that the program's requirements name, and check that the folder of the model is complete.`,
    },
  ],
  [
    /[\\/]onnxruntime[\\/]/,
    {
      what: 'ONNX Runtime failed',
      advice:
        'Run with log_severity_level=0 to see which provider fails. Check that the model runs on the CPU provider; then names, types and shapes of what is fed; then the versions of TensorRT, CUDA and cuDNN that this release was built with.',
    },
  ],
  [
    /[\\/](?:onnx|onnx_graphsurgeon|onnxsim|onnxslim|onnxconverter_common|onnx_tensorrt)[\\/]/,
    {
      what: 'The ONNX model could not be read, changed or checked',
      advice: `${NOT_TENSORRT} Install one current set of onnx, onnxslim or onnxsim and protobuf, and export the model again; a model above 2 GB needs external data.`,
    },
  ],
  [
    /[\\/](?:uff|graphsurgeon)[\\/]/,
    {
      what: 'The conversion to UFF failed',
      advice:
        'Use the TensorFlow 1.x and Keras that the README of the sample names (1.15 for TensorRT 7, 2.1.3 of Keras for Mask R-CNN), with the uff and graphsurgeon of this TensorRT: names of nodes differ in others. `remove()` of graphsurgeon takes nodes (`find_nodes_by_name`), not names. UFF is no longer developed: tf2onnx and the ONNX parser are the way that lasts.',
    },
  ],
  [
    /[\\/]tensorflow[\\/]|[\\/]keras[\\/]/,
    {
      what: 'TensorFlow failed',
      advice:
        'Give TF-TRT a SavedModel that this TensorFlow wrote and that runs in it, with inputs of the real shapes in build(); what TensorRT said is in the lines with DefaultLogger above.',
    },
  ],
  [
    /[\\/](?:paddle|paddle2onnx|ppdet|ppocr|paddlex)[\\/]/,
    {
      what: 'Paddle failed',
      advice:
        'Run the model without use_tensorrt first. With it, use the wheel of Paddle that is compiled with the TensorRT that is installed, and give the ranges of shapes.',
    },
  ],
  [
    /[\\/]ultralytics[\\/]engine[\\/]exporter|[\\/]yolov[57]\w*[\\/]export\.py/,
    {
      what: 'The export by Ultralytics failed',
      advice:
        'Update ultralytics with the onnx, onnxslim and tensorrt that it asks for, and export with device=0; an error of TensorRT above this line comes first.',
    },
  ],
  [
    /[\\/]autobackend\.py|[\\/]models[\\/]common\.py/,
    {
      what: 'The exported model could not be loaded or run by YOLO',
      advice:
        'Load it with the imgsz, batch and task of its export and with the TensorRT that built it; otherwise export it again on this machine with this release.',
    },
  ],
  [
    /[\\/](?:mmdeploy|mmcv|mmengine|mmdet|mmcls|mmpretrain|mmseg|mmpose|mmocr)[\\/]/,
    {
      what: 'A step of OpenMMLab failed',
      advice:
        'Use the releases of mmdeploy, mmengine or mmcv and the code base that belong together (tools/check_env.py lists them), and a deployment configuration of the same task and backend.',
    },
  ],
  [
    /[\\/]pycuda[\\/]/,
    {
      what: 'PyCUDA failed',
      advice:
        'Create one context in the thread that runs the engine, copy arrays that are contiguous and as large as the buffers (`np.ascontiguousarray`), and look at the first CUDA error above.',
    },
  ],
  [
    /[\\/]polygraphy[\\/]/,
    {
      what: 'Polygraphy failed',
      advice:
        'Run the same command with -vv: it shows the step and what TensorRT said. Update Polygraphy to the one of this TensorRT.',
    },
  ],
  [
    /[\\/]custom_nodes[\\/]/,
    {
      what: 'A node of ComfyUI failed',
      advice:
        'Update the node and ComfyUI, install the requirements.txt of the node into the Python of ComfyUI, and build its engines again after an update of TensorRT.',
    },
  ],
];

/** A frame of a traceback: Python's own, or of `rich`. */
const FRAME = /(?:^|\s)File "(?<file>[^"]+)", line \d+|^[│|] (?<file2>\S+\.py):\d+ in /;

/** As many lines before an exception as belong to its traceback, at most. */
const MOST_LINES = 200;

/** Where an exception was raised: the innermost frame that is in a known package. `text` is that of the exception. */
export function raisedIn({ strays = [] }: BuildLog, line: number, text: string): RaisedIn | undefined {
  const near = strays.filter((one) => one.line < line && one.line >= line - MOST_LINES);
  for (const { text: frame } of near.toReversed()) {
    const { file, file2 } = FRAME.exec(frame)?.groups ?? {};
    const path = file ?? file2;
    const found = path === undefined ? undefined : PLACES.find(([name]) => name.test(path));
    if (found) return found[1];
  }
  // Without frames, the module of the exception: `tensorflow.python.framework.errors_impl.InternalError`.
  const module = /^[\w.]+(?=\.\w+: )/.exec(text)?.[0];
  return module === undefined ? undefined : PLACES.find(([name]) => name.test(`/${module.replaceAll('.', '/')}/`))?.[1];
}

/** An AssertionError without words says what the line of code before it asserts. */
export function withClaim(message: LogMessage, { strays = [] }: BuildLog): LogMessage {
  const key = /^KeyError: ('[^'\n]+')$/.exec(message.text)?.[1];
  if (message.text !== 'AssertionError' && key === undefined) return message;
  const isClaim = (text: string) => (key === undefined ? /^ *assert /.test(text) : text.includes(`[${key}]`));
  const claim = strays.find(({ line, text }) => line === message.line - 1 && isClaim(text));
  return claim === undefined ? message : { ...message, text: `${claim.text}\n${message.text}` };
}
