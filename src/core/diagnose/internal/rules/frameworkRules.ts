import type { DiagnosisRule } from '../rule.ts';
import { EVERY_CAUSE } from './everyCause.ts';

/** ONNX Runtime, TensorFlow, Paddle, and programs that build on them. */
export const FRAMEWORK_RULES: readonly DiagnosisRule[] = [
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
];
