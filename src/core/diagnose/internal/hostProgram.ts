import type { BuildLog, HostProgram } from '../../formats/tensorrt/buildOutput.ts';
import type { Program } from './ruleTable.ts';

/** What programs around TensorRT write where their prefix does not name them. */
const WORDS: readonly [HostProgram, RegExp][] = [
  ['nv-tensorrt-rtx', /NvTensorRTRTX|nv_execution_provider|NvTensorRtRtx|nv_profile_/],
  ['onnxruntime', /onnxruntime|ONNXRuntimeError|TensorrtExecutionProvider|TensorRT EP\b/],
  ['tensorrt-llm', /TensorRT-LLM|tensorrt_llm|trtllm-build|TRT-LLM/],
  ['torch-tensorrt', /torch_tensorrt|Torch-TensorRT|TRTorch|core\/conversion\/conversionctx/],
  ['torch2trt', /\btorch2trt\b|torch\.nn\.functional\.\w+\(tensor\(shape=/],
  ['tf-trt', /tf2tensorrt|contrib\/tensorrt|my_trt_op_|TF-TRT|TRTEngineOp|trt_convert|TensorRTInputPH/],
  [
    'ultralytics',
    /ultralytics|YOLOv?\d+\S* 🚀|yolov5[\\/](?:models|utils|export|detect|val)|autobackend|not equal to max model size|TensorRT: (?:starting|export)/i,
  ],
  ['deepstream', /nvinfer\b|NvDsInfer|deepstream|gst_nvinfer/i],
  ['jetson-inference', /jetson[.-]inference|detectNet|imageNet --|device GPU, failed to/],
  ['isaac-ros', /isaac_ros|component_container|\bgxf\b/],
  ['vs-mlrt', /vsmlrt|vs-mlrt|vapoursynth/i],
  ['comfyui', /ComfyUI/],
  [
    'triton',
    /tritonserver|trtserver|tensorrt-?(?:inference-)?server|triton-inference|\bUNAVAILABLE: |model_repository_manager|trt failed to set|config\.pbtxt|tensorrt_backend|TRITON/,
  ],
];

/** The program whose words an advice should use, the most particular first. */
export function programsOf(log: BuildLog): Program[] {
  const writer = knownWriter(log);
  const { host = hostIn(log, writer), product } = log;
  const found: Program[] = host === undefined ? [] : [host];
  if (product === 'tensorrt-rtx' && host === undefined) found.push('rtx');
  if (writer === 'driver') found.unshift('trtlens');
  else if (writer === 'trtexec' || writer === 'polygraphy' || writer === 'onnxruntime') found.push(writer);
  else if (writer === 'python') found.push('python');
  else if (found.length === 0 && (log.strays ?? []).some(({ text }) => TRTEXEC.test(text))) found.push('trtexec');
  if (product === 'tensorrt-rtx' && !found.includes('rtx')) found.push('rtx');
  return found;
}

/** Its command, in what is written around an excerpt. */
const TRTEXEC = /\btrtexec(?:\.exe)? +--[a-z]/i;

/** trtexec and Polygraphy write their own names; other programs are known by their words. */
function hostIn({ strays = [], messages }: BuildLog, writer: BuildLog['writer']): HostProgram | undefined {
  if (writer === 'driver' || writer === 'polygraphy' || writer === 'trtexec') {
    // vs-mlrt runs trtexec.
    return undefined;
  }
  const texts = [...strays.map(({ text }) => text), ...messages.slice(0, 50).map(({ text }) => text.slice(0, 2000))];
  return WORDS.find(([, words]) => texts.some((text) => words.test(text)))?.[0];
}

/** Prefixes without times are those of trtlens, and of excerpts of any program: its own frame tells. */
const knownWriter = ({ writer, runs = [] }: BuildLog): BuildLog['writer'] =>
  writer === 'driver' && !runs.some(({ program }) => program.endsWith('.build_engine')) ? null : writer;
