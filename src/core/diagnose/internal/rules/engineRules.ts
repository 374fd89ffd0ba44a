import { type DiagnosisRule, EVERY_CAUSE } from '../rule.ts';
import { cudaError } from './runtimeRules.ts';

const REBUILD = {
  onnxruntime:
    'Delete the cached engines (trt_engine_cache_path) so that the provider builds them again; a cache is for one version of TensorRT, one GPU and one set of options.',
  'nv-tensorrt-rtx': 'Delete the cached or EP-context engines so that the provider builds them again.',
  triton:
    'Build the plan with the TensorRT of the container that serves it: the release notes of each Triton container name its version (use the tensorrt container of the same month), or build version-compatible engines (--versionCompatible).',
  deepstream: 'Delete the .engine file so that nvinfer builds it again with the TensorRT of this machine.',
  'jetson-inference':
    'Delete the .engine file next to the model (data/networks): the program builds it again with the TensorRT of this machine.',
  ultralytics: 'Export the engine again on this machine with the TensorRT that loads it.',
  comfyui: 'Delete the engine file and build it again with the TensorRT of this environment.',
  'tensorrt-llm': 'Run trtllm-build again with this version of TensorRT-LLM and TensorRT.',
  'vs-mlrt':
    'Delete the engines that vs-mlrt keeps (engine_folder, otherwise next to the models): it builds them again. Take all files of one release (vsmlrt.py, the plugins and vsmlrt-cuda).',
  torch2trt:
    'Convert the model again on this machine and save its state_dict: engines inside of it are for one version and GPU.',
  'torch-tensorrt': 'Compile and save the module again with this version of Torch-TensorRT.',
  other:
    'Build it again with this version (use one TensorRT for building and running: trtexec, the Python package and what LD_LIBRARY_PATH or PATH finds first may differ), or build version-compatible engines (--versionCompatible).',
};
const REBUILD_HERE = {
  triton:
    'Build the plan on the GPU model that serves it, or for GPUs of Ampere and later with --hardwareCompatibilityLevel=ampere+ (TensorRT 8.6 and later).',
  onnxruntime: 'Delete the cached engines (trt_engine_cache_path), or set trt_engine_hw_compatible.',
  deepstream: 'Delete the engine file (model-engine-file): nvinfer then builds it again from onnx-file on this GPU.',
  rtx: 'Build it for the compute capability of this GPU (--compute-capability).',
  other:
    'Build it on this GPU. If that was done, the program loads an older file, or runs on another GPU of the machine: compare paths and dates, and choose the GPU for both (CUDA_VISIBLE_DEVICES, trtexec --device). For GPUs of Ampere and later, TensorRT 8.6 and later build engines for several models: --hardwareCompatibilityLevel (ampere+ or sameComputeCapability).',
};

/** Engine files: another version, another GPU, damage. */
export const ENGINE_RULES: readonly DiagnosisRule[] = [
  {
    id: 'plugin-of-other-version',
    code: 'engine-other-version',
    pattern:
      /(?:failed: |Assertion [`'])(?:\w+ == \w+ \+ (?:length|serialLength)|\w+ \+ (?:length|serialLength) == \w+)\b/,
    cause:
      'The engine holds data of a plugin that the library of the plugin does not read: they are of different versions.',
    advice: {
      'tensorrt-llm': 'Build the engine again with the version of TensorRT-LLM that loads it, in the same container.',
      other: 'Delete the engine, build the library of the plugin again (make clean), and build the engine with it.',
    },
    source: 'jkjung-avt/tensorrt_demos#483, NVIDIA/TensorRT-LLM#583',
  },
  {
    id: 'not-refittable',
    code: 'engine-invalid',
    pattern: /isRefittable\(\)?/,
    cause: 'The engine was not built to be refitted.',
    advice: {
      other: 'Build it with BuilderFlag.REFIT, or STRIP_PLAN, which includes it.',
      trtexec: 'Build it with --refit.',
      polygraphy: 'Build it with --refittable.',
    },
    source: 'NVIDIA/TensorRT#2783',
  },
  {
    id: 'refit-weight-count',
    code: 'runtime-failed',
    pattern: /Assertion failed: newWeights\.count == original\.count/,
    cause: 'New weights for a refit have another number of elements than those in the engine.',
    advice:
      'Give each layer and role as many elements as the network has, in its order: an exporter may have split, merged, padded or transposed them. IRefitter::getAll() lists what the engine has.',
    source: 'NVIDIA/TensorRT#639',
  },
  {
    id: 'refit-incomplete',
    code: 'runtime-failed',
    pattern:
      /missing (?<count>\d+) needed [wW]eights|refitCudaEngine[^\n]*[mM]issing [wW]eights|(?:network|engine) does not have[^\n]{0,60}(?:refittable|such role)/,
    cause:
      'The refit does not fit the engine: weights that belong together are missing[[ ({count} more)]], or a name or role is not one of the engine.',
    advice:
      'List what is needed (`refitter.get_missing_weights()`, get_missing()) and what there is (get_all_weights()), and give all of one group before refit_cuda_engine(). The names are those of the initializers of the ONNX model that was built: take new weights from a model that was exported and folded in the same way; trtexec tests it with --timeRefit.',
    source: 'NVIDIA/TensorRT#1612; IRefitter of TensorRT 10.6',
  },
  {
    id: 'refit-build',
    code: 'out-of-memory',
    pattern: /\[refitUtils\.cpp::buildRefitEngine::\d+\]|^(?:Error\[2\]: )?Assertion engine failed\./,
    cause:
      'A part of the engine could not be built, most often for too little GPU memory, which this message does not say.',
    advice:
      'Free GPU memory, build in FP16 or with smaller shapes, or on a GPU with more memory. If that changes nothing, try the next version of TensorRT.',
    sure: 'possible',
    source: 'NVIDIA/TensorRT#3671, where FP16 instead of FP32 solved it',
  },
  {
    id: 'timing-cache',
    code: 'engine-other-device',
    pattern:
      /timing cache will not be used|MyelinCache::deserializeFromBuffer|myelinCache\.h::deserializeFromBuffer|[tT]iming ?[cC]ache[^\n]{0,80}(?:mismatch|different|invalid entry|not compatible|corrupt)|ITimingCache::[^\n]*condition|[dD]eserialize timing cache/,
    severity: 'warning',
    harmless: true,
    cause: 'The timing cache is of another GPU, driver or version of TensorRT, or damaged, so it is not used.',
    advice:
      'Nothing has to be done: the build takes longer and writes a new one. Keep one cache for each GPU model and version; delete this one. If it comes again with a new one, this version cannot read what it wrote: use a later TensorRT, or release of the program.',
    source: 'TensorRT timing cache (setTimingCache, combine); lightvector/KataGo#739, #945',
  },
  {
    id: 'engine-empty',
    code: 'engine-invalid',
    pattern: /Cannot deserialize with an empty memory buffer/,
    cause:
      'The engine file is empty, or the program could not read it: a build that failed left it, or the path is wrong.',
    advice:
      'Check the path and the size of the file. If it has 0 bytes, delete it and build again: the first error of that build is the cause.',
    source: 'NVIDIA/TensorRT#302, RichardoMrMu/yolov5-deepsort-tensorrt#5',
  },
  {
    id: 'engine-file-rebuilt',
    code: 'engine-invalid',
    pattern: /[Dd]eserialize engine failed because file path: (?<file>.+?) open error/,
    severity: 'warning',
    cause: 'The engine file {file} does not exist or cannot be opened, so nvinfer builds it from the model.',
    advice:
      'That takes minutes, and what fails then is in the lines of the build. If the file does exist, correct the path in model-engine-file.',
    after: [...EVERY_CAUSE, 'failed'],
    harmless: true,
    source: 'marcoslucianops/DeepStream-Yolo#277, #624, #136',
  },
  {
    id: 'engine-file-missing',
    code: 'engine-invalid',
    pattern:
      /FileNotFoundError: .{0,300}'(?<file>[^'\n]+\.(?:plan|engine|trt))'|Error opening engine file: (?<file2>[^\n]+?)(?= \(\/|\n|$)/,
    named: (m) => ({ values: { file: m.groups!['file'] ?? m.groups!['file2'] } }),
    cause: 'The engine file {file} does not exist or cannot be opened.',
    advice: 'Check the path; a failed build writes no engine. Look at the log of that build.',
    source: 'captures',
  },
  {
    id: 'engine-standard-and-safe',
    code: 'engine-other-version',
    pattern:
      /safeVersionRead == safeSerializationVersion failed\.\s*Version tag does not match\. Note: Current Version: (?<have>\d+), Serialized Engine Version: (?<was>\d+)/,
    cause:
      'The engine was built by another version or edition of TensorRT (its version tag is {was}, the library that loads it has {have}; 0 is the library without the safe runtime).',
    advice: REBUILD,
    source: 'TensorRT stdArchiveReader.cpp; NVIDIA/TensorRT#2195, marcoslucianops/DeepStream-Yolo#210',
  },
  {
    id: 'engine-other-version',
    code: 'engine-other-version',
    pattern:
      /expecting library version \S+ got|plan (?:major |minor )?version does not match runtime|Serialized Engine Version|[Vv]ersion tag does not match|kSERIALIZATION_VERSION|old deserialization call on a newer plan file|not compatible with this version of TensorRT|serializ(?:ed|ation) (?:engine )?version mismatch|engine (?:was )?(?:built|generated) with (?:a )?different (?:version of )?TensorRT/,
    named: (_, text) => {
      const [, have, was] = /expecting library version (\S+) got (?:\.\.)?([^\s,)]+)/.exec(text) ?? [];
      const [, tag, tagWas] = /Current Version: (\d+), Serialized Engine Version: (\d+)/.exec(text) ?? [];
      return { values: { have: have ?? formatOf(tag), was: was ?? formatOf(tagWas), age: ageOf(tag, tagWas) } };
    },
    cause: 'The engine was built by another version of TensorRT[[, {age} one]][[ ({was}; this is {have})]].',
    advice: REBUILD,
    source: 'captures of TensorRT 8.6 and 10.6; SthPhoenix/InsightFace-REST#84, HKUST-Aerial-Robotics/D2SLAM#52',
  },
  {
    id: 'engine-other-platform',
    code: 'engine-other-device',
    pattern:
      /Platform \S.* does not match|[Pp]latform (?:specific )?tag mismatch|serialized (?:for|on) (?:a )?different (?:platform|operating system)/,
    cause: 'The engine was built on another platform (operating system or processor).',
    advice: 'Build it on the platform that runs it: engines of Linux, Windows and Jetson are not exchangeable.',
    source: 'TensorRT archive reader',
  },
  {
    id: 'engine-slower-device',
    code: 'engine-other-device',
    pattern: /Using (?:an )?engine plan file across different models of devices is not (?:supported|recommended)/,
    severity: 'warning',
    cause: 'The engine was built for another model of GPU; it runs, but slower, and may fail.',
    advice: REBUILD_HERE,
    source: 'TensorRT runtime warning',
  },
  {
    id: 'engine-other-device',
    code: 'engine-other-device',
    pattern:
      /incompatible device|different models of devices|compute capability .*(?:mismatch|does not match|not compatible)|(?:generated|built|created) (?:on|for) (?:an? )?(?:incompatible|different|other) (?:device|GPU)|engine.{0,60}(?:not compatible with|incompatible with) (?:this|the current) (?:device|GPU)|expecting compute [\d.]+,? got/i,
    named: (_, text) => {
      const [, have, was] = /expecting compute ([\d.]+),? got (?:compute )?([\d.]+\d)/.exec(text) ?? [];
      return { values: { have, was } };
    },
    cause: 'The engine was built for another GPU[[ (compute capability {was}; this is {have})]].',
    advice: REBUILD_HERE,
    source: 'TensorRT runtime; captures',
  },
  {
    id: 'engine-on-other-device',
    code: 'engine-other-device',
    pattern: /Compiled assuming that device (?<device>\d+) was SM (?<was>\d+), but device \d+ is SM (?<have>\d+)/,
    cause:
      'The engine was built for SM {was}, and GPU {device} of this process has SM {have}: it is loaded on another GPU, or the process uses GPUs of several kinds.',
    advice:
      'Call cudaSetDevice before the engine is loaded and in each thread that uses it, and build an engine for each kind of GPU (trtexec --device=N). Where one process holds engines for several kinds, give each kind a process of its own with CUDA_VISIBLE_DEVICES, so that its GPU is number 0.',
    source: 'NVIDIA/TensorRT#4526',
  },
  {
    id: 'builder-on-other-device',
    code: 'runtime-failed',
    pattern: /Builder was created on (?:a )?device different (?:than|from)/,
    severity: 'error',
    once: true,
    cause:
      'The builder was made while one GPU was current, and builds while another one is: the program or a library that it loads changed the GPU in between.',
    advice:
      'Choose the GPU before the builder is made and keep it until the engine is built (cudaSetDevice, torch.cuda.set_device, in the same thread). With one GPU to use, start the program with CUDA_VISIBLE_DEVICES=N, so that it sees no other: that also stops a loader that spreads a model over all GPUs (device_map="auto").',
    source: 'TensorRT documentation, error messages; NVIDIA/TensorRT-LLM#996',
  },
  {
    id: 'engine-nvrtc',
    code: 'library-mismatch',
    pattern: /do(?:es)? not support these layers due to mismatch of libnvrtc version/,
    severity: 'error',
    cause:
      'The engine has layers that are compiled when it is loaded (loops, booleans), and the libnvrtc that is found is not of the CUDA that this TensorRT was built for.',
    advice:
      'Install the CUDA that the package of this TensorRT names (its support matrix), put the folder of its libnvrtc first on PATH or LD_LIBRARY_PATH, and build the engine again on this machine.',
    source: 'TensorRT engine.cpp; Lyric0620/ETSAuto#6',
  },
  {
    id: 'kernel-image-invalid',
    code: 'engine-other-device',
    pattern: cudaError(
      '200|300',
      /CUDA_ERROR_INVALID_IMAGE|device kernel image is invalid|device kernel source is invalid/,
    ),
    severity: 'error',
    cause:
      'The driver cannot load the kernels: the engine or the library was built for another GPU, or with a newer driver or CUDA than this one.',
    advice:
      'Build the engine again on this machine, or update the driver to the one of the machine that built it; compile plugins and programs for the compute capability of this GPU.',
    after: ['library-mismatch', 'gpu-unsupported'],
    sure: 'likely',
    source: 'CUDA driver API; NVIDIA/TensorRT#3911',
  },
  {
    id: 'refit-none',
    code: 'weights-missing',
    pattern: /condition: !isNoneRefittable\(\)/,
    cause: 'The program makes a refitter for an engine that was not built to be refitted.',
    advice:
      'Build it with the flag REFIT (or REFIT_INDIVIDUAL, or STRIP_PLAN with one of them; trtexec --refit, --stripWeights).',
    source: 'built with TensorRT 10.6',
  },
  {
    id: 'refit-count',
    code: 'weights-missing',
    pattern:
      /(?<name>(?<![^\s(:])[^\s(:]+): refit weights count (?<have>\d+) must equal to weights prototype count (?<want>\d+)/,
    cause: 'The program refits {name} with {have} numbers, and the engine has {want} of them.',
    advice:
      'Give weights of the same shape as those of the build (`refitter.get_weights_prototype(name).size`); an engine of another shape has to be built again. TensorRT may keep them transposed or fused, so take names and order from the ONNX file where it was parsed.',
    source: 'built with TensorRT 10.6',
  },
  {
    id: 'refit-name',
    code: 'weights-missing',
    pattern: /(?<name>(?<![^\s(:])[^\s(:]+): The weights cannot be refitted/,
    cause: 'The engine has no weights named {name} that can be refitted.',
    advice:
      'Use the names of the engine (`refitter.get_all_weights()`). With REFIT_INDIVIDUAL only weights that were marked when it was built can be refitted (`network.mark_weights_refittable(name)`).',
    source: 'built with TensorRT 10.6',
  },
  {
    id: 'refit-model',
    code: 'weights-missing',
    pattern: /REFIT_FAILED[^\n]*(?:Failed to refit all the weights|successfullyRefittedWeights)/,
    cause: 'The ONNX model that the engine is refitted from does not have all weights of the engine.',
    advice:
      'Refit from the model that it was built from, or from one with the same nodes and names of weights (a new export of the same code). `refitter.get_missing_weights()` lists what is missing.',
    source: 'onnx-tensorrt ModelRefitter.cpp; built with TensorRT 10.6',
  },
  {
    id: 'engine-damaged',
    code: 'engine-invalid',
    overcome: /timing cache will not be used/,
    pattern:
      /magicTag|Failed to read memory from the stream: read \d+ out of|[Mm]agic tag does not match|[Nn]ot a valid plan stream|expected size of serialized engine|Serialization assertion|Invalid engine header|The engine plan file is (?:corrupt|invalid)/,
    named: (_, text) => ({
      values: /magicTag == rt::kPLAN_MAGIC_TAG/.test(text)
        ? {
            what: 'it does not begin like one, so it is another kind of file, or an engine of another product or a much older version',
            step: 'See which file is loaded: an ONNX model has to be built first, a header before the engine (of Ultralytics: 4 bytes of length, then JSON) has to be skipped, and a Git LFS pointer fetched (`git lfs pull`).',
          }
        : /header\.size == |Failed to read memory from the stream/.test(text)
          ? {
              what: 'it is not complete (its size is not the one in its header), so the copy or the write of it was cut off',
              step: 'Copy it again and compare the sizes.',
            }
          : { what: 'of another version or product, or damaged' },
    }),
    cause: 'The file is not an engine that this version of TensorRT can read: {what}.',
    advice: {
      onnxruntime:
        'Delete the cached engines (trt_engine_cache_path), and install the TensorRT that this release of ONNX Runtime was built with (the table of its TensorRT provider names it).',
      torch2trt: REBUILD.torch2trt,
      'vs-mlrt': REBUILD['vs-mlrt'],
      ultralytics:
        'Ultralytics writes its own header before the engine: skip it (4 bytes of length, then JSON) to load the engine elsewhere.',
      other:
        '[[{step} ]]Build the engine again with the TensorRT that loads it: trtexec, the Python package and the libraries that LD_LIBRARY_PATH (PATH) finds first may differ in version. A file of another product (TensorRT-RTX, DLA loadable, Ultralytics with its own header) fails alike.',
    },
    source:
      'captures of TensorRT 8.6 and 10.6; HolyWu/vs-dpir#20, triple-mu/YOLOv8-TensorRT#246, chequanghuy/TwinLiteNet#12',
  },
  {
    id: 'engine-of-other-runtime',
    code: 'engine-other-version',
    pattern: /Unexpected call to stub(?: (?<what>\w+) for (?<part>\w+))?/,
    cause:
      'The runtime that is loaded lacks a part that the engine needs[[ ({part})]]: the engine was built by another version, or this is the lean or dispatch runtime, which only runs version-compatible engines.',
    advice: {
      ...REBUILD,
      other: `Link and load the full runtime (libnvinfer, in Python tensorrt) in place of libnvinfer_lean or libnvinfer_dispatch, or build the engine version-compatible (--versionCompatible). With the full runtime: use one TensorRT for building and running (trtexec and the Python package may differ).`,
    },
    sure: 'likely',
    source: 'triple-mu/YOLOv8-TensorRT#308, NVIDIA/TensorRT#3307, #4790; TensorRT lean runtime',
  },
  {
    id: 'engine-not-deserialized',
    code: 'engine-invalid',
    pattern:
      /[Uu]nable to (?:load plan file|create TensorRT (?:engine|runtime)|deserialize)|[Ff]ailed to deserialize (?:cuda )?engine|deserializeCudaEngine failed|Could not deserialize engine|operator \(\): engine deserialization failed|could not deserialize engine from binary data|Assertion engine->deserialize|Expected \(cuda_engine\.get\(\) != nullptr\)/,
    cause:
      'The engine cannot be loaded, and no line says why: most often it was built by another version of TensorRT or for another GPU.',
    advice: REBUILD,
    after: [
      'engine-other-version',
      'engine-other-device',
      'engine-invalid',
      'gpu-unsupported',
      'library-missing',
      'plugin-missing',
      'out-of-memory',
      'library-mismatch',
    ],
    sure: 'likely',
    source: 'triton-inference-server/server#317, microsoft/onnxruntime#22139',
  },
];

/** Numbers of formats grow with the versions (205: 8.2, 213: 8.4, 232: 8.5); 0 is that of no release. */
const ageOf = (tag: string | undefined, was: string | undefined): string | undefined =>
  Number(tag) > 0 && Number(was) > 0 ? (Number(was) < Number(tag) ? 'an earlier' : 'a later') : undefined;

/** Numbers of the archive format, which no table maps to versions. */
const formatOf = (text: string | undefined): string | undefined => (text === undefined ? undefined : `format ${text}`);
