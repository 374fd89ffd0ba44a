import type { DiagnosisRule } from '../rule.ts';
import { EVERY_CAUSE } from './everyCause.ts';

/** DeepStream, jetson-inference and Isaac ROS. */
export const PIPELINE_RULES: readonly DiagnosisRule[] = [
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
];
