import { computeCapability, gpuSupport } from '../gpuSupport.ts';
import type { Named, DiagnosisRule, RuleContext } from '../rule.ts';
import { EVERY_CAUSE } from './everyCause.ts';

const SAME_SET =
  'Use one set of CUDA, cuBLAS, cuDNN and TensorRT that belong together (see the support matrix of this TensorRT): look for an older copy on LD_LIBRARY_PATH (PATH on Windows), in the conda environment, or in the wheels of PyTorch (import order decides which is loaded), and update it to the version that TensorRT was compiled against.';
const CONTAINER =
  'Start the container with `--gpus all` (NVIDIA Container Toolkit), and check `nvidia-smi` inside it; on a plain machine install or update the driver.';

/** Why Windows does not load a library. */
const WINDOWS_ERRORS: Readonly<Record<string, string>> = {
  126: 'a library that it needs is not found',
  127: 'a library that it needs is of another version',
  193: 'it is for another processor, or damaged',
  1114: 'it failed when it started, most often because a driver is missing or CUDA has another version',
  1920: 'the program may not read it',
};

/** Libraries, drivers and GPUs. */
export const ENVIRONMENT_RULES: readonly DiagnosisRule[] = [
  {
    id: 'kernel-library',
    code: 'library-mismatch',
    pattern: /validateCaskKLibSize|createCaskKernelLibrary\w*[^\n]*Error Code/,
    cause: 'The library of kernels that TensorRT loads while it builds is not the one of this version, or is damaged.',
    advice:
      'Install one TensorRT and remove the others from the path of the loader (PATH, LD_LIBRARY_PATH): the builder resources must have the version of nvinfer. The version in the name of trtexec and that of the package must agree.',
    sure: 'possible',
    source: 'NVIDIA/TensorRT#4572',
  },
  {
    id: 'provider-libraries',
    code: 'library-missing',
    pattern: /Please install TensorRT libraries as mentioned in the GPU requirements page/,
    cause: 'ONNX Runtime cannot load the libraries of TensorRT, and goes on without its TensorRT provider.',
    advice:
      "Install the TensorRT, CUDA and cuDNN that this release of ONNX Runtime was built with, and put their folders on PATH or LD_LIBRARY_PATH; with pip, `import tensorrt` before the session. Without TensorRT, leave 'TensorrtExecutionProvider' out of the providers.",
    source: 'ONNX Runtime onnxruntime_pybind_state.cc; AiuniAI/Unique3D#77',
  },
  {
    id: 'provider-decryption',
    code: 'library-missing',
    pattern: /TensorRT EP could not open shared library from/,
    cause: 'The TensorRT provider is to decrypt cached engines, and cannot load the library for that.',
    advice:
      'Set trt_engine_decryption_enable to 0, or trt_engine_decryption_lib_path to the library. In C and C++ set every field of OrtTensorRTProviderOptions: one that is not set has any value.',
    source: 'microsoft/onnxruntime#9364',
  },
  {
    id: 'builder-flag-unknown',
    code: 'library-mismatch',
    pattern: /condition: int\(builderFlag\) >= 0|EnumMax<BuilderFlag>/,
    once: true,
    cause:
      'The program asks for a builder flag that this TensorRT does not have: both were made for different versions.',
    advice:
      'Use one version for all: `pip list | grep -i tensorrt` must show one version of tensorrt, its bindings and its libraries; update Polygraphy.',
    sure: 'likely',
    source: 'yuvraj108c/ComfyUI-Upscaler-Tensorrt#60',
  },
  {
    id: 'library-differs',
    code: 'library-mismatch',
    pattern:
      /TensorRT was linked against (?<library>cuBLAS|cuDNN|CUDA)[\w/ ]*? (?<want>\d[\d.]*\d) but loaded (?:cuBLAS|cuDNN|CUDA)[\w/ ]*? (?<have>\d[\d.]*\d)/,
    severity: 'warning',
    harmless: true,
    cause: 'TensorRT was compiled against {library} {want}, but {have} is loaded here.',
    advice:
      'If the build passes, this can be ignored. If it fails in a CUDA library or Myelin, use one set of CUDA, cuBLAS, cuDNN and TensorRT that belong together: look for an older copy on LD_LIBRARY_PATH (PATH on Windows) or in the wheels of PyTorch.',
    sure: 'possible',
    source: 'NVIDIA/TensorRT#3534',
  },
  {
    id: 'library-mismatch',
    code: 'library-mismatch',
    pattern:
      /(?:Compiled|compiled|built|linked) against (?<library>cu\w+|CUDA)[\w/ ]*? (?<want>\d[\d.]*\d) but (?:running against|running with|loaded) (?:cu\w+|CUDA)[\w/ ]*? (?<have>\d[\d.]*\d)/,
    named: (m) => ({ values: { older: olderText(m.groups!['want']!, m.groups!['have']!) } }),
    cause:
      'The {library} that is loaded here, {have}, is {older} than the one that TensorRT was compiled against, {want}: versions of CUDA libraries are mixed.',
    advice: SAME_SET,
    source: 'Myelin; NVIDIA/TensorRT#3236, #1292; open-mmlab/mmdeploy#266',
  },
  {
    id: 'tensorflow-tensorrt-differs',
    code: 'library-mismatch',
    pattern: /TensorRT mismatch\. Compiled against version (?<want>[\d.]+), but loaded (?<have>[\d.]*\d)/,
    severity: 'warning',
    cause: 'TensorFlow was compiled against TensorRT {want}, and {have} is loaded here.',
    advice:
      'Install the TensorRT that this TensorFlow was compiled with, or a TensorFlow for the one that is here; on a Jetson both from one JetPack.',
    source: 'TensorFlow trt_convert.py; jkjung-avt/hand-detection-tutorial#31',
  },
  {
    id: 'tensorflow-without-tensorrt',
    code: 'library-missing',
    pattern: /TF-TRT Warning: (?:Could not find TensorRT|Cannot dlopen some TensorRT libraries)/,
    severity: 'warning',
    once: true,
    harmless: true,
    cause: 'TensorFlow does not find the libraries of TensorRT, which only TF-TRT needs.',
    advice:
      'Without TF-TRT nothing has to be done. Otherwise install the TensorRT version that this TensorFlow was compiled with, and put its libraries on LD_LIBRARY_PATH; other major versions are not found.',
    source: 'TensorFlow tf2tensorrt/utils/py_utils.cc; NVIDIA/TensorRT#2933',
  },
  {
    id: 'cublas-heuristics',
    code: 'library-mismatch',
    pattern: /No results returned from cublas heuristic search|cublasLtMatmulAlgoGetHeuristic/,
    cause:
      'cuBLAS found no algorithm for a multiplication: its version does not fit this TensorRT or GPU, or memory is short.',
    advice: SAME_SET,
    sure: 'possible',
    source: 'Myelin; NVIDIA/TensorRT issues of 8.x',
  },
  {
    id: 'cudnn-not-initialized',
    code: 'library-mismatch',
    pattern:
      /Could not initialize (?<library>cudnn|cublas|cublasLt)|(?<library2>CUDNN|CUBLAS)_STATUS_(?:NOT_INITIALIZED|VERSION_MISMATCH|SUBLIBRARY_\w+|ARCH_MISMATCH|LICENSE_ERROR)|cublasStatus == CUBLAS_STATUS_SUCCESS/,
    named: (m, _, { version }) => {
      const library = (m.groups!['library'] ?? m.groups!['library2'] ?? 'cublas').toLowerCase().includes('cudnn')
        ? 'cuDNN'
        : 'cuBLAS';
      return { values: { library, wanted: library === 'cuDNN' ? cudnnFor(version) : '' } };
    },
    cause:
      '{library} cannot be initialized: it is not found on the library path, is of a version that this TensorRT does not work with, or the GPU has no free memory.',
    advice: `Check that the loader finds {library} (ldconfig -p, LD_LIBRARY_PATH; PATH on Windows) and its version{wanted}, and that nvidia-smi shows free memory.`,
    sure: 'likely',
    source: 'TensorRT executionResources.cpp; jkjung-avt/tensorrt_demos#605, NVIDIA/TensorRT#1818',
  },
  {
    id: 'cuda-runtime-too-new',
    code: 'library-missing',
    pattern:
      /(?:CUDA )?driver version is insufficient for CUDA runtime version|cudaErrorInsufficientDriver|CUDA initialization failure with error: 35|Unable to read CUDA capable devices\. Return status: (?:35|804)\b|forward compatibility was attempted on non supported HW|error: 804|no kernel image.*driver/,
    cause: 'The CUDA driver is older than what the CUDA runtime of this program needs, or there is no driver here.',
    advice: {
      trtlens: `Update the NVIDIA driver, or build with TensorRT-RTX, which needs no GPU. ${CONTAINER}`,
      triton: `Use the container release that fits the driver (its support matrix), or update the driver. ${CONTAINER}`,
      other: `Update the NVIDIA driver, or use a TensorRT for an older CUDA. ${CONTAINER} TensorRT-RTX builds without a GPU.`,
    },
    after: ['plugin-missing'],
    source: 'CUDA; captures of TensorRT-RTX 1.7.1',
  },
  {
    id: 'no-gpu',
    code: 'library-missing',
    pattern:
      /no CUDA-capable device is detected|cudaErrorNoDevice|CUDA initialization failure with error: (?:100|101|999|46|3)\b|Unable to read CUDA capable devices|NVIDIA Driver was not detected|Failed to initialize NVML|libcuda\.so(?:\.\d)?: cannot open|could not select device driver|no NVIDIA (?:GPU|driver)/i,
    cause: 'The program finds no GPU: the driver is missing, or the container was started without the GPU.',
    advice: `${CONTAINER} A container also needs NVIDIA_DRIVER_CAPABILITIES=compute,utility. TensorRT-RTX builds without a GPU.`,
    source: 'CUDA error 100; NVIDIA Container Toolkit',
  },
  {
    id: 'driver-missing',
    code: 'library-missing',
    pattern:
      /CUDA initialization failure|unsupported PTX version|CUDA error 222\b|CUDA_ERROR_UNSUPPORTED_PTX_VERSION|the provided PTX was compiled with an unsupported toolchain|libcuda\.so/,
    cause:
      'This program needs a GPU and a driver at least as new as the CUDA that it was compiled with, and finds none here.',
    advice: `Compare the CUDA version that nvidia-smi shows (of the driver) with that of the toolkit (nvcc --version): the driver's must not be lower. ${CONTAINER} TensorRT-RTX builds without a GPU.`,
    source: 'captures of TensorRT 8.6; CUDA error 222, wang-xinyu/tensorrtx#1249',
  },
  {
    id: 'gpu-unsupported',
    code: 'gpu-unsupported',
    pattern:
      /Target GPU SM (?<sm>\d+) is not supported by this TensorRT release|Unsupported SM:? ?(?<hex>0x[\da-fA-F]+)?|SM version not supported in this NVRTC version|GPU (?:architecture|compute capability) (?:sm_)?(?<sm2>[\d.]+) is not supported|compute capability (?<sm3>\d+\.\d+) (?:is )?(?:not supported|is too (?:old|new))/,
    named: gpuNamed,
    cause: 'This version of TensorRT[[ ({version})]] does not support the GPU[[, compute capability {sm}]]{why}.',
    advice: '{use}.',
    source: 'NVIDIA/TensorRT#3826, #4359, #2727, #4317; DDTRobot/tita_rl_sim2sim2real#7',
  },
  {
    id: 'embedded-device-unknown',
    code: 'gpu-unsupported',
    pattern: /Unknown embedded device detected/,
    cause: 'This TensorRT does not know the memory size of this Jetson: it is older than the module.',
    advice:
      'Install the JetPack that supports the module: its TensorRT knows it. Do not mix packages of different JetPacks.',
    source: 'TensorRT utils.cpp::checkMemLimit; forums of NVIDIA Jetson',
  },
  {
    id: 'no-kernel-image',
    code: 'gpu-unsupported',
    pattern:
      /no kernel image is available for execution on the device|CUDA error 209\b|Cuda failure: 209\b|cudaErrorNoKernelImageForDevice|invalid device function/,
    named: gpuNamed,
    cause: 'A library or plugin has no code for this GPU[[ ({gpu})]].',
    advice:
      'Build the plugin for its compute capability (nvcc -gencode arch=compute_XX,code=sm_XX), or use a TensorRT, CUDA and PyTorch that support the GPU.',
    source: 'CUDA error 209',
  },
  {
    id: 'compiler-older-than-gpu',
    code: 'gpu-unsupported',
    pattern:
      /nvrtc: error: invalid value for --gpu-architecture|ptxas fatal\s*: Value 'sm_(?<sm>\d+)a?' is not defined|NVRTC_ERROR_INVALID_OPTION/,
    cause:
      'The CUDA compiler that is installed (NVRTC, ptxas) does not know this GPU[[, SM {sm}]]: it is older than the GPU, or so new that it dropped it.',
    advice:
      'Install the CUDA version that this TensorRT was built with, and a TensorRT that supports the GPU (its support matrix lists both), and see that no older libnvrtc comes first in LD_LIBRARY_PATH.',
    source: 'CUDA, NVRTC and ptxas',
  },
  {
    id: 'gpu-memory-unknown',
    code: 'library-missing',
    pattern: /Unable to determine GPU memory usage/,
    once: true,
    cause: 'The program finds no GPU: the driver is missing, or the container was started without the GPU.',
    advice: `${CONTAINER} A container also needs NVIDIA_DRIVER_CAPABILITIES=compute,utility. TensorRT-RTX builds without a GPU.`,
    after: ['library-missing', 'gpu-unsupported', 'library-mismatch'],
    sure: 'likely',
    source: 'captures of TensorRT 8.6 and 10.6; dusty-nv/jetson-inference#1515',
  },
  {
    id: 'object-not-created',
    code: 'library-missing',
    pattern: /what\(\):\s+Failed to create object/,
    cause:
      'TensorRT could not create its builder or runtime: CUDA cannot be initialized here, or the libraries do not fit.',
    advice: `Look at the first error above. ${CONTAINER} Compare the version of TensorRT that the program was compiled with and the one that is loaded.`,
    after: EVERY_CAUSE.filter((code) => code !== 'crashed'),
    sure: 'likely',
    source: 'TensorRT samples, common.h',
  },
  {
    id: 'python-versions-differ',
    code: 'library-mismatch',
    pattern:
      /\b(?<call>\w+)\(\) (?:got an unexpected keyword argument '(?<argument>\w+)'|takes \d+ positional arguments? but \d+ (?:was|were) given)|cannot import name '(?<name>\w+)' from '(?<module>[\w.]+)'/,
    severity: 'error',
    named: ({ groups: { call, name, module } = {} }) => ({
      values: { what: call ? `${call}() takes other arguments` : `${module} has no ${name}` },
    }),
    cause: 'Two Python packages or extensions here are of different versions: {what} than the caller expects.',
    advice:
      'Update both, the extension (node, plugin, script) and the program that it extends, or install the version of the package that its requirements name. TensorRT is not what fails.',
    sure: 'likely',
    source: 'comfyanonymous/ComfyUI_TensorRT#53, phineas-pta/comfy-trt-test#9, Comfy-Org/ComfyUI#7919',
  },
  {
    id: 'python-dll',
    code: 'library-missing',
    pattern:
      /ImportError: DLL load failed(?: while importing (?<module>\w+))?(?:: The specified (?<kind>module|procedure) could not be found)?/,
    severity: 'error',
    once: true,
    named: ({ groups: { module, kind } = {} }) => ({
      values: {
        module: module ?? 'a package',
        why:
          kind === 'procedure'
            ? 'a library (DLL) that it needs is of another version'
            : 'a library (DLL) that it needs is not found, or is of another version',
      },
    }),
    cause: 'The compiled part of {module} cannot be loaded by Python: {why}.',
    advice:
      'Use one set: the TensorRT package, its libraries (nvinfer*.dll), CUDA and cuDNN of the versions in its support matrix, with their folders first on PATH and older copies removed (also from the CUDA folder); restart the terminal. Python 3.8 and later do not look for libraries on PATH for modules of their own: `os.add_dll_directory(FOLDER)` before the import helps.',
    sure: 'likely',
    source: 'NVIDIA/TensorRT#1620, #3367; NVIDIA/Stable-Diffusion-WebUI-TensorRT#346',
  },
  {
    id: 'python-binding-missing',
    code: 'library-missing',
    pattern: /No module named '?tensorrt\w*\.tensorrt\b/,
    cause: 'The Python package of TensorRT is here, but not its compiled part for this version of Python.',
    advice:
      'Install the wheel for this Python (cp38 is for 3.8) and this processor. On a Jetson that is the one of JetPack, for the Python of the system only (python3-libnvinfer; a virtual environment needs --system-site-packages).',
    source: 'NVIDIA/TensorRT#2288',
  },
  {
    id: 'python-package-incomplete',
    code: 'library-missing',
    pattern:
      /module 'tensorrt\w*' has no attribute '(?<name>__version__|Logger|ILogger|Builder|Runtime|OnnxParser|init_libnvinfer_plugins|nptype|volume|float32)'/,
    cause:
      'What Python imports as tensorrt is not the whole package: {name} is in every version since 5. Something else has that name, or the installation is broken.',
    advice:
      'Print `tensorrt.__file__`: a file or folder of your own named tensorrt hides the package (rename it); None means an empty folder. Otherwise remove all tensorrt packages of pip and install one version again; on a Jetson use the one of JetPack.',
    sure: 'likely',
    source: 'NVIDIA-AI-IOT/torch2trt#24, #329, #953',
  },
  {
    id: 'pip-cannot-install',
    code: 'library-missing',
    pattern:
      /Building wheel for tensorrt\S* \(setup\.py\) \.\.\. error|Failed building wheel for tensorrt|No matching distribution found for tensorrt|satisfies the requirement tensorrt|Ultralytics requirements? \['tensorrt[^\n]*not found, attempting AutoUpdate\.\.\.\s+error:/,
    cause: 'TensorRT cannot be installed by pip here.',
    advice:
      "Update pip and wheel first (`pip install --upgrade pip wheel`), use a version of Python that has wheels of this TensorRT, and add NVIDIA's package index (--extra-index-url) for versions before 10. On a Jetson pip has none that work: use the TensorRT of JetPack (python3-libnvinfer), in a virtual environment with --system-site-packages.",
    source: 'NVIDIA/TensorRT#2933, #2963, #3060; ultralytics/ultralytics#18882, NVIDIA-AI-IOT/jetcard#48',
  },
  {
    id: 'link-failed',
    code: 'library-missing',
    pattern:
      /(?:cannot find|找不到) -l(?<lib>nv\w+|cud\w+|cublas\w*|myelin\w*)|lib(?<lib2>cudnn|cublas|nvinfer|nvonnxparser|cudart)\w*\.so[.\d]*, needed by [^\n]*not found|undefined reference to [`'](?<lib3>cudnn|cublas|createInfer|nvinfer1::)/,
    once: true,
    named: (m) => ({
      values: {
        library:
          m.groups!['lib'] ?? m.groups!['lib2'] ?? m.groups!['lib3']?.replace(/^(?:createInfer|nvinfer1::)/, 'nvinfer'),
      },
    }),
    cause: 'The linker does not find the library {library}; the program is not built.',
    advice:
      'Give its folder to the build (CMake: -DTensorRT_ROOT, TENSORRT_DIR or link_directories, as the project names it; LD_LIBRARY_PATH counts when the program runs, not here), and install the development packages. A library that another one needs must have the version in its name: cuDNN and CUDA of the release that this TensorRT was made for.',
    source: 'GNU ld; JDAI-CV/fast-reid#544, zerollzeng/tiny-tensorrt#20, dusty-nv/jetson-inference#146',
  },
  {
    id: 'python-package-missing',
    code: 'library-missing',
    pattern: /Module: '(?<module>.+?)' is required but could not be imported|No module named '?(?<module2>[\w.]+)/,
    named: (m) => ({ values: { module: m.groups!['module'] ?? m.groups!['module2'] } }),
    cause: '{module} cannot be loaded.',
    advice:
      'Install the Python package into the interpreter that runs the build. A module that belongs to the script is found from its own folder, or with that folder in PYTHONPATH.',
    source: 'captures; yuvraj108c/ComfyUI-Dwpose-Tensorrt#6',
  },
  {
    id: 'deepstream-library-missing',
    code: 'library-missing',
    pattern: /Could not open lib: (?<file>[^,\s]+)/,
    severity: 'error',
    cause: 'The custom library {file} of nvinfer cannot be loaded.',
    advice:
      'Build it for this DeepStream and CUDA (for DeepStream-Yolo: `CUDA_VER=… make -C nvdsinfer_custom_impl_Yolo`), and name it in custom-lib-path; a relative path starts at the folder of the configuration file.',
    source: 'DeepStream nvdsinfer_context_impl.cpp; marcoslucianops/DeepStream-Yolo#523',
  },
  {
    id: 'provider-dll',
    code: 'library-missing',
    pattern: /LoadLibrary failed with error (?<number>\d+) "[^"]*" when trying to load "(?<path>[^"]+)"/,
    once: true,
    named: (m) => ({
      values: {
        file: m.groups!['path']!.replace(/^.*[\\/]/, ''),
        why: WINDOWS_ERRORS[m.groups!['number']!] ?? `Windows says error ${m.groups!['number']}`,
      },
    }),
    cause: '{file} of ONNX Runtime cannot be loaded: {why}.',
    advice:
      'Install the CUDA and cuDNN that this release of ONNX Runtime was built with (its table of execution providers lists them), for the TensorRT provider also that TensorRT, and put their folders (bin, for TensorRT the one with nvinfer*.dll) on PATH; restart the terminal. Without TensorRT, leave its provider out of the list.',
    source:
      'ONNX Runtime provider_bridge_ort.cc; microsoft/onnxruntime#8325, #11826, #20049, #21501, sdbds/TRELLIS-for-windows#34',
  },
  {
    id: 'torch-version',
    code: 'library-mismatch',
    pattern:
      /undefined symbol: (?<symbol>\w*(?:3c10|N2at|K2at|5torch)\w*)|(?<file>libtorch\w*\.so[.\d]*): cannot open shared object file/,
    named: ({ groups: { symbol, file } = {} }) => ({ values: { what: symbol ?? file } }),
    cause:
      'A package was compiled against another version of PyTorch than the one that is installed: {what} is missing.',
    advice:
      'Install the pair that belongs together: each release of Torch-TensorRT is for one version of PyTorch (its release notes name it, with CUDA and TensorRT); torch2trt and other extensions have to be compiled again after each change of PyTorch. Remove older copies (pip and conda) first.',
    source: 'pytorch/TensorRT#708, #794, #825, #1002, #1026, #3031; NVIDIA-AI-IOT/torch2trt#174',
  },
  {
    id: 'paddle-without-tensorrt',
    code: 'library-missing',
    pattern: /Paddle compiled with TensorRT, but TensorRT dynamic library is not found/,
    severity: 'warning',
    harmless: true,
    cause: 'Paddle does not find the libraries of TensorRT.',
    advice:
      'Without use_tensorrt nothing has to be done. Otherwise install the TensorRT that this Paddle was compiled with, and put its lib folder on LD_LIBRARY_PATH (PATH on Windows).',
    source: 'PaddlePaddle/Paddle2ONNX#411',
  },
  {
    id: 'library-of-provider',
    code: 'library-missing',
    pattern:
      /Failed to load library (?<provider>\S+) with error: (?<file>\S+\.so[.\d]*|\S+\.dll): cannot open shared object file/,
    cause: '{provider} needs {file}, which the loader does not find.',
    advice:
      'Install the library with that major version (this ONNX Runtime was compiled for it; its table of execution providers lists TensorRT, CUDA and cuDNN by release), and add its folder to LD_LIBRARY_PATH. The wheels of TensorRT keep it in site-packages/tensorrt_libs: `import tensorrt` before onnxruntime loads it.',
    source: 'microsoft/onnxruntime#18597',
  },
  {
    id: 'library-missing',
    code: 'library-missing',
    pattern:
      /Could not find: (?<file5>nvinfer[\w.]*\.dll)|Unable to load library: (?<file>\S+?):? |(?<![^\s'"])(?<file2>[^\s'"]+\.so[.\d]*): cannot open shared object file|(?:Could not|Unable to|Failed to) (?:load|find|open) (?:(?:dynamic|shared) )?(?:library|DLL)[: ]+'?(?<file3>[\w.+-]+\.(?:so[.\d]*|dll))|(?<![\w.+-])(?<file4>[\w.+-]+\.dll)["']? (?:was not found|is missing|could not be (?:found|loaded))/i,
    named: (m) => {
      const file = Object.values(m.groups!).find((one) => one !== undefined);
      return { values: { file, product: productOf(file) } };
    },
    cause: '{file} cannot be loaded[[; it belongs to {product}]].',
    advice:
      "Install it[[ ({product}: another major version does not do, the program was compiled for this one)]], or add its folder to the loader's path (LD_LIBRARY_PATH, PATH on Windows).",
    source: 'captures of TensorRT 10.6; dusty-nv/jetson-inference#1371, Azure-Samples/onnxruntime-iot-edge#17',
  },
  {
    id: 'symbol-of-tensorrt',
    code: 'library-mismatch',
    pattern: /undefined symbol: (?<symbol>getPluginRegistry|getLogger|createInfer\w+|initLibNvInferPlugins)\b/,
    cause: 'A library uses {symbol} of TensorRT and was not linked with it.',
    advice:
      'Link it with nvinfer (and nvinfer_plugin for plugins): in CMake `target_link_libraries(… nvinfer nvinfer_plugin)`. Until then `import tensorrt`, or ctypes.CDLL of libnvinfer with RTLD_GLOBAL, before it is loaded helps.',
    source: 'dynamic loader; wang-xinyu/tensorrtx#731',
  },
  {
    id: 'symbol-missing',
    code: 'library-mismatch',
    pattern: /undefined symbol: (?<symbol>\S+)|version [`'](?<symbol2>[A-Z_\d.]+)' not found/,
    named: (m) => ({ values: { symbol: m.groups!['symbol'] ?? m.groups!['symbol2'] } }),
    cause: 'A library was built against another version of TensorRT, CUDA or the C++ runtime: {symbol} is missing.',
    advice: 'Build the plugin or program against the installed TensorRT, or install the version that it was built for.',
    source: 'dynamic loader',
  },
  {
    id: 'llm-attention-gpu',
    code: 'gpu-unsupported',
    pattern: /Assertion failed: Unsupported architecture\b.{0,200}fmhaRunner/,
    cause: 'TensorRT-LLM has no kernels of fused attention (context FMHA) for this GPU.',
    advice:
      'Build without fused attention (trtllm-build --context_fmha disable; without --enable_context_fmha in older versions), or on a GPU that the support matrix of this version of TensorRT-LLM lists.',
    source: 'NVIDIA/TensorRT-LLM#198',
  },
];

/** `libnvinfer.so.8` is of TensorRT 8. */
function productOf(file: string | undefined): string | undefined {
  const [, name = '', version] =
    /lib(nvinfer|nvonnxparser|nvparsers|cudnn|cudart|cublas)\w*\.so\.(\d+)/.exec(file ?? '') ?? [];
  // TensorRT-RTX has its libraries under the same names, with its own versions.
  if (version === undefined || (name.startsWith('nv') && Number(version) < 5)) return undefined;
  return `${name.startsWith('nv') ? 'TensorRT' : name === 'cudnn' ? 'cuDNN' : 'CUDA'} ${version}`;
}

function gpuNamed(match: RegExpExecArray, text: string, { version, product, gpu }: RuleContext): Named {
  const groups = match.groups ?? {};
  const raw = groups['hex'] ?? groups['sm'] ?? groups['sm2'] ?? groups['sm3'];
  const sm = raw === undefined ? undefined : (computeCapability(raw) ?? undefined);
  const support = sm === undefined ? null : gpuSupport(sm, version, product);
  return {
    values: {
      sm,
      gpu: gpu ?? undefined,
      version: version ?? undefined,
      why: support === null ? '' : `: ${support.why}`,
      use:
        support?.use ??
        (text.includes('NVRTC')
          ? 'Use a TensorRT and CUDA that are newer than the GPU'
          : 'Use a version of TensorRT that lists this compute capability in its support matrix'),
    },
  };
}

function olderText(want: string, have: string): string {
  const [a = [], b = []] = [want, have].map((text) => text.split('.').map(Number));
  const index = a.findIndex((part, at) => part !== b[at]);
  return index >= 0 && (b[index] ?? 0) > a[index]! ? 'newer' : 'older';
}

/** cuDNN that a version of TensorRT was tested with (the support matrices of 8.0.3, 8.2.5, 8.4.3, 8.5.3 and 8.6.1). */
function cudnnFor(version: string | null): string {
  const known: Record<string, string> = {
    '8.0': '8.2',
    '8.2': '8.2',
    '8.4': '8.4',
    '8.5': '8.6',
    '8.6': '8.9',
    '10.0': '8.9',
  };
  const wanted = known[version?.split('.').slice(0, 2).join('.') ?? ''];
  return wanted === undefined
    ? ' (TensorRT 8.5 wants cuDNN 8.6, TensorRT 8.6 wants 8.9, TensorRT 10 needs none)'
    : ` (this TensorRT wants cuDNN ${wanted})`;
}
