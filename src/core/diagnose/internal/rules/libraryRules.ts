import type { DiagnosisRule } from '../rule.ts';

/** Libraries and packages that are missing, or of another version. */
export const LIBRARY_RULES: readonly DiagnosisRule[] = [
  {
    id: 'python-package-missing',
    code: 'library-missing',
    pattern:
      /Module: '(?<module>.+?)' is required but could not be imported|(?<!simplifier failure: )No module named '?(?<module2>[\w.]+)/,
    named: (m) => {
      const module = m.groups!['module'] ?? m.groups!['module2']!;
      return { values: { module, how: packageHelp(module) } };
    },
    cause: 'The Python module {module} is not installed where the program looks for it.',
    advice: '{how}',
    source: 'captures; yuvraj108c/ComfyUI-Dwpose-Tensorrt#6',
  },
  {
    id: 'library-missing',
    anywhere: true,
    code: 'library-missing',
    pattern:
      /(?<file6>lib[\w.+-]+\.so[.\d]*) => not found|Could not (?:find: |locate )(?<file5>[\w.-]+\.dll)|Unable to load library: (?<file>\S+?):? |(?<![^\s'"])(?<file2>[^\s'"]+\.so[.\d]*): cannot open shared object file|(?:Could not|Unable to|Failed to) (?:load|find|open) (?:(?:dynamic|shared) )?(?:library|DLL)[: ]+'?(?<file3>[\w.+-]+\.(?:so[.\d]*|dll))(?![\w.])(?!'; dlerror: [\w.+-]+: cannot open)(?! with error: \S+: (?:undefined symbol|version `))|(?<![\w.+-])(?<file4>[\w.+-]+\.dll)["']? (?:was not found|is missing|could not be (?:found|loaded))/i,
    named: (m, text) => {
      const file = Object.values(m.groups!)
        .find((one) => one !== undefined)
        ?.replace(/\.$/, '');
      // GStreamer looks at every plugin: the others go on without it.
      const severity = text.includes("Failed to load plugin '") ? { severity: 'warning' as const } : {};
      return { values: { file, ...productOf(file) }, ...severity };
    },
    cause: '{file} cannot be loaded[[; it belongs to {product}]].',
    advice:
      "Install it[[ ({from})]], or add its folder to the loader's path (LD_LIBRARY_PATH, PATH on Windows). The version in its name has to be that one: the program was compiled for it.",
    source: 'captures of TensorRT 10.6; dusty-nv/jetson-inference#1371, Azure-Samples/onnxruntime-iot-edge#17',
  },
  {
    id: 'provider-libraries',
    anywhere: true,
    code: 'library-missing',
    pattern:
      /Please install TensorRT libraries as mentioned in the GPU requirements page|Failed to create (?:Tensorrt|NvTensorRTRTX)ExecutionProvider/,
    // ONNX Runtime takes the providers that are left.
    severity: 'warning',
    cause: 'ONNX Runtime cannot load the libraries of TensorRT, and goes on without its TensorRT provider.',
    advice:
      "Install the TensorRT, CUDA and cuDNN that this release of ONNX Runtime was built with, and put their folders on PATH or LD_LIBRARY_PATH; with pip, `import tensorrt` before the session. Without TensorRT, leave 'TensorrtExecutionProvider' out of the providers.",
    source: 'ONNX Runtime onnxruntime_pybind_state.cc; AiuniAI/Unique3D#77',
  },
  {
    id: 'symbol-missing',
    anywhere: true,
    code: 'library-mismatch',
    pattern: /undefined symbol: (?<symbol>\S+)|version [`'](?<symbol2>[A-Z_\d.]+)' not found/,
    named: (m) => ({ values: { symbol: m.groups!['symbol'] ?? m.groups!['symbol2'] } }),
    cause: 'A library was built against another version of TensorRT, CUDA or the C++ runtime: {symbol} is missing.',
    advice:
      'Compile the plugin or program again against the TensorRT, CUDA and compiler that are installed here (make clean first), or install the version that it was built for. `c++filt SYMBOL` shows whose function it is.',
    source: 'dynamic loader',
  },
];

/** Who brings a library, by its name; the version in its name counts where `major` is set. */
const LIBRARIES: readonly { name: RegExp; product: string; from: string; windows?: string; major?: true }[] = [
  {
    name: /^(?:lib)?nv(?:infer_plugin_tensorrt_llm|infer_plugin_trtllm)|^libtensorrt_llm|^libth_common/,
    product: 'TensorRT-LLM',
    from: 'install tensorrt_llm for this PyTorch, or use its container',
  },
  {
    name: /^(?:lib)?nvparsers/,
    product: 'TensorRT',
    from: 'the parsers of Caffe and UFF are in TensorRT up to 8 and 9 only',
    major: true,
  },
  {
    name: /^(?:lib)?(?:nvinfer|nvonnxparser)|^libmyelin/,
    product: 'TensorRT',
    windows: "its archive for Windows (lib, from 10.13 on bin), or pip's tensorrt-cu12",
    from: 'apt: libnvinfer and its plugins; pip: tensorrt-cu12 or -cu11, -cu13, whose libraries are in site-packages/tensorrt_libs (`import tensorrt` first loads them); JetPack on a Jetson',
    major: true,
  },
  {
    name: /^(?:lib)?cudnn/,
    product: 'cuDNN',
    windows: 'the bin folder of its archive for this CUDA',
    from: 'apt: libcudnn; pip: nvidia-cudnn-cu12 or -cu11, in site-packages/nvidia/cudnn',
    major: true,
  },
  {
    name: /^(?:lib)?(?:cudart|cublas|cufft|curand|cusolver|cusparse|nvrtc|nvToolsExt|nvJitLink|cupti|npp\w*)(?!Lt_static)/,
    product: 'CUDA',
    windows: 'the bin folder of the CUDA toolkit of that version',
    from: 'the CUDA toolkit of that version in /usr/local/cuda-…/lib64, or the wheels nvidia-…-cu12 of pip, in site-packages/nvidia; containers on JetPack 4 get it from the host, with --runtime nvidia',
    major: true,
  },
  { name: /^libnccl/, product: 'NCCL', from: 'apt: libnccl2; pip: nvidia-nccl-cu12' },
  {
    name: /^(?:libcuda|nvcuda|libnvidia-|libnvcuvid|nvml|libnvdla|libcudla|libnvmedia|libnvos|libnvbuf)/,
    product: 'the NVIDIA driver (JetPack on a Jetson)',
    from: 'do not copy it: install the driver, and start a container with --gpus all, on a Jetson with --runtime nvidia and an image of this JetPack',
  },
  {
    name: /^libtritonserver|^libtriton_/,
    product: 'Triton',
    from: 'use a container with Triton (deepstream:…-triton, the one of Isaac ROS, tritonserver), or install its archive for this JetPack and add its lib folder',
  },
  { name: /^libnvds|^libnvbufsurf|^libgstnv/, product: 'DeepStream', from: 'install it, and run its install.sh' },
  {
    name: /^libtorchtrt/,
    product: 'Torch-TensorRT',
    from: 'pip: torch-tensorrt, in site-packages/torch_tensorrt/lib; for C++ its archive',
  },
  {
    name: /^libtorch|^libc10/,
    product: 'PyTorch',
    from: 'import torch first, or add site-packages/torch/lib; the version must be that of the compilation',
  },
  {
    name: /^(?:lib)?onnxruntime_providers_/,
    product: 'ONNX Runtime',
    from: 'it has to be in the folder of the library of ONNX Runtime itself, from the same release: use the GPU package (onnxruntime-gpu, onnxruntime_gpu for Java, Microsoft.ML.OnnxRuntime.Gpu) and copy all of its libraries next to the program',
  },
  { name: /^(?:lib)?onnxruntime\b/, product: 'ONNX Runtime', from: 'install its release for this processor' },
  { name: /^libmpi|^libopen-(?:rte|pal)/, product: 'Open MPI', from: 'apt: libopenmpi-dev openmpi-bin' },
  {
    name: /^libGL\.so|^libglib-2|^libSM\.so|^libXext/,
    product: 'the system, for OpenCV',
    from: 'apt: libgl1 libglib2.0-0',
  },
  {
    name: /^libopencv_/,
    product: 'OpenCV',
    from: 'the version that the program was compiled with; compile it again here',
  },
  {
    name: /^libpython3/,
    product: 'Python',
    from: 'apt: libpython3-dev of that version, or the lib folder of the conda environment',
  },
  {
    name: /^(?:vcruntime|msvcp|concrt|vcomp)\d/i,
    product: 'the Visual C++ runtime',
    from: 'install "Visual C++ Redistributable" of Microsoft, for x64',
  },
  {
    name: /^zlibwapi/i,
    product: 'zlib, which cuDNN 8 needs',
    from: "cuDNN's installation guide names the download; put it on PATH",
  },
  {
    name: /^librmw_|^librcl/,
    product: 'ROS 2',
    from: 'install that package (ros-…-rmw-cyclonedds-cpp, for example), and source the setup file of ROS and of the workspace',
  },
];

/** Version in the name of a library: `libnvinfer.so.8`, `nvinfer_10.dll`, `cudart64_110.dll`. */
const majorOf = (file: string): string | undefined =>
  /\.so\.(\d+)/.exec(file)?.[1] ?? /_(\d+)\.dll$/i.exec(file)?.[1]?.replace(/^(1[01])\d$/, '$1');

/** `libnvinfer.so.8` is of TensorRT 8. */
function productOf(file: string | undefined): { product?: string; from?: string } {
  const name = (file ?? '').replace(/^.*[\\/]/, '');
  const found = LIBRARIES.find((one) => one.name.test(name));
  if (found === undefined) return {};
  const major = found.major && majorOf(name);
  // TensorRT-RTX has its libraries under the same names, with its own versions.
  if (found.product === 'TensorRT' && major && Number(major) < 5) return {};
  const from = /\.dll$/i.test(name) ? (found.windows ?? found.from) : found.from;
  return { product: major ? `${found.product} ${major}` : found.product, from };
}

/** How to install what a Python module is of. */
const PACKAGES: readonly [RegExp, string][] = [
  [
    /^tensorrt$/,
    'Install it into the Python that runs the program: `python -m pip install tensorrt-cu12` (cu11 or cu13 by the CUDA of the driver; ComfyUI portable: with python_embeded\\python.exe). On a Jetson it comes with JetPack for the Python of the system only (python3-libnvinfer; a virtual environment needs --system-site-packages).',
  ],
  [
    /^tensorrt_(?:bindings|libs|cu\d+|dispatch|lean)/,
    'The package tensorrt only loads its parts (bindings and libraries), which were not installed, or were removed: uninstall all tensorrt packages of pip, update pip, and run `python -m pip install --no-cache-dir tensorrt-cu12` again, with --extra-index-url https://pypi.nvidia.com for versions before 10.',
  ],
  [
    /^_\w|\._\w/,
    'It is a compiled part of a package: build and install that package (from sources: `python setup.py install` or `pip install .`), and start Python in another folder than that of its sources, which otherwise hide what was installed.',
  ],
  [/^pycuda/, '`pip install pycuda` compiles it: it needs a C++ compiler and the CUDA toolkit, with nvcc on PATH.'],
  [/^cuda\b/, '`pip install cuda-python` (below 13 for scripts with `from cuda import cudart`).'],
  [
    /^(?:uff|graphsurgeon)$/,
    'It came with TensorRT up to 8 (its archive has the wheel). UFF is gone: export to ONNX (tf2onnx), and build from that.',
  ],
  [/^onnx_graphsurgeon/, '`pip install onnx-graphsurgeon`.'],
  [
    /^pytorch_quantization/,
    '`pip install pytorch-quantization --extra-index-url https://pypi.nvidia.com`; its successor is nvidia-modelopt.',
  ],
  [
    /^(?:modelopt|ammo)\b/,
    '`pip install "nvidia-modelopt[all]"`; scripts that import ammo are for its first releases.',
  ],
  [/^torch_tensorrt/, '`pip install torch-tensorrt` of the release that belongs to the installed PyTorch.'],
  [/^trtorch/, 'Torch-TensorRT was called so up to 0.4: use torch_tensorrt, or that release.'],
  [
    /^torch2trt/,
    'Clone NVIDIA-AI-IOT/torch2trt and run `python setup.py install` there, with this PyTorch and TensorRT.',
  ],
  [/^tensorrt_llm/, '`pip install tensorrt_llm --extra-index-url https://pypi.nvidia.com` on Linux, or its container.'],
  [/^onnxruntime/, '`pip install onnxruntime-gpu`, without the package onnxruntime next to it.'],
  [
    /^triton_python_backend_utils/,
    'Only the Python backend of Triton has it: the file is run by the server, not by itself.',
  ],
  [
    /^(?:jetson|jetson_inference|jetson_utils)\b/,
    'Run `sudo make install` and `sudo ldconfig` in the build folder of jetson-inference, compiled for this Python, or use its container.',
  ],
  [
    /^pyds$/,
    "Install the wheel of DeepStream's Python bindings (deepstream_python_apps) for this DeepStream and Python.",
  ],
  [/^mmcv\._ext/, 'Install mmcv (mmcv-full up to 1.x) for this PyTorch and CUDA, `mim install mmcv`, not mmcv-lite.'],
  [/^cv2$/, '`pip install opencv-python`.'],
];

const packageHelp = (module: string): string =>
  PACKAGES.find(([name]) => name.test(module))?.[1] ??
  'Install the Python package into the interpreter that runs the build. A module that belongs to the script is found from its own folder, or with that folder in PYTHONPATH.';
