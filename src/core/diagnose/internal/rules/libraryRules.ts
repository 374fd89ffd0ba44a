import type { DiagnosisRule } from '../rule.ts';

/** Why Windows does not load a library. */
const WINDOWS_ERRORS: Readonly<Record<string, string>> = {
  126: 'a library that it needs is not found',
  127: 'a library that it needs is of another version',
  193: 'it is for another processor, or damaged',
  1114: 'it failed when it started, most often because a driver is missing or CUDA has another version',
  1920: 'the program may not read it',
};

const windowsError = (number: string): string => WINDOWS_ERRORS[number] ?? `Windows says error ${number}`;

/** Libraries and packages that are missing, or of another version. */
export const LIBRARY_RULES: readonly DiagnosisRule[] = [
  {
    id: 'apt-dependencies',
    code: 'library-mismatch',
    pattern:
      /\b(?<name>libnvinfer|tensorrt|libnvonnxparser|libcudnn|nvidia-container)[\w.+-]* : (?:Pre-)?Depends: [^\n]*(?:but|not installable)|Unable to locate package (?<name2>tensorrt|libnvinfer|libnvonnxparser|libcudnn|nvidia-container)/,
    once: true,
    severity: 'error',
    named: ({ groups: { name, name2 } = {} }) => ({ values: { name: name ?? name2 } }),
    cause: 'The package manager cannot install {name}: the packages that it would need do not fit or are not known.',
    advice:
      'Use one repository of NVIDIA for this release of Ubuntu, and one CUDA: give all packages of TensorRT the same version (`apt-get install tensorrt=10.x.y.z-1+cuda12.z libnvinfer10=10.x.y.z-1+cuda12.z …`), or remove the others first (`apt-get purge "libnvinfer*"`). On a Jetson only the repository of its JetPack fits.',
    source: 'apt; TensorRT installation guide',
  },
  {
    id: 'numpy-version',
    code: 'library-mismatch',
    pattern:
      /module 'numpy' has no attribute '(?<name>bool|int|float|object|complex|str|typeDict)'|compiled using NumPy 1\.x cannot be run in|numpy\.core\.multiarray failed to import|module (?:was )?compiled against (?:NumPy )?(?:C-)?API version (?<api>0x\w+)|numpy\.(?:dtype|ndarray) size changed(?:[^\n]*[Ee]xpected (?<want>\d{1,9})[^\n]*got (?<got>\d+))?|_ARRAY_API not found/,
    once: true,
    severity: 'error',
    named: ({ 0: text, groups: { name, api, want, got } = {} }) => ({
      values: numpyDiffers(text, name, api, want, got),
    }),
    cause: 'A package here is for {other} NumPy: {what}.',
    advice: '{use} (the Python package of TensorRT uses np.bool up to 8.5).',
    source: 'NumPy 1.24 and 2.0 release notes; NVIDIA/TensorRT#2557, #2567',
  },
  {
    id: 'protobuf-version',
    code: 'library-mismatch',
    pattern:
      /Descriptors cannot (?:not )?be created directly|Couldn't build proto file into descriptor pool|undefined symbol: \w*google8protobuf|requires version [\d.]+ of the Protocol Buffer runtime library|from 'google\.protobuf/,
    once: true,
    severity: 'error',
    cause: 'Packages here are for different versions of protobuf.',
    advice:
      'Install the version that the package needs (`pip install "protobuf<=3.20.3"` for older onnx, tensorflow and uff; the latest with a current onnx), one of pip only, and compile libraries that link protobuf again here.',
    sure: 'likely',
    source: 'protobuf; grimoire/torch2trt_dynamic#11',
  },
  {
    id: 'static-tls',
    code: 'library-missing',
    pattern: /(?<=(?:(?<file>\S+\.so[.\d]*): )?)cannot (?:allocate memory in|load any more object with) static TLS/,
    severity: 'error',
    cause: 'The loader has no room for the thread-local storage of a library that is loaded late[[: {file}]].',
    advice:
      'Load it first: import the package that needs it (tensorrt, torch, cv2) at the top of the script, or start with `LD_PRELOAD=` and its path.',
    source: 'dynamic loader of glibc',
  },
  {
    id: 'c-library-too-old',
    code: 'library-mismatch',
    pattern: /version [`'](?<name>GLIBC|GLIBCXX|CXXABI)_(?<version>[\d.]+)' not found/,
    severity: 'error',
    once: true,
    named: ({ groups: { name, version } = {} }) => ({
      values: {
        name: `${name}_${version}`,
        what: name === 'GLIBC' ? 'system (glibc)' : 'C++ runtime (libstdc++)',
        use:
          name === 'GLIBC'
            ? 'A program or wheel that was made on a newer system does not run here: use a container or a release of the system that is as new, or compile it here'
            : 'Update libstdc++ (`conda install -c conda-forge libstdcxx-ng`, or libstdc++6 of the system), and see which one is loaded: an older one in the conda environment may come before that of the system',
      },
    }),
    cause: 'The {what} here is older than the one that a library was compiled with: {name} is missing.',
    advice: '{use}.',
    source: 'dynamic loader of glibc',
  },
  {
    id: 'library-unusable',
    code: 'library-mismatch',
    pattern:
      /(?<=(?<file>[^\s'"]+\.so[.\d]*): )(?<what>file too short|invalid ELF header|wrong ELF class\S*|cannot read file data)|[Ee]xec format error|cannot execute binary file/,
    severity: 'error',
    cause:
      'A library or program[[ ({file})]] is not one for this processor, or its file is empty or cut off[[ ({what})]].',
    advice:
      'Compile or download it again on this kind of machine (x86-64 and aarch64 differ), and check the size of the file: a Git LFS pointer has a hundred bytes. In a container on a Jetson the libraries come from the host: start it with --runtime nvidia, and with an image of this JetPack.',
    source: 'dynamic loader of glibc; wang-xinyu/tensorrtx#1229',
  },
  {
    id: 'paging-file',
    code: 'out-of-memory',
    pattern: /\[?WinError 1455\]?|paging file is too small/i,
    once: true,
    severity: 'error',
    cause: 'Windows has no memory left for the libraries that the program loads (the paging file is too small).',
    advice:
      'Let Windows manage the size of the paging file, or enlarge it (16 GB and more), and start fewer processes or data loaders.',
    source: 'Windows error 1455',
  },
  {
    id: 'windows-module',
    code: 'library-missing',
    pattern:
      /\[WinError (?<number>126|127|193|1114)\][^\n]*?(?:Error loading "(?<path>[^"]+)")?(?:\s|$)|Could not find module '(?<path2>[^']+)' \(or one of its dependencies\)|Unable to load DLL '(?<path3>[^']+)'/,
    once: true,
    severity: 'error',
    named: (m, text) => {
      const { number, path2, path3 } = m.groups!;
      const path = path2 ?? path3 ?? /([^\s'"]+\.(?:dll|pyd))\b/i.exec(text)?.[1];
      return {
        values: {
          file: path?.replace(/^.*[\\/]/, '') ?? 'A library',
          why: WINDOWS_ERRORS[number ?? '126']!,
        },
      };
    },
    cause: '{file} cannot be loaded: it is not there, or {why}.',
    advice:
      'Put the folders of the TensorRT (nvinfer*.dll), CUDA and cuDNN that the program was made for on PATH, without older copies before them, install the Visual C++ runtime, and restart the terminal. Python 3.8 and later need `os.add_dll_directory(FOLDER)`. `dumpbin /dependents FILE` lists what it needs.',
    sure: 'likely',
    source: 'Windows system errors; Python ctypes',
  },
  {
    id: 'tensorflow-version',
    code: 'library-mismatch',
    pattern:
      /has no attribute '(?<name>TrtGraphConverter\w*|TrtConversionParams|DEFAULT_TRT_CONVERSION_PARAMS|create_inference_graph)'|cannot import name '(?<name4>GraphDef|NodeDef|gfile|contrib|ConfigProto|Session|placeholder|graph_util)'(?! from '(?!tensorflow))|name 'DEFAULT_TRT_CONVERSION_PARAMS' is not defined|No module named '?(?<name2>tensorflow\.(?:contrib|python\.compiler)\b[\w.]*)|module 'tensorflow' has no attribute '(?<name3>contrib|placeholder|Session|GraphDef|gfile|get_default_graph|ConfigProto)'/,
    severity: 'error',
    once: true,
    named: ({ groups: { name, name2, name3, name4 } = {} }) => ({
      values: { name: name ?? name2 ?? name4 ?? (name3 && `tf.${name3}`) ?? 'DEFAULT_TRT_CONVERSION_PARAMS' },
    }),
    cause: 'The script is for another version of TensorFlow: {name} is not in this one.',
    advice:
      'TF-TRT is tensorflow.contrib.tensorrt (create_inference_graph) up to 1.13, tensorflow.python.compiler.tensorrt.trt_convert with TrtGraphConverter from 1.14 and TrtGraphConverterV2 from 2.0; tf.contrib, tf.Session and tf.placeholder are gone in 2.0 (tf.compat.v1). Install the TensorFlow that the script names, or change the import. The UFF converter and graphsurgeon need TensorFlow 1.x (1.15 for TensorRT 7): a model of 2.x goes by tf2onnx.',
    source: 'TensorFlow, TF-TRT; tensorflow/tensorrt#81, tensorflow/tensorflow#35440, #38747',
  },
  {
    id: 'forward-arguments',
    code: 'runtime-shape',
    pattern:
      /\bforward\(\) (?:missing \d+ required positional arguments?: (?<names>[^\n]{1,80})|takes (?:from \d+ to )?\d+ positional arguments? but \d+)/,
    severity: 'error',
    lastResort: true,
    cause: 'The module is called with other inputs than its forward takes[[: {names} is missing]].',
    advice:
      'Give the export or conversion (torch.onnx.export, torch.jit.trace, torch2trt, torch_tensorrt.compile) all inputs of forward in their order, as a tuple of tensors; a batch that is a tuple needs one more pair of parentheses. Wrap a module that takes lists or dictionaries.',
    sure: 'likely',
    source: 'PyTorch',
  },
  {
    id: 'cuda-python-moved',
    code: 'library-mismatch',
    pattern:
      /(?:cannot import name '(?<name>cudart|cuda|nvrtc)' from 'cuda'|No module named 'cuda\.(?<name2>cudart|cuda|nvrtc)')/,
    severity: 'error',
    named: ({ groups: { name, name2 } = {} }) => {
      const one = name ?? name2!;
      return { values: { name: one, now: { cudart: 'runtime as cudart', cuda: 'driver as cuda' }[one] ?? one } };
    },
    cause: 'The script imports {name} from the package cuda (cuda-python) as releases before 13 had it.',
    advice:
      'Write `from cuda.bindings import {now}`, which cuda-python 12.6 and later take, or install the older release (`pip install "cuda-python<13"`).',
    source: 'cuda-python 13 release notes',
  },
  {
    id: 'python-versions-differ',
    code: 'library-mismatch',
    pattern:
      /\b(?<call>\w+)\(\) (?:got an unexpected keyword argument '(?<argument>\w+)'|takes (?:from \d+ to )?\d+ positional arguments? but \d+ (?:was|were) given|missing \d+ required (?:positional|keyword-only) argument|got multiple values for)|cannot import name '(?<name>\w+)' from '(?!tensorrt(?:_bindings)?')(?<module>[\w.]+)'/,
    severity: 'error',
    lastResort: true,
    named: ({ groups: { call, name, module } = {} }) => ({
      values: {
        what: call
          ? `${call}() takes other arguments than the caller expects`
          : `${module} has no ${name}, which the caller imports`,
      },
    }),
    cause: 'Two Python packages or extensions here are of different versions: {what}.',
    advice:
      'Update both, the extension (node, plugin, script) and the program that it extends, or install the version of the package that its requirements name. TensorRT is not what fails.',
    sure: 'likely',
    source: 'comfyanonymous/ComfyUI_TensorRT#53, phineas-pta/comfy-trt-test#9, Comfy-Org/ComfyUI#7919',
  },
  {
    id: 'onnx-dll',
    code: 'library-missing',
    pattern: /DLL load failed while importing onnx_cpp2py_export/,
    severity: 'error',
    once: true,
    cause: 'The compiled part of the package onnx cannot start: from 1.16.2 on it needs a newer Visual C++ runtime.',
    sure: 'likely',
    advice: 'Install the latest "Visual C++ Redistributable" of Microsoft (x64), or `pip install onnx==1.16.1`.',
    source: 'onnx/onnx#6267',
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
    id: 'pip-mixed',
    code: 'library-mismatch',
    pattern:
      /^(?<name>tensorrt[-_](?:cu\d+[-_])?(?:bindings|libs)) +(?<have>\d+\.\d+)\b[\s\S]{0,600}?^tensorrt[-_]cu\d+[-_](?:bindings|libs) +(?!\k<have>\b)(?<want>\d+\.\d+)\b|^tensorrt(?:[-_]cu\d+)? +(?<want2>\d+\.\d+)\b[\s\S]{0,600}?^(?<name2>tensorrt[-_](?:cu\d+[-_])?(?:bindings|libs)) +(?!\k<want2>\b)(?<have2>\d+\.\d+)/m,
    severity: 'warning',
    named: ({ groups: { name, name2, have, have2, want, want2 } = {} }) => ({
      values: { name: name ?? name2, have: have ?? have2, want: want ?? want2 },
    }),
    cause:
      'The packages of TensorRT that pip lists are of several versions: {name} is {have}, others are {want}. Python loads one of them, and trtexec of a container or archive is of a third, which pip does not change.',
    advice:
      'Remove all of them (`pip uninstall tensorrt tensorrt-bindings tensorrt-libs` and those with _cu11, _cu12 or _cu13 in their names) and install one version again. The wheels have no trtexec: for its newer options, such as --bf16, take the archive or container of that version.',
    sure: 'likely',
    source: 'NVIDIA/TensorRT#3778',
  },
  {
    id: 'pip-placeholder',
    code: 'library-missing',
    pattern:
      /only a placeholder project on PyPI|yanked: This software was not built and distributed by NVIDIA|from versions: (?:0\.0\.\d(?:\.(?:post|dev)\d+)?(?:, )?)+\)/,
    severity: 'error',
    once: true,
    cause:
      "The package on PyPI is only a placeholder: its wheels are in NVIDIA's own index, or none of them is for this Python and system.",
    advice:
      'Update pip first: an old one does not find newer wheels. Give the index: `pip install --extra-index-url https://pypi.nvidia.com NAME`. nvidia-tensorrt is the old name: `pip install tensorrt-cu12` (or -cu11, -cu13) needs no other index. For torch-tensorrt give the index of PyTorch for this CUDA (https://download.pytorch.org/whl/cu…). Look which versions of Python have wheels.',
    source:
      'nvidia-pyindex; pytorch/TensorRT#2645, NVIDIA/TensorRT#2896, NVIDIA/tensorflow#38, ELS-RD/transformer-deploy#20',
  },
  {
    id: 'pip-not-for-system',
    code: 'library-missing',
    pattern:
      /TensorRT (?:does not currently build wheels for (?<jetson>Tegra) systems|currently only builds wheels for (?<only>[\w ]{1,60}))/,
    once: true,
    named: ({ groups: { jetson, only } = {} }) => ({ values: { jetson: jetson && '', only, other: only && '' } }),
    cause:
      'There is no TensorRT for this system in pip[[: NVIDIA makes no wheels of it for a Jetson{jetson}]][[: its wheels are for {only} only]].',
    advice:
      '[[{jetson}Use the TensorRT of JetPack (`sudo apt-get install python3-libnvinfer`), with the Python that it is made for: in a virtual environment with --system-site-packages, or an image for L4T. Leave tensorrt out of what pip installs. ]][[{other}Use such a system, or the package of TensorRT (tar, zip or deb) for this one, with the wheels in its folder python.]]',
    source: 'setup.py of tensorrt-cu12',
  },
  {
    id: 'pip-cannot-install',
    code: 'library-missing',
    pattern:
      /Building wheel for tensorrt\S* \(setup\.py\) \.\.\. error|tensorrt-\d[\w.]{0,40}\.tar\.gz[\s\S]{0,300}?error: subprocess-exited-with-error|Failed (?:building wheel for|to build) '?(?:nvidia-)?tensorrt|(?:No matching distribution found for|satisfies the requirement|working download links found for|Requirement\.parse\(') ?(?:nvidia-)?(?:torch[-_])?tensorrt|Ultralytics requirements? \['tensorrt[^\n]*not found, attempting AutoUpdate\.\.\.\s+error:/,
    cause:
      "TensorRT cannot be installed by pip here: there is no wheel of it for this Python and system, pip is too old to find it, or NVIDIA's index is not reached.",
    advice:
      "Update pip and wheel first (`pip install --upgrade pip wheel`), use a version of Python that has wheels of this TensorRT (3.12 from TensorRT 10 on; its tar archive has them, too, in the folder python), and add NVIDIA's package index (--extra-index-url) for versions before 10. On a Jetson pip has none that work: use the TensorRT of JetPack (python3-libnvinfer), in a virtual environment with --system-site-packages.",
    source: 'NVIDIA/TensorRT#2933, #2963, #3060, #3539; ultralytics/ultralytics#18882, NVIDIA-AI-IOT/jetcard#48',
  },
  {
    id: 'onnx-build',
    code: 'library-missing',
    pattern:
      /pip-(?:install|req-build)-\w+[\\/]onnx(?:_\w+)?[\\/](?:setup\.py|\.setuptools-cmake-build)|Building wheel for onnx \([^\n]*\berror\b|Failed building wheel for onnx\b|protoc-gen-mypy: Plugin failed/,
    once: true,
    severity: 'error',
    overcome: /Successfully installed /,
    cause: 'There is no wheel of the package onnx for this system and Python, and pip cannot compile it here.',
    advice:
      'Install what it is compiled with (Debian and Ubuntu: `sudo apt-get install cmake protobuf-compiler libprotoc-dev libprotobuf-dev`), update pip and setuptools, and ask for a version that has a wheel for this Python, or the one that the project names. `protoc-gen-mypy … python: No such file` needs a command `python` (package python-is-python3). A model may also be exported to ONNX on another machine.',
    source: 'jkjung-avt/tensorrt_demos#57, #529; onnx/onnx#1220, #2109, #3570, #4519',
  },
  {
    id: 'pip-build',
    code: 'library-missing',
    pattern:
      /(?:Failed building wheel for|Could not build wheels for|Failed to build) '?(?!nvidia-tensorrt|tensorrt|installable)(?<name>pycuda|torch2trt|torch-tensorrt|mmcv\S*|onnx\w+|polygraphy|cuda-python|mpi4py|flash-attn|tensorrt_llm|pytorch-quantization)/,
    once: true,
    severity: 'error',
    overcome: /Successfully installed /,
    cause: 'There is no wheel of {name} for this system and Python, and pip cannot compile it here.',
    advice:
      'Use a version of Python that has a wheel, or install what it is compiled with: a C++ compiler, the headers of Python (python3-dev), CMake, and the CUDA toolkit with CUDA_HOME set and nvcc on PATH. The first error of the compiler above says which is missing.',
    source: 'pip',
  },
  {
    id: 'torch-tensorrt-optional',
    code: 'library-missing',
    pattern: /TensorRT is not available: No module named '?torch_tensorrt/,
    severity: 'warning',
    once: true,
    harmless: true,
    cause: 'The program looked for torch_tensorrt, which is not installed, and goes on without it.',
    advice:
      'Nothing has to be done where the program runs without it: ONNX models use the TensorRT and CUDA of ONNX Runtime. To have it, install torch-tensorrt of the release that belongs to the installed PyTorch.',
    sure: 'likely',
    source: 'hacksider/Deep-Live-Cam#1263',
  },
  {
    id: 'python-module-of-other-release',
    code: 'library-mismatch',
    pattern:
      /(?<!simplifier failure: )No module named '(?<module>(?<package>(?!cuda\b|pycuda\b|tensorrt\b|uff\b)[A-Za-z]\w*)\.[\w.]+)'(?<hidden>; '[\w.]+' is not a package)?/,
    severity: 'error',
    named: ({ groups: { hidden } = {} }) => ({
      values: {
        why: hidden
          ? 'a file of that name hides the package'
          : 'the program is for another release of it, or a folder of that name hides it',
      },
    }),
    overcome: /^Prompt executed in /,
    cause: 'The {package} that Python finds here has no module {module}: {why}.',
    advice:
      'Use one release of both: the scripts of the tag that belongs to the installed package (`pip show {package}`), or the package that their requirements.txt names. `python -c "import {package}; print({package}.__file__)"` shows which one is found.',
    sure: 'likely',
    source: 'Python; NVIDIA/TensorRT-LLM#1068',
  },
  {
    id: 'python-package-missing',
    code: 'library-missing',
    pattern:
      /Module: '(?<module>.+?)' is required but could not be imported|(?<!simplifier failure: )No module named '?(?<module2>[\w.]+)/,
    named: (m) => {
      const module = m.groups!['module'] ?? m.groups!['module2']!;
      return { values: { module, how: packageHelp(module) } };
    },
    overcome: /^Prompt executed in /,
    cause: 'The Python module {module} is not installed where the program looks for it.',
    advice: '{how}',
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
    pattern:
      /LoadLibrary failed with error (?<number>\d+) "[^"]*" when trying to load\s*(?:"(?<path>[^"]+)")?|Failed to load library, error code: (?<number2>\d+)/,
    once: true,
    named: (m) => ({
      values: {
        file: m.groups!['path']?.replace(/^.*[\\/]/, '') ?? 'A provider',
        why: windowsError((m.groups!['number'] ?? m.groups!['number2'])!),
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
      /undefined symbol: (?<symbol>\w*(?:3c10|N2at|K2at|5torch)\w*)|(?<file>libtorch(?!trt)\w*\.so[.\d]*): cannot open shared object file/,
    named: ({ groups: { symbol, file } = {} }) => ({ values: { what: symbol ?? file } }),
    cause:
      'A package or program was compiled against another PyTorch than the one that is loaded, or does not find it: {what} is missing.',
    sure: 'likely',
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
      /Failed to load library (?<provider>\S+) with error: (?!\k<provider>)(?<file>\S+\.so[.\d]*|\S+\.dll): cannot open shared object file/,
    named: (_, text) => (text.includes('Falling back to') ? { severity: 'warning' } : {}),
    cause: '{provider} needs {file}, which the loader does not find.',
    advice:
      'Install the library with that major version (this ONNX Runtime was compiled for it; its table of execution providers lists TensorRT, CUDA and cuDNN by release), and add its folder to LD_LIBRARY_PATH. The wheels of TensorRT keep it in site-packages/tensorrt_libs: `import tensorrt` before onnxruntime loads it.',
    source: 'microsoft/onnxruntime#18597',
  },
  {
    id: 'executable-stack',
    code: 'library-mismatch',
    pattern: /(?:(?<=(?<file>[\w.+-]+): )|)cannot enable executable stack as shared object requires/,
    severity: 'error',
    once: true,
    cause:
      'The system refuses to load a library[[, {file}]]: it asks for an executable stack, which glibc 2.41 and hardened kernels do not give.',
    advice:
      'Use the latest TensorRT, whose libraries may not ask for it, or clear the mark in the file: `patchelf --clear-execstack FILE` (or `execstack -c FILE`).',
    source: 'glibc 2.41; TNTwise/REAL-Video-Enhancer#85',
  },
  {
    id: 'builder-resource-windows',
    code: 'library-missing',
    pattern: /(?<file>libnvinfer_builder_resource_win\.so\.10\.2\.0): (?:cannot open|\S+: cannot open)/,
    severity: 'error',
    once: true,
    cause:
      'TensorRT asks for {file}, which the wheels of 10.2.0 for Linux do not have: that release is packed wrongly.',
    advice:
      'Install 10.2.0.post1 or a later version (`pip install -U tensorrt-cu12`), or stay with 10.1.0; engines have to be built again.',
    source: 'NVIDIA/TensorRT#3983, pytorch/TensorRT#2986, replicate/cog-triton#51',
  },
  {
    id: 'python-module-missing',
    code: 'library-missing',
    pattern: /ImportError: (?<file>\S+[\\/]tensorrt\w*[\\/]tensorrt\w*\.(?:so|pyd)): cannot open shared object file/,
    cause:
      "Python's package of TensorRT lacks its own compiled part ({file}): its wheel is for another Python or platform, or was not installed whole.",
    advice:
      'Remove it (`pip uninstall tensorrt`, and what PYTHONPATH finds of it) and install the wheel whose name has this Python (cp310) and this processor (x86_64, aarch64), of the version of the libraries. On a Jetson or DRIVE take the package of its release (apt: python3-libnvinfer) with the Python of the system. A wheel that was built by hand contains only what the build made: look into it with `unzip -l`.',
    source: 'NVIDIA/TensorRT#3053, #3388',
  },
  {
    id: 'library-missing',
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
    id: 'tensorrt-libraries-mixed',
    code: 'library-mismatch',
    pattern:
      /(?<file>lib(?:nvinfer|nvinfer_plugin|nvonnxparser|nvparsers|nvinfer_dispatch|nvinfer_lean|onnxruntime_providers_tensorrt)\.so[.\d]*): (?:undefined symbol: (?<symbol>(?!Provider_GetHost|\w*onnxruntime)\S+)|version `)|undefined symbol: (?<symbol2>getBuilderPluginRegistry\w*)/,
    severity: 'error',
    named: ({ groups: { symbol, symbol2, file } = {} }) => ({
      values: {
        symbol: symbol ?? symbol2,
        file: file ?? 'a library of TensorRT',
        step: file?.startsWith('libonnxruntime')
          ? 'Install the TensorRT that this release of ONNX Runtime was built with (its table of execution providers lists it), or the release for the TensorRT that is there.'
          : undefined,
        other: !file?.startsWith('libnvinfer.so')
          ? 'libnvinfer'
          : /nvdla/.test(symbol ?? '')
            ? 'the library for the DLA (JetPack)'
            : 'another library',
      },
    }),
    cause:
      'Libraries of two versions of TensorRT (or JetPack) are mixed: {file} asks {other} for what it does not have[[ ({symbol})]].',
    advice:
      '[[{step} ]]Keep one: `ldconfig -p | grep -E "nvinfer|nvonnx"`, `pip list | grep -i tensorrt` and LD_LIBRARY_PATH show which are there (apt, an archive, the wheels in site-packages/tensorrt_libs, conda). Give all packages the same version, remove the others, and import tensorrt before what brings another copy. On a Jetson the container must be for the JetPack (L4T) of the host.',
    source: 'dynamic loader; NVIDIA/TensorRT#3810, microsoft/onnxruntime#12133',
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
    id: 'llm-symbol-missing',
    code: 'library-mismatch',
    pattern: /undefined symbol: (?<symbol>\w*12tensorrt_llm\w*)/,
    cause:
      'A part of TensorRT-LLM (the backend of Triton, its plugins or its Python module) is of another release than the library libtensorrt_llm that is loaded: {symbol} is missing.',
    advice:
      'Use parts of one release: its own container (nvcr.io/nvidia/tritonserver:YY.MM-trtllm-python-py3, or nvcr.io/nvidia/tensorrt-llm/release) without a tensorrt_llm of pip or a compiled backend over it. Where the image is unchanged, take that of the next month, or compile backend and library from one tag.',
    source: 'dynamic loader; triton-inference-server/tensorrtllm_backend#662',
  },
  {
    id: 'jetpack-of-container',
    code: 'library-mismatch',
    pattern: /libnvcudla\.so\S*: undefined symbol: (?<symbol>\S+)|undefined symbol: (?<symbol2>_ZNK?5nvdla\w+)/,
    named: ({ groups: { symbol, symbol2 } = {} }) => ({ values: { symbol: symbol ?? symbol2 } }),
    cause:
      'The container (or the library) is of another JetPack than the Jetson: the libraries for the DLA, which come from the host, lack {symbol}.',
    advice:
      'Use the image whose tag names the L4T of this board (`cat /etc/nv_tegra_release`: R35.2.1 takes r35.2.1), or install the JetPack on the board that the image was made for.',
    source: 'dynamic loader; dusty-nv/jetson-containers#472',
  },
  {
    id: 'symbol-missing',
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

/** Which NumPy a package is for: headers of a later one have larger structures. */
function numpyDiffers(text: string, name?: string, api?: string, want?: string, got?: string): Record<string, string> {
  const update = 'a later version of the package that the traceback names';
  if (name !== undefined)
    return {
      other: 'an older',
      what: `it uses np.${name}, which NumPy ${name === 'typeDict' ? 'has no more' : '1.24 removed'}`,
      use: `Install \`numpy<1.24\` in this environment, or ${update}`,
    };
  if (api !== undefined || (want !== undefined && Number(want) > Number(got)))
    return {
      other: 'a later',
      what: 'it was compiled with headers of a newer one than is installed',
      use: 'Update NumPy (`pip install -U numpy`), or install an older version of the package that the traceback names',
    };
  if (/multiarray failed|size changed/.test(text) && want === undefined)
    return {
      other: 'another',
      what: 'it was compiled for another version',
      use: `Install the NumPy that its requirements name (\`numpy<2\` where NumPy 2 is installed), or ${update}`,
    };
  return {
    other: 'an older',
    what: 'it was compiled for NumPy 1',
    use: `Install \`numpy<2\` in this environment, or ${update}`,
  };
}
