import { type DiagnosisRule, EVERY_CAUSE } from '../rule.ts';

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
    id: 'jetson-engine-empty',
    code: 'engine-invalid',
    pattern: /invalid engine cache file size \((?<size>\d+) bytes\) +(?<file>\S+)/,
    severity: 'error',
    cause:
      'The engine that jetson-inference kept from an earlier run, {file}, has {size} bytes: that build was broken off, or the disk was full.',
    advice: 'Delete that file and start again: the engine is built again. Check the free space with `df -h`.',
    source: 'jetson-inference tensorNet.cpp; dusty-nv/jetson-inference#946',
  },
  {
    id: 'jetson-blob',
    code: 'unknown-input',
    pattern:
      /failed to retrieve tensor for (?<which>Output|Input) "(?<name>[^"\n]*)"|failed to register (?<which2>input|output) '(?<name2>[^'\n]+)' for UFF model/,
    severity: 'error',
    named: ({ groups: { which, which2, name, name2 } = {} }) => ({
      values: { which: (which ?? which2)!.toLowerCase(), name: name ?? name2 },
    }),
    cause: 'The network has no {which} {name}, for which jetson-inference asks.',
    advice:
      'Give the names of this model (--input-blob, and --output-blob or --output-cvg and --output-bbox): the last layers of its prototxt or Netron show them. With a model that comes with jetson-inference its download is incomplete: delete its folder in data/networks and run tools/download-models.sh again.',
    source: 'jetson-inference tensorNet.cpp; dusty-nv/jetson-inference#330',
  },
  {
    id: 'jetson-caffe',
    code: 'model-unreadable',
    pattern:
      /TensorRT (?<version>[\d.]+) does not support legacy caffe models|failed to parse caffe network|attempted to load caffe model without specifying prototxt|importing (?<kind>ONNX|UFF) models is not supported in TensorRT (?<version2>[\d.]+)/,
    severity: 'error',
    named: ({ 0: text, groups: { version, version2, kind } = {} }) => ({
      values: {
        why: version
          ? `TensorRT ${version} has no parser for Caffe and UFF models any more (the last with them is 8.6)`
          : kind
            ? `TensorRT ${version2} is too old for ${kind} models`
            : text.includes('prototxt')
              ? 'a Caffe model needs its prototxt, too'
              : 'the Caffe parser cannot read the prototxt or the caffemodel',
      },
    }),
    cause: 'The program of jetson-inference cannot read the model: {why}.',
    advice:
      'Use one of its ONNX models (ssd-mobilenet-v2, resnet18, …), or convert the model to ONNX. Otherwise give both files of one Caffe model (--prototxt, --model), download them again, and keep the jetson-inference that belongs to this JetPack.',
    after: ['unsupported-op', 'plugin-missing', 'out-of-memory', 'model-missing'],
    source: 'jetson-inference tensorNet.cpp',
  },
  {
    id: 'jetson-cache-unwritten',
    code: 'failed',
    pattern: /failed to (?:open engine cache file for writing|write \d+ bytes to engine cache file) +(?<file>\S+)/,
    severity: 'warning',
    cause:
      'The program of jetson-inference cannot keep the engine that it built ({file}), and builds it again at each start.',
    advice: 'Give yourself the right to write in that folder (or run once with sudo), and check the free space.',
    source: 'jetson-inference tensorNet.cpp',
  },
  {
    id: 'jetson-arguments',
    code: 'bad-flag-value',
    pattern: /Net\.__init\(?\)?__\(?\)? failed to parse arg/,
    severity: 'error',
    cause: 'The Python call that loads the network has arguments that this jetson-inference does not take.',
    advice:
      'For a model of your own give the options as a list: `detectNet(argv=["--model=model.onnx", "--labels=labels.txt", "--input-blob=input_0", "--output-cvg=scores", "--output-bbox=boxes"], threshold=0.5)`; newer versions also take model=, labels=, input_blob=, … as named arguments.',
    source: 'dusty-nv/jetson-inference#551 and its Python bindings',
  },
  {
    id: 'protobuf-check',
    code: 'model-unreadable',
    pattern: /protobuf[^\n]*CHECK failed|CHECK failed: \(index\) ?(?:<|>=) ?\(|google\w*::protobuf::FatalException/,
    severity: 'error',
    once: true,
    cause:
      'The model file does not have the structure that the parser reads (a field is missing in it): it is of another framework or variant, or damaged.',
    advice:
      'For Caffe give the deploy.prototxt that belongs to the .caffemodel, of the BVLC or NVIDIA variant with the layers that TensorRT knows; for others export the model to ONNX and load that.',
    after: ['out-of-memory'],
    sure: 'likely',
    source: 'protobuf; dusty-nv/jetson-inference#436',
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
    id: 'file-unreadable',
    code: 'file-missing',
    pattern:
      /(?:File does not exist|SavedModel file does not exist at|[Ff]ailed to open TLT encoded model file|UffParser: Could not open):? (?<file3>[^\s,]+)|\bread (?<file>\S+\.(?:engine|trt|plan|wts|onnx|cfg|weights|pt|pth)) error|(?:[Cc]annot|[Cc]ould not|[Cc]ould n't|[Cc]ouldn't|[Cc]an't|[Ff]ailed to|[Uu]nable to|[Ee]rror) (?:open|read|opening|reading)(?:ing)? (?:the )?(?:\w+ )?(?:file|model|engine|plan)?:? ?['"]?(?<file2>[^\s'",]+\.(?:engine|trt|plan|wts|onnx|cfg|weights|pt|pth))/,
    severity: 'error',
    cause: 'The program cannot read {file}.',
    named: ({ groups: { file, file2, file3 } = {} }, text) => ({
      // What is not there yet is made.
      ...(/\b(?:re-?)?(?:build|creat|generat|export)ing\b|\bwill (?:re-?)?(?:build|create|generate)\b|\btry rebuild/i.test(
        text,
      ) && {
        severity: 'warning' as const,
      }),
      values: { file: file ?? file2 ?? file3 },
    }),
    advice:
      'Check that it exists (a relative path starts at the folder that the program runs in; in a container it has to be mounted), that it is not empty, and that the program may read it. An engine has to be built first, on this machine.',
    after: EVERY_CAUSE,
    sure: 'likely',
    source: 'wang-xinyu/tensorrtx#1061',
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
    id: 'deepstream-outputs',
    code: 'engine-invalid',
    pattern:
      /Could not find coverage layer while parsing|Could not find (?:output (?:layer '(?<name>[^']+)'|coverage layer|bbox layer)|(?<name2>\w+) layer buffer while parsing)|Failed to parse bboxes|NvDsInferParse\w*\([^\n]{0,300}Assertion [`'][^\n]{0,300}failed|Num classes mismatch\. Configured: ?(?<have>\d+), detected(?: by network)?: ?(?<want>\d+)/,
    severity: 'error',
    once: true,
    named: ({ groups: { name, name2, want } = {} }) => ({
      ...(want !== undefined && { severity: 'warning' }),
      values: { name: name ?? name2 },
    }),
    cause:
      'The outputs of the engine are not those that the parser of nvinfer reads[[ ({name})]][[: {want} classes, {have} configured]]; the engine itself is not what fails.',
    advice:
      'Set parse-bbox-func-name and custom-lib-path to the parser that was written for this model (the default one is for DetectNet_v2 only), output-blob-names to its real outputs, and num-detected-classes to its classes. Export the model with the script that belongs to that parser (DeepStream-Yolo: utils/export_yolo….py), and delete the old .engine. A classifier or segmentation model needs another network-type.',
    source:
      'DeepStream nvdsinfer_context_impl_output_parsing.cpp; jkjung-avt/tensorrt_demos#155, marcoslucianops/DeepStream-Yolo#227, #640, NVIDIA-AI-IOT/yolo_deepstream#25, NVIDIA/retinanet-examples#86',
  },
  {
    id: 'deepstream-batch',
    code: 'runtime-shape',
    pattern: /Backend has maxBatchSize (?<have>\d+) whereas (?<want>\d+) has been requested/,
    severity: 'warning',
    cause:
      'The engine takes batches of {have}, and nvinfer is to run it with {want} (the number of streams), so it builds another.',
    advice:
      'Export the model with a dynamic batch (or that batch), set batch-size in the configuration of nvinfer and of streammux to the number of streams, delete the .engine file, and let nvinfer build it again.',
    source: 'DeepStream nvdsinfer_context_impl.cpp; marcoslucianops/DeepStream-Yolo#509',
  },
  {
    id: 'deepstream-mux',
    code: 'file-missing',
    pattern: /(?:Output width|Output height) not set|[Bb]atch[ -]size not set(?![^\n]*(?:default|using))/,
    severity: 'error',
    cause: 'The element nvstreammux was started without its width, height or batch-size.',
    advice:
      'Set width, height and batch-size in the group [streammux] of the file given with -c. If they are there, the file was not read as meant: deepstream-app reads .txt and .yml, and a group must be spelled right.',
    sure: 'likely',
    source: 'DeepStream gstnvstreammux; levipereira/deepstream-yolo-e2e#6',
  },
  {
    id: 'deepstream-failed',
    code: 'failed',
    pattern:
      /Failed to set pipeline to PAUSED|App run failed|Failed to create NvDsInferContext instance|NvDsInfer Error: ?NVDSINFER\w+|Internal data stream error|streaming stopped, reason (?:error|not-\w+)/,
    severity: 'error',
    once: true,
    overcome: /\*\*PERF: +\d*[1-9]|App run successful/,
    cause: 'The pipeline (GStreamer, DeepStream) failed while {phase}; what failed is in the lines before.',
    advice:
      'Look at the first line with ERROR, and those of TensorRT ([TRT]). If there is none, run with GST_DEBUG=3 and check what a pipeline needs: files named in the configurations (model, labels, custom library; relative to the file that names them), a sink that this machine has (type=1 fakesink without a display), a readable source, and an engine built on this machine.',
    // An engine of another GPU of the same kind most often runs.
    after: [...EVERY_CAUSE.filter((code) => code !== 'engine-other-device'), 'failed', 'file-missing'],
    sure: 'possible',
    source: 'DeepStream deepstream_app_main.c; marcoslucianops/DeepStream-Yolo#340, #504, #558',
  },
  {
    id: 'isaac-graph',
    code: 'failed',
    pattern:
      /Entity with \d+ not found|\bGXF_(?:FAILURE|\w*(?:NOT_FOUND|FAILED|INVALID|ERROR|OUT_OF_MEMORY|UNINITIALIZED|MISMATCH|INCOMPATIBLE))|(?:loadExtensions|loadApplication|GxfGraph\w+|loadGraph\w*) Error|Failed to (?:load|activate) (?:extension|entity|graph)/,
    severity: 'error',
    once: true,
    cause: 'The graph of Isaac ROS (GXF) could not be loaded or started; what failed is in the lines before.',
    advice:
      'Look at the first ERROR above (a library that is not found, a model repository or engine that cannot be read, a wrong parameter). If there is none: use the container of this Isaac ROS release on the JetPack or driver that it names, build all its packages in it again, and give absolute paths inside the container for model_file_path, engine_file_path and model_repository_paths.',
    after: [...EVERY_CAUSE, 'failed', 'file-missing'],
    sure: 'possible',
    source: 'NVIDIA-ISAAC-ROS/isaac_ros_image_segmentation#10, #19, #31, isaac_ros_dnn_inference#1',
  },
  {
    id: 'bevfusion-scn',
    code: 'gpu-unsupported',
    pattern: /Failed to create lidar scn/,
    severity: 'error',
    cause:
      'CUDA-BEVFusion could not make its sparse network (libspconv), whose kernels need an Ampere GPU or later (compute capability 8.0).',
    advice:
      'Use such a GPU (not Pascal, Volta or Turing) and the libspconv of the release, for this CUDA and platform; look also whether the ONNX file of the lidar backbone is there.',
    sure: 'likely',
    source: 'NVIDIA-AI-IOT/Lidar_AI_Solution#323',
  },
  {
    id: 'spconv-architecture',
    code: 'gpu-unsupported',
    pattern: /not implemented in c\+\+, must be overrided in python/,
    severity: 'error',
    cause: 'The library spconv was compiled without kernels for this GPU.',
    advice:
      'Compile spconv_cpp again with the compute capability of this GPU among its architectures (CUMM_CUDA_ARCH_LIST; CUDA 12.8 or later for 12.0), then the program that uses it.',
    source: 'autowarefoundation/autoware_universe#11933, autowarefoundation/spconv_cpp#2',
  },
];
