import { gpuIn } from '../../../precision/buildFacts.ts';
import { computeCapability, type GpuSupport, gpuSupport } from '../gpuSupport.ts';
import { type DiagnosisRule, type Named, type RuleContext } from '../rule.ts';
import { cudaError } from './runtimeRules.ts';

const SAME_SET =
  'Use one set of CUDA, cuBLAS, cuDNN and TensorRT that belong together (see the support matrix of this TensorRT): look for an older copy on LD_LIBRARY_PATH (PATH on Windows), in the conda environment, or in the wheels of PyTorch (import order decides which is loaded), and update it to the version that TensorRT was compiled against.';

const CONTAINER =
  'Start the container with `--gpus all` (NVIDIA Container Toolkit), and check `nvidia-smi` inside it; on a plain machine install or update the driver.';

/** GPUs, drivers, containers, and CUDA with its libraries. */
export const ENVIRONMENT_RULES: readonly DiagnosisRule[] = [
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
];

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

function gpuNamed(match: RegExpExecArray, text: string, { version, product, gpu }: RuleContext): Named {
  const groups = match.groups ?? {};
  const raw = ['hex', 'sm', 'sm2', 'sm3'].map((name) => groups[name]).find((one) => one !== undefined);
  const sm = raw === undefined ? undefined : (computeCapability(raw) ?? undefined);
  const known = sm === undefined ? null : gpuSupport(sm, version, product);
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
