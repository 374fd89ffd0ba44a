import { gpuIn } from '../../../precision/buildFacts.ts';
import { computeCapability, type GpuSupport, gpuSupport } from '../gpuSupport.ts';
import { type DiagnosisRule, EVERY_CAUSE, type Named, type RuleContext } from '../rule.ts';
import { cudaError } from './runtimeRules.ts';

const SAME_SET =
  'Use one set of CUDA, cuBLAS, cuDNN and TensorRT that belong together (see the support matrix of this TensorRT): look for an older copy on LD_LIBRARY_PATH (PATH on Windows), in the conda environment, or in the wheels of PyTorch (import order decides which is loaded), and update it to the version that TensorRT was compiled against.';

const CONTAINER =
  'Start the container with `--gpus all` (NVIDIA Container Toolkit), and check `nvidia-smi` inside it; on a plain machine install or update the driver.';

/** GPUs, drivers, containers, and CUDA with its libraries. */
export const ENVIRONMENT_RULES: readonly DiagnosisRule[] = [
  {
    id: 'program-not-found',
    code: 'file-missing',
    pattern:
      /(?<![\w-])(?<program>trtexec|tensorrt_rtx|polygraphy)(?:\.exe)?['"’]?(?:: ?(?:command )?not found|: Command not found|: No such file or directory| ?: The term '| is not recognized as (?:an|the name))|(?:command not found|[uU]nknown command): ?['"‘]?(?:[^\s'"’]{0,200}\/)?(?<program2>trtexec|tensorrt_rtx|polygraphy)\b/,
    severity: 'error',
    cause: 'The shell does not find {program}, so nothing was built.',
    advice:
      'Give its full path, or add its folder to PATH: trtexec of TensorRT packages is in /usr/src/tensorrt/bin, that of an archive in its folder bin (tensorrt_rtx, too); polygraphy comes with `pip install polygraphy`. The Python wheels of TensorRT do not have trtexec.',
    named: ({ groups }) => ({ values: { program: groups?.['program'] ?? groups?.['program2'] } }),
    source: 'bash, dash, zsh, fish, tcsh, cmd and PowerShell',
  },
  {
    id: 'framework-out-of-memory',
    code: 'out-of-memory',
    pattern:
      /CUDA out of memory\.?(?: Tried to allocate (?<size>[\d.]+ [KMG]iB))?|torch\.(?:cuda\.)?OutOfMemoryError|OOM when allocating tensor|BFCArena::AllocateRawInternal|Dst tensor is not initialized|(?:errors_impl\.)?ResourceExhaustedError:/,
    severity: 'error',
    once: true,
    overcome: /^Prompt executed in |\bretrying with tiled/,
    cause: 'The memory of the GPU ran out in PyTorch, TensorFlow or ONNX Runtime[[, which asked for {size} more]].',
    advice:
      'Close other programs that use the GPU, and use a smaller batch, input or model part, or FP16. Convert in a process of its own: what the framework holds (the loaded model, its cache) is not free for TensorRT (del model, torch.cuda.empty_cache(); TensorFlow: set_memory_growth).',
    source: 'PyTorch and TensorFlow allocators',
  },
  {
    id: 'kernel-library',
    code: 'library-mismatch',
    pattern: /validateCaskKLibSize|createCaskKernelLibrary[^\n]*Error Code/,
    cause: 'The library of kernels that TensorRT loads while it builds is not the one of this version, or is damaged.',
    advice:
      'Install one TensorRT and remove the others from the path of the loader (PATH, LD_LIBRARY_PATH): the builder resources must have the version of nvinfer. The version in the name of trtexec and that of the package must agree.',
    sure: 'possible',
    source: 'NVIDIA/TensorRT#4572',
  },
  {
    id: 'provider-cuda',
    code: 'library-missing',
    pattern: /CUDA_PATH is set but CUDA wasn't able to be loaded|Failed to create CUDAExecutionProvider/,
    cause: 'ONNX Runtime cannot load the libraries of CUDA or cuDNN, and goes on without its CUDA provider.',
    advice:
      'Install the CUDA and cuDNN (of the major versions) that this release of onnxruntime-gpu was built with, and put their folders on PATH or LD_LIBRARY_PATH; with pip, `onnxruntime.preload_dlls()` or `import torch` before the session. Install only one of onnxruntime and onnxruntime-gpu.',
    source: 'ONNX Runtime onnxruntime_pybind_state.cc; microsoft/onnxruntime#14667',
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
    id: 'library-of-other-cuda',
    code: 'library-mismatch',
    pattern:
      /TensorRT was linked against (?<library>cuBLAS|CUDA)[\w/ ]*? (?<want>\d+)\.[\d.]+ but loaded (?:cuBLAS|CUDA)[\w/ ]*? (?!\k<want>\.)(?<have>\d+)\./,
    severity: 'warning',
    cause:
      'This TensorRT was built for CUDA {want}, and libraries of CUDA {have} are loaded in their place ({library}): they were renamed or linked under names that they do not have.',
    advice:
      'Install the TensorRT that is built for CUDA {have} (its download and its wheels name the CUDA), or CUDA {want} with the cuDNN for it, and remove the renamed files. The GPU has to be one that this CUDA knows: Ampere (RTX 30) needs CUDA 11, Ada and Hopper 11.8, Blackwell 12.8.',
    sure: 'likely',
    source: 'NVIDIA/TensorRT#2460',
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
      /(?:Compiled|compiled|built|linked) against (?<library>cu\w{1,20}|CUDA)[\w/ ]*? (?<want>\d[\d.]*\d) but (?:running against|running with|loaded) (?:cu|CUDA)[\w/ ]*? (?<have>\d[\d.]*\d)/,
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
    id: 'tensorflow-registered-twice',
    code: 'library-mismatch',
    pattern:
      /Unable to register cu\w+ factory|computation placer already registered|could not open file to read NUMA node/,
    severity: 'warning',
    once: true,
    harmless: true,
    cause: 'TensorFlow says of its start what does no harm: a CUDA library is registered twice, or NUMA is not known.',
    advice: 'Nothing has to be done. What fails after that has another cause.',
    source: 'TensorFlow cuda_dnn.cc, cuda_executor.cc; tensorflow/tensorflow#62075',
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
    id: 'instance-norm-cudnn',
    code: 'runtime-failed',
    pattern: /instanceNormalizationPlugin\.cu \(\d+\) - Cudnn Error in (?:\S+::)?(?<call>\w+): \d+ \((?<why>\w+)\)/,
    cause:
      "TensorRT's plugin for InstanceNormalization calls cuDNN, and that failed in {call}() ({why}): mostly the cuDNN that is loaded is not the one of this TensorRT, or a shape or memory is not what it takes.",
    advice:
      'Build without this plugin: the parser flag NATIVE_INSTANCENORM (`parser.set_flag(trt.OnnxParserFlag.NATIVE_INSTANCENORM)`; trtexec 8.6 does so unless --pluginInstanceNorm is given, and TensorRT 10 by default). Otherwise load one cuDNN, of the version that this TensorRT was built with (PyTorch brings its own: import order and PATH decide), and destroy context and engine before the program ends.',
    after: ['out-of-memory', 'library-missing'],
    sure: 'likely',
    source: 'TensorRT instanceNormalizationPlugin.cu; NVIDIA/TensorRT#4239, #3623, #3262, #1611',
  },
  {
    id: 'cudnn-not-initialized',
    code: 'library-mismatch',
    pattern:
      /Could not initialize (?<library>cudnn|cublas|cublasLt)|(?<library2>CUDNN|CUBLAS)_STATUS_(?:NOT_INITIALIZED|VERSION_MISMATCH|SUBLIBRARY_\w+|ARCH_MISMATCH|LICENSE_ERROR)|(?<library3>cuDNN) failed to initialize|cublasStatus == CUBLAS_STATUS_SUCCESS/,
    named: (m, _, { version }) => {
      const library = (m.groups!['library'] ?? m.groups!['library2'] ?? m.groups!['library3'] ?? 'cublas')
        .toLowerCase()
        .includes('cudnn')
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
    pattern: cudaError(
      '35',
      /(?:CUDA )?driver version is insufficient for CUDA runtime version|cudaErrorInsufficientDriver|Unable to read CUDA capable devices\. Return status: 35\b|NVIDIA driver on your system is too old|no kernel image.*driver/,
    ),
    // Without CUDA there is no builder and no runtime, whatever the level at which it says so.
    named: ({ 0: text }) => (text.includes('CUDA init') ? { severity: 'error' } : {}),
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
    id: 'driver-of-two-versions',
    code: 'library-mismatch',
    pattern: cudaError(
      '803|804',
      /unsupported display driver ?\/ ?cuda driver combination|(?:CUDA_ERROR_|cudaError)(?:SYSTEM_?DRIVER_?MISMATCH|COMPAT_?NOT_?SUPPORTED)|forward compatibility was attempted on non supported HW|Unable to read CUDA capable devices\. Return status: 80[34]\b/i,
    ),
    severity: 'error',
    once: true,
    cause:
      'The libcuda that the program loads is not the one of the driver that runs: a newer one of a package cuda-compat, which most GPUs other than those for data centers cannot use, or one that an update or an image left behind.',
    advice:
      "Restart the machine after an update of the driver. Otherwise update the driver to one that knows the CUDA of the program or container, or take an older container; remove cuda-compat (`ldconfig -p | grep libcuda` shows which is loaded: …/compat has to go from LD_LIBRARY_PATH), and copies of libcuda.so in the image: the container toolkit mounts the host's.",
    sure: 'likely',
    source: 'CUDA errors 803 and 804; CUDA compatibility guide',
  },
  {
    id: 'docker-image',
    code: 'library-missing',
    pattern:
      /manifest for (?<image>\S+) not found|manifest unknown: |pull access denied for (?<image2>[^\s,]+), |unauthorized: (?:authentication required|<html>)/,
    severity: 'error',
    once: true,
    named: ({ groups: { image, image2 } = {} }) => ({ values: { image: image ?? image2 } }),
    cause: 'The image of the container[[ {image}]] does not exist under that name and tag, or needs a login.',
    advice:
      'Look its tags up in the registry: those of NGC (nvcr.io/nvidia/tensorrt:YY.MM-py3, tritonserver, deepstream) and for Jetson (l4t-…, r36.…) are named by release, and not every release has one; build it otherwise. For nvcr.io: `docker login nvcr.io` with the user $oauthtoken and the key of NGC.',
    source: 'Docker; dusty-nv/jetson-containers#762',
  },
  {
    id: 'container-runtime',
    code: 'library-missing',
    pattern:
      /nvidia-container-cli: (?<why>[^\n]+)|could not select device driver "[^"\n]*" with capabilities|[Uu]nknown (?:or invalid )?runtime (?:name|specified):? ?"?nvidia/,
    once: true,
    named: ({ groups: { why } = {} }) => ({ values: { what: containerCause(why) } }),
    cause: 'Docker cannot give the container a GPU: {what}.',
    advice:
      'See that `nvidia-smi` works on the host, outside of the container, and update the driver there if the image needs a newer CUDA. Install the NVIDIA Container Toolkit, run `sudo nvidia-ctk runtime configure --runtime=docker`, and restart Docker. On a machine without a GPU leave out --gpus.',
    sure: 'likely',
    source: 'NVIDIA Container Toolkit; NVIDIA/TensorRT#1235, #1623, HonuRobotics/dockwater#10',
  },
  {
    id: 'cuda-after-fork',
    code: 'runtime-failed',
    pattern: cudaError(
      '3',
      /LogicError: \w+ failed: (?:initialization error|not initialized)|Cannot re-initialize CUDA in forked subprocess|CUDA_ERROR_NOT_INITIALIZED|cudaErrorInitializationError|(?:Cuda Runtime \(|Cuda failure: )initialization error/,
    ),
    severity: 'error',
    cause:
      'CUDA is not initialized in this process or thread: most often it was used before the process was forked (multiprocessing, a web server with workers).',
    advice:
      "Create the engine, its context and the buffers in the process that uses them, and start processes with `multiprocessing.set_start_method('spawn')`. With PyCUDA call `cuda.init()` before `cuda.Device(0)`, or import pycuda.autoinit, in that process only. If it fails in a new program, too, the driver does not work: restart, and check nvidia-smi.",
    sure: 'likely',
    source: 'CUDA error 3; wang-xinyu/tensorrtx#1149, cong/yolov5_deepsort_tensorrt#3, #11',
  },
  {
    id: 'no-new-context',
    code: 'runtime-failed',
    pattern: cudaError(
      '46',
      /make_default_context\(\) wasn't able to create a context|cuCtxCreate\w* failed: (?!initialization)|CUDA-capable device\(s\) is\/are busy or unavailable|cudaErrorDevices?Unavailable/,
    ),
    severity: 'error',
    cause:
      'No CUDA context can be created on the GPU: its memory is full, another program has it for itself, or the driver does not work.',
    advice:
      'Look at nvidia-smi: end programs that hold the memory, set the compute mode to Default (`nvidia-smi -c 0`), and restart after an update of the driver.',
    after: ['library-missing', 'gpu-unsupported'],
    sure: 'likely',
    source: 'CUDA error 46, PyCUDA tools.py; NVIDIA/TensorRT#1121',
  },
  {
    id: 'driver-restart',
    code: 'library-mismatch',
    pattern: /API mismatch: the client has|Driver\/library version mismatch/,
    severity: 'error',
    once: true,
    cause:
      'The libraries of the NVIDIA driver and its kernel module are of different versions: the driver was updated and the machine not restarted, or a container brings libraries of another driver.',
    advice:
      'Restart the machine (or unload and load the modules nvidia*). In a container leave out packages of the driver (libnvidia-…, libcuda1): the NVIDIA Container Toolkit mounts those of the host.',
    source: 'NVML, NVIDIA kernel module',
  },
  {
    id: 'cuda-init-memory',
    code: 'out-of-memory',
    once: true,
    pattern: /CUDA initialization failure with error:? 2\b|Unable to determine GPU memory usage: out of memory/,
    severity: 'error',
    cause: 'CUDA got no memory when it started (error 2): the GPU is full, or a limit of the process forbids it.',
    advice:
      'Look at `nvidia-smi` for programs that fill the GPU, and at `ulimit -v` (and the limits of the container or batch system): CUDA reserves far more addresses than it uses, so a limit on virtual memory has to go.',
    sure: 'likely',
    source: 'CUDA error 2; run with TensorRT 10.6 under ulimit -v',
  },
  {
    id: 'llvm-memory',
    code: 'out-of-memory',
    pattern: /LLVM ERROR: out of memory/,
    severity: 'error',
    cause: 'The program asked the host for memory (RAM) that it could not get while {phase}.',
    advice:
      'Where an engine is loaded, its file is most often none: another kind of file, such as an ONNX model given to --loadEngine, or a damaged one, gives sizes without meaning. Otherwise give it more RAM, or a higher limit (`ulimit -v`, the container).',
    sure: 'likely',
    source: 'loading of an ONNX file by trtexec 10.6',
  },
  {
    id: 'driver-stub',
    code: 'library-missing',
    pattern: cudaError('34', /CUDA driver is a stub library|cudaErrorStubLibrary/),
    severity: 'error',
    cause: 'The program loads the stub of libcuda, which is only for linking, in place of the driver.',
    advice:
      'Remove folders named stubs (…/cuda/lib64/stubs) and copies of their libcuda.so from LD_LIBRARY_PATH and from the program; the real libcuda.so.1 comes with the driver (`ldconfig -p | grep libcuda`).',
    source: 'CUDA error 34; run with TensorRT 10.6',
  },
  {
    id: 'no-gpu',
    code: 'library-missing',
    pattern: cudaError(
      '100',
      /no CUDA-capable device is detected|cudaErrorNoDevice|CUDA initialization failure with error:? 101\b|Unable to read CUDA capable devices|NVIDIA Driver was not detected|Failed to initialize NVML|libcuda\.so(?:\.\d)?: cannot open|no NVIDIA (?:GPU|driver)|No CUDA GPUs are available/i,
    ),
    cause:
      'The program finds no GPU that works: the driver is missing or fails, or the container was started without the GPU.',
    advice: `${CONTAINER} A container also needs NVIDIA_DRIVER_CAPABILITIES=compute,utility. CUDA_VISIBLE_DEVICES that is empty or names a GPU that does not exist hides all of them. TensorRT-RTX builds without a GPU.`,
    source: 'CUDA error 100; NVIDIA Container Toolkit',
  },
  {
    id: 'container-before-gpu',
    code: 'gpu-unsupported',
    pattern:
      /Detected (?:NVIDIA )*(?<gpu>[^\n]{1,60}?) GPU, which (?:is|may) not (?:yet )?(?:be )?supported (?:in|by) this/,
    severity: 'warning',
    once: true,
    cause: 'The container is older than the GPU ({gpu}): its TensorRT, CUDA and PyTorch may have no kernels for it.',
    advice:
      'Use a later release of the container (its support matrix names the GPUs): one with CUDA 11.1 or later for the RTX 30 series, 11.8 for the RTX 40 series and H100, 12.8 for Blackwell. Where the program runs all the same, nothing has to be done.',
    sure: 'likely',
    source: "NVIDIA's containers, entry point; Talmaj/DNN-bench#5",
  },
  {
    id: 'container-before-driver',
    code: 'library-missing',
    pattern:
      /This container was built for NVIDIA Driver Release (?<need>[\d.]+) or later(?:, but\s+version (?<have>[\d.]*) ?was detected)?/,
    severity: 'error',
    once: true,
    cause:
      'The container was made for a driver of release {need} or later[[, and this one is {have}]]: its CUDA does not run here, unless a later line says that a compatibility mode is enabled.',
    advice:
      'Update the NVIDIA driver of the host, or take an older release of the container, for this driver (its support matrix). Without any driver version in that line, the container was started without the GPU: `--gpus all`. On a Jetson the driver comes with JetPack: take a container for it (l4t, igpu).',
    overcome: /Compatibility mode ENABLED/,
    after: EVERY_CAUSE,
    sure: 'likely',
    source: "NVIDIA's containers, entry point",
  },
  {
    id: 'container-without-gpu',
    code: 'gpu-unsupported',
    pattern: /No supported GPU\(s\) detected to run this container/,
    severity: 'error',
    once: true,
    cause: 'The container supports none of the GPUs of this machine: it is older than they are, or no longer has them.',
    advice:
      "Use a later release of the container for a newer GPU, and an earlier one for an old GPU: NVIDIA's support matrix of the containers lists which has which.",
    after: ['gpu-unsupported'],
    source: "NVIDIA's containers, entry point; Talmaj/DNN-bench#5",
  },
  {
    id: 'kernel-not-in-module',
    code: 'runtime-failed',
    pattern: /(?:cuModuleGet|cuLibraryGet|CUDADriverError)[^\n]*(?:named symbol not found|CUDA_ERROR_NOT_FOUND)/,
    severity: 'error',
    cause: 'The program asks a CUDA module for a kernel or a variable that the module does not contain.',
    advice:
      'Compare the name with the source of the module: C++ changes the names of functions, so declare the kernel `extern "C"` or give its mangled name (`cuobjdump -symbols`). TensorRT is not what fails.',
    sure: 'likely',
    source: 'CUDA error 500; PyCUDA get_function, CuPy RawModule',
  },
  {
    id: 'driver-symbol',
    code: 'library-mismatch',
    pattern: cudaError('500', /named symbol not found|CUDA_ERROR_NOT_FOUND/),
    severity: 'error',
    once: true,
    cause:
      'The library of the CUDA driver that the program loads lacks a function or a part of itself (CUDA error 500): under WSL and Docker Desktop the container does not get all files of the driver, elsewhere two drivers are mixed.',
    advice:
      'Windows: drivers from 555 on need Docker Desktop 4.31 or later, or nvidia-container-toolkit 1.14.4 or later in WSL; `wsl --update`, then start Docker again. Linux: keep libcuda of the host out of the image and out of LD_LIBRARY_PATH (the container toolkit mounts it), and remove cuda-compat packages that are newer than the driver.',
    sure: 'likely',
    source: 'CUDA error 500; NVIDIA/nvidia-container-toolkit#520, collabora/WhisperFusion#52',
  },
  {
    id: 'driver-too-old',
    code: 'library-missing',
    pattern: cudaError(
      '36|222',
      /unsupported PTX version|CUDA_ERROR_UNSUPPORTED_PTX_VERSION|cudaErrorUnsupportedPtxVersion|provided PTX was compiled with an unsupported toolchain|cudaErrorCallRequiresNewerDriver|API call is not supported in the installed CUDA driver/,
    ),
    severity: 'error',
    once: true,
    cause: 'The driver of the GPU is older than the CUDA that this program, or this container, was compiled with.',
    advice:
      'Update the driver (on the host: a container uses the driver of the host) to one whose CUDA version, which nvidia-smi shows, is not lower than that of the program. Otherwise use the program or container for the CUDA of this driver. A Jetson takes only containers and wheels made for its JetPack (l4t).',
    source: 'CUDA error 222; triton-inference-server/server#5197, wang-xinyu/tensorrtx#1249',
  },
  {
    id: 'driver-missing',
    code: 'library-missing',
    pattern:
      /CUDA initialization failure(?! with error:? \d)|(?:[Cc](?:annot|an't|ould not)|[Uu]nable to|[Ff]ailed|[Ee]rror|[Mm]issing)\b[^\n]{0,40}libcuda\.so|libcuda\.so[^\n]{0,40}(?:not found|cannot|No such|missing|[Ee]rror|[Ff]ail)/,
    cause:
      'This program needs a GPU and a driver at least as new as the CUDA that it was compiled with, and finds none here.',
    advice: `Compare the CUDA version that nvidia-smi shows (of the driver) with that of the toolkit (nvcc --version): the driver's must not be lower. ${CONTAINER} TensorRT-RTX builds without a GPU.`,
    source: 'captures of TensorRT 8.6',
  },
  {
    id: 'torch-without-cuda',
    code: 'library-missing',
    pattern:
      /Torch not compiled with CUDA enabled|(?:Cannot|can't) use GPU in CPU only version|torch\.cuda\.is_available\(\) is False|torch\.cuda\.is_available\(\): False/,
    severity: 'error',
    once: true,
    cause: 'The PyTorch (or Paddle) that is installed has no CUDA, or does not see the GPU.',
    advice:
      'Install the build for the CUDA of the driver (its web page gives the pip line with --index-url …/whl/cu…; on a Jetson the wheel of NVIDIA for the JetPack), in place of the one for CPUs, and check that nvidia-smi works in the same environment.',
    source: 'PyTorch',
  },
  {
    id: 'nccl',
    code: 'runtime-failed',
    pattern:
      /NCCL (?:error|failure|WARN (?:Cuda failure|Call to|Error|(?!Failed to open libib)[^\n]{0,40}[Ff]ailed))|nccl(?:Unhandled|System|Internal|Remote)\w*Error|Failed, NCCL/,
    severity: 'error',
    once: true,
    cause: 'The GPUs, or the processes that use them, cannot exchange data by NCCL.',
    advice:
      'Set NCCL_DEBUG=INFO: it names the reason. Usual ones: a container without shared memory (--ipc=host or --shm-size=2g, --ulimit memlock=-1), GPUs that cannot reach each other (NCCL_P2P_DISABLE=1, NCCL_SHM_DISABLE=1 to find out), the wrong network interface (NCCL_SOCKET_IFNAME), one process that ended before (look for its error), or two versions of NCCL.',
    after: ['out-of-memory', 'library-missing', 'gpu-unsupported', 'killed'],
    sure: 'likely',
    source: 'NCCL user guide, troubleshooting',
  },
  {
    id: 'gpu-unsupported',
    code: 'gpu-unsupported',
    pattern:
      /Target GPU SM (?<sm>\d+) is not supported by this TensorRT release|Unsupported SM:? ?(?<hex>0x[\da-fA-F]+)?|SM version not supported in this NVRTC version|smVerHex2Dig[^\n]*Assertion|GPU (?:architecture|compute capability) (?:sm_)?(?<sm2>[\d.]+) is not supported|[cC]ompute capability (?<sm3>\d+\.\d+) (?:\(\w+\) )?(?:is )?(?:not supported|is too (?:old|new))/,
    named: gpuNamed,
    cause:
      'This version of TensorRT[[ ({version})]] does not support the GPU[[ ({gpu})]][[, compute capability {sm}]]{why}.',
    advice: '{use}.',
    source: 'NVIDIA/TensorRT#3826, #4359, #2727, #4317; lightvector/KataGo#1041, DDTRobot/tita_rl_sim2sim2real#7',
  },
  {
    id: 'embedded-device-cap',
    code: 'gpu-unsupported',
    pattern: /Unknown +embed+ed device detected[^\n]*as the allocation cap/,
    severity: 'warning',
    once: true,
    harmless: true,
    cause:
      'This TensorRT does not know this board, whose GPU shares the memory of the CPU (such as a Jetson): it is older than the board, and takes the memory that it finds.',
    advice:
      'The warning alone stops nothing: the build goes on, and may take long. A later TensorRT (on a Jetson that of a later JetPack) knows the board.',
    source: 'NVIDIA/TensorRT#3070, #3072, wang-xinyu/tensorrtx#1452',
  },
  {
    id: 'embedded-device-unknown',
    code: 'gpu-unsupported',
    pattern: /Unknown +embed+ed device detected/,
    cause:
      'This TensorRT does not know the memory size of this board, whose GPU shares the memory of the CPU (such as a Jetson): it is older than the board.',
    advice:
      'Use a TensorRT that supports the board: on a Jetson that of its JetPack. Do not mix packages of different JetPacks.',
    source: 'TensorRT utils.cpp::checkMemLimit; forums of NVIDIA Jetson',
  },
  {
    id: 'torch-without-gpu',
    code: 'gpu-unsupported',
    pattern:
      /(?<gpu>[A-Z][^\n:]{0,60}?)? ?with CUDA capability sm_(?<sm>\d+) is not compatible with the current PyTorch/,
    severity: 'error',
    cause: 'PyTorch was built without code for this GPU ([[{gpu}, ]]compute capability {sm}).',
    named: ({ groups: { gpu, sm } = {} }) => ({ values: { gpu: gpu?.trim(), sm: computeCapability(sm!) ?? sm } }),
    advice:
      'Install a PyTorch made for a CUDA that knows the GPU (CUDA 11.1 or later for 8.6, 11.8 for 8.9 and 9.0, 12.8 for Blackwell), with the index that pytorch.org names for it, such as `pip install torch --index-url https://download.pytorch.org/whl/cu118`; a Python that is too old (3.6) only gets older ones. Rebuild what was compiled against the old one (torch2trt plugins, mmcv).',
    source: 'torch/cuda/__init__.py; NVIDIA-AI-IOT/torch2trt#850',
  },
  {
    id: 'no-kernel-image',
    code: 'gpu-unsupported',
    pattern: cudaError(
      '209|98|48|8',
      /no kernel image is available for execution on the device|cudaErrorNoKernelImageForDevice|invalid device function/,
    ),
    named: gpuNamed,
    cause: 'A library or plugin has no code for this GPU[[ ({gpu})]][[: {dropped}]].',
    advice:
      'Build the plugin for its compute capability (nvcc -gencode arch=compute_XX,code=sm_XX; CMake: -DCMAKE_CUDA_ARCHITECTURES=XX[[; {arch}]]), or use a TensorRT, CUDA and PyTorch that support the GPU.',
    source: 'CUDA error 209 (8 and 48 before CUDA 10.1)',
  },
  {
    id: 'nvrtc-failed',
    code: 'library-mismatch',
    pattern:
      /NVRTC (?:[Cc]ompilation|error(?!: NVRTC_ERROR_INVALID_OPTION)|[Ff]ailure)|nvrtc_compile\.cpp|NVRTC_ERROR_(?:COMPILATION|BUILTIN_OPERATION_FAILURE|INTERNAL_ERROR)/,
    severity: 'error',
    once: true,
    cause:
      'A kernel could not be compiled while building (NVRTC, the compiler that TensorRT calls): the GPU, the CUDA libraries and this TensorRT do not fit, or this version makes a kernel that fails.',
    advice:
      'Use a later TensorRT that lists the GPU, with the CUDA that it was built for. See that libnvrtc and libnvrtc-builtins of one CUDA are found first (LD_LIBRARY_PATH; PATH on Windows), and that the folder for temporary files is writable.',
    sure: 'likely',
    source: 'CUDA NVRTC; NVIDIA/TensorRT#3675, dataplayer12/SAM3-TensorRT#12',
  },
  {
    id: 'compiler-older-than-gpu',
    code: 'gpu-unsupported',
    pattern:
      /nvrtc: error: invalid value for --gpu-architecture|ptxas fatal\s*: Value 'sm_(?<sm>\d+)a?' is not defined|nvcc fatal\s*: Unsupported gpu architecture 'compute_(?<sm2>\d+)|NVRTC_ERROR_INVALID_OPTION/,
    named: ({ groups: { sm, sm2 } = {} }) => ({ values: { sm: sm ?? sm2 } }),
    cause:
      'The CUDA compiler that is installed (nvcc, NVRTC, ptxas) does not know this GPU[[, SM {sm}]]: it is older than the GPU, or so new that it dropped it.',
    advice:
      'Install the CUDA version that this TensorRT was built with, and a TensorRT that supports the GPU (its support matrix lists both), and see that no older libnvrtc comes first in LD_LIBRARY_PATH.',
    source: 'CUDA, NVRTC and ptxas; autowarefoundation/autoware_universe#13067',
  },
  {
    id: 'gpu-memory-unknown',
    code: 'library-missing',
    pattern: /Unable to determine GPU memory usage(?!: (?!no CUDA|CUDA driver|initialization|unknown))/,
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
    id: 'llm-attention-gpu',
    code: 'gpu-unsupported',
    pattern: /Assertion failed: Unsupported architecture\b.{0,200}fmhaRunner/,
    cause: 'TensorRT-LLM has no kernels of fused attention (context FMHA) for this GPU.',
    advice:
      'Build without fused attention (trtllm-build --context_fmha disable; without --enable_context_fmha in older versions), or on a GPU that the support matrix of this version of TensorRT-LLM lists.',
    source: 'NVIDIA/TensorRT-LLM#198',
  },
];

/** Why the runtime of containers gives no GPU. */
function containerCause(why: string | undefined): string {
  if (why === undefined) return 'the NVIDIA Container Toolkit is not installed, or Docker does not know it';
  const required = /cuda>=?([\d.]+)/.exec(why)?.[1];
  if (required !== undefined) return `the driver is too old for the image, which needs CUDA ${required}`;
  if (/unknown device|device error/.test(why))
    return 'the GPU that --gpus or NVIDIA_VISIBLE_DEVICES names does not exist';
  if (/driver not loaded|driver error|driver rpc|nvml error|load library failed: libnvidia-ml/.test(why))
    return 'the driver of the host is not loaded, or does not work';
  if (/mount error|ldcache/.test(why))
    return 'the files of the driver cannot be mounted in it (driver and toolkit do not fit)';
  return why.slice(0, 120);
}

/** Compute capabilities of Jetson boards. */
const JETSON = /^(?:5\.3|6\.2|7\.2|8\.7)$/;

/** The architecture that nvcc compiles for the GPU that a log names. */
function archOf(gpu: string | null): string | undefined {
  const capability = gpuIn(gpu ?? '')?.capability;
  return capability === undefined ? undefined : `for this GPU ${capability}`;
}

/** What to do where a package lacks a GPU that its version has by the support matrix. */
const OTHER_BUILD =
  'The packages of one version are built for different GPUs: those of a PC or of a server with ARM (sbsa) lack the GPUs of Jetson boards. On a Jetson install the TensorRT of its JetPack, without pinning another; otherwise take a later TensorRT';

function gpuNamed(match: RegExpExecArray, text: string, { version, product, gpu, unfit }: RuleContext): Named {
  const groups = match.groups ?? {};
  const raw = ['hex', 'sm', 'sm2', 'sm3'].map((name) => groups[name]).find((one) => one !== undefined);
  const sm = raw === undefined ? undefined : (computeCapability(raw) ?? undefined);
  const known = sm === undefined ? (unfit?.support ?? null) : gpuSupport(sm, version, product);
  const board = known?.supported === true && JETSON.test(sm ?? '');
  // TensorRT itself refuses the GPU: a release has builds for several versions of CUDA, and for several boards.
  const support = known?.supported && (board || version !== null) ? null : known;
  return {
    values: {
      sm,
      gpu: gpu ?? undefined,
      arch: archOf(gpu),
      dropped: droppedBy(version, support),
      version: version ?? undefined,
      why: support === null ? '' : `: ${support.why}`,
      use: board ? OTHER_BUILD : (support?.use ?? versionFor(text)),
    },
  };
}

/** What the support matrix says against a GPU, where the version that it is for is known. */
function droppedBy(version: string | null, support: GpuSupport | null): string | undefined {
  return version !== null && support?.supported === false ? support.why : undefined;
}

/** Which version takes a GPU of which the message says little. */
function versionFor(text: string): string {
  if (text.includes('major < 10'))
    return 'It is one of compute capability 10 or later (Blackwell): use TensorRT 10.8 or later with CUDA 12.8 or later';
  return text.includes('NVRTC')
    ? 'Use a TensorRT and CUDA that are newer than the GPU'
    : 'Use a version of TensorRT that lists this compute capability in its support matrix: a later one for a newer GPU (8.6 takes all up to Ada and Hopper, 10.8 Blackwell), an earlier one for a GPU of Pascal or Volta and before';
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
