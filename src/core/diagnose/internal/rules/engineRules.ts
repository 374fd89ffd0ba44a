import { type DiagnosisRule } from '../rule.ts';

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
    id: 'engine-damaged',
    code: 'engine-invalid',
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
