import { goneName } from '../../../lint/lintSource.ts';
import type { DiagnosisRule } from '../rule.ts';

/** Where a symbol that the linker misses is. */
const SYMBOLS: readonly (readonly [RegExp, string])[] = [
  [/createNv\w*Parser|^nvonnxparser/, 'nvonnxparser'],
  [/initLibNvInferPlugins/, 'nvinfer_plugin'],
  [/createInfer|getPluginRegistry|getInferLibVersion|^nvinfer1::I[A-Z]/, 'nvinfer'],
  [/^cudnn[A-Z]/, 'cudnn'],
  [/^cublas/, 'cublas'],
  [/^nvrtc/, 'nvrtc'],
  [/^_*cuda[A-Z]/, 'cudart'],
  [/^cu[A-Z]/, 'cuda (the driver library)'],
  [/\bsample::|gLog(?:Error|Info|Warning|Verbose)/, 'samples/common/logger.cpp of TensorRT'],
  [/\bcv::/, 'OpenCV'],
  [/google::protobuf/, 'protobuf'],
];

/** What has a header that is not NVIDIA's. */
const HEADERS: readonly (readonly [RegExp, string])[] = [
  [/^cub\//, 'CUDA has CUB from version 11 on: use that, or clone NVIDIA/cub and give its folder to the compiler.'],
  [
    /^onnx\/optimizer/,
    'ONNX 1.9 has its optimizer no more: check out the ONNX that this branch takes as a submodule (`git submodule update --init --recursive`).',
  ],
  [
    /^onnx\//,
    'Take the submodule too (`git submodule update --init --recursive`), and build its protobuf files in an empty build folder.',
  ],
  [
    /^google\/protobuf|\.pb\.h$/,
    'Install libprotobuf-dev and protobuf-compiler of one version, and build in an empty folder.',
  ],
  [/^opencv/, 'Install libopencv-dev, or give OpenCV_DIR to CMake (/usr/include/opencv4 for OpenCV 4).'],
  [/^Python\.h|^pybind11/, 'Install python3-dev (and `pip install pybind11`) of the Python that runs the build.'],
  [/^torch\/|^ATen\//, 'Build where this PyTorch is installed, and give its `torch.utils.cmake_prefix_path` to CMake.'],
  [
    /^thrust\/|^cooperative_groups|^mma\.h/,
    'Compile the file with nvcc, and give the include folder of the CUDA toolkit.',
  ],
  [
    /^crt\/|^cuda_runtime/,
    'The CUDA toolkit is not complete, or parts of two are mixed (conda, apt and a runfile; a copied folder): install the whole toolkit of one version again, let /usr/local/cuda point to it, and take its nvcc (CMAKE_CUDA_COMPILER, PATH).',
  ],
  [
    /./,
    'Install the package that has it, or give its folder (include path of the compiler, CPLUS_INCLUDE_PATH). A header of the project itself is missing where it was cloned without its submodules (`git submodule update --init --recursive`) or is of another version.',
  ],
];

const entryFor = (table: readonly (readonly [RegExp, string])[], text: string): string | undefined =>
  table.find(([pattern]) => pattern.test(text))?.[1];

const removed = (name: string): string => {
  const since = goneName('cpp', name)?.since;
  return since === undefined ? '' : `, which TensorRT ${since} removed`;
};

/** Programs and plugins that do not compile or link against TensorRT. */
export const COMPILE_RULES: readonly DiagnosisRule[] = [
  {
    id: 'submodules-missing',
    code: 'file-missing',
    pattern: /does not contain a CMakeLists\.txt file/,
    once: true,
    severity: 'error',
    cause: 'Sources that the project takes from other repositories are missing: it was cloned without its submodules.',
    advice:
      'Run `git submodule update --init --recursive` in it (or clone with --recursive), delete the build folder, and configure again.',
    source: 'CMake; microsoft/onnxruntime#15784',
  },
  {
    id: 'host-compiler',
    code: 'library-mismatch',
    pattern: /#error -- unsupported (?<name>GNU|Microsoft Visual Studio|clang) version/,
    once: true,
    cause:
      'This CUDA does not compile with the version of the {name} compiler that is installed, which is most often newer than it knows.',
    advice:
      'Compile with a version that its installation guide lists (nvcc -ccbin, CMAKE_CUDA_HOST_COMPILER, CC and CXX), or use a later CUDA.',
    source: 'CUDA, crt/host_config.h',
  },
  {
    id: 'header-missing',
    code: 'library-missing',
    pattern:
      /fatal error: '?(?<header>(?:Nv[A-Z]|cu(?:da|dnn|blas)|nvToolsExt)[\w/]*\.h)'?(?:: No such file| file not found)|(?:Cannot open include file: |cannot open source file )['"](?<header2>(?:Nv[A-Z]|cu(?:da|dnn|blas))[\w/]*\.h)/,
    once: true,
    named: ({ groups: { header, header2 } = {} }) => ({
      values: {
        header: header ?? header2,
        gone: /Caffe|Uff|NvUtils/.test(header ?? header2 ?? '') ? ' TensorRT 10 has this header no more.' : '',
      },
    }),
    severity: 'error',
    cause: 'The compiler does not find the header {header}; the program is not built.',
    advice:
      'Install the development packages (libnvinfer-dev and libnvonnxparsers-dev for TensorRT; the wheels of pip have no headers), or give the folder `include` of the TensorRT or CUDA archive to the build (CMake: TensorRT_ROOT or TENSORRT_DIR; CPLUS_INCLUDE_PATH; INCLUDE on Windows).{gone}',
    source: 'GCC, Clang and MSVC; TensorRT installation guide',
  },
  {
    id: 'cmake-not-found',
    code: 'library-missing',
    pattern:
      /Could NOT find (?<name>TensorRT|TENSORRT|CUDA\w*|cudnn|CUDNN)\b|(?<name3>TENSORRT|TensorRT|CUDNN|CUDA)_?(?!\w{0,60}:(?:FILE)?PATH=)(?=\w{0,60}?(?:LIBRAR|INCLUDE|_ROOT)[^\n]{0,120}NOTFOUND)(?<!:(?:FILE)?PATH=[^\n]{0,300})\w+[^\n]{0,80}NOTFOUND|No (?<name4>CMAKE_CUDA_COMPILER) could be found|By not providing "Find(?<name5>TensorRT|CUDA\w*)\.cmake"|Library that was found (?<name6>nvinfer)_LIB_PATH-NOTFOUND|variables are used in this project, but they are set to NOTFOUND|nvcc: (?:command )?not found/i,
    once: true,
    severity: 'error',
    named: ({ 0: text, groups: { name, name3, name4, name5, name6 } = {} }) => ({
      values: {
        name:
          name ??
          name3 ??
          name4 ??
          name5 ??
          name6 ??
          (text.startsWith('nvcc') ? 'nvcc' : 'a library that it then lists'),
      },
    }),
    overcome: /Build files have been written to|\[100%\] Built target/,
    cause: 'CMake or the build does not find {name}; the program is not built.',
    advice:
      'Give the folder: -DTensorRT_ROOT, -DTENSORRT_DIR or TENSORRT_ROOT as the project names it (-DTRT_LIB_DIR for the repository of TensorRT), -DCUDAToolkit_ROOT and -DCMAKE_CUDA_COMPILER=/usr/local/cuda/bin/nvcc for CUDA. It has to hold include and lib (apt: libnvinfer-dev; the wheels of pip do not do). Put /usr/local/cuda/bin on PATH, and delete CMakeCache.txt before the next try.',
    sure: 'likely',
    source: 'CMake',
  },
  {
    id: 'link-wrong-format',
    code: 'library-mismatch',
    pattern: /error adding symbols: [Ff]ile in wrong format|skipping incompatible \S+ when searching/,
    once: true,
    severity: 'error',
    named: (_, text) => {
      const file = /(\S+): error adding|incompatible (\S+)/.exec(text)?.slice(1).find(Boolean);
      return {
        values: {
          file,
          step: file?.endsWith('.o')
            ? 'It was compiled on another machine and copied along: run `make clean` (or delete the build folder and the .o and .so files), and compile all of it here.'
            : undefined,
        },
      };
    },
    cause: 'The file[[ {file}]] is for another processor than the one that is compiled for; the program is not built.',
    advice:
      '[[{step} ]]Install the package for this machine (aarch64 for Jetson, sbsa for ARM servers, x86_64 for PCs): `file -L` of the library shows what it is. For cross compiling give the target folder of the other platform.',
    source: 'GNU ld; NVIDIA/TensorRT#1585, jkjung-avt/tensorrt_demos#227',
  },
  {
    id: 'link-failed',
    code: 'library-missing',
    pattern:
      /(?:cannot find|找不到) -l(?<lib>nv\w+|cud\w+|cublas\w*|myelin\w*)|lib(?<lib2>cudnn|cublas|nvinfer|nvonnxparser|cudart)\w*\.so[.\d]*, needed by [^\n]*not found|cannot open (?:input )?file ['"]?(?<lib3>[^'"\n]+)\.lib\b/,
    once: true,
    named: ({ groups: { lib, lib2, lib3 } = {} }) => ({ values: { library: lib ?? lib2 ?? lib3 } }),
    cause: 'The linker does not find the library {library}; the program is not built.',
    advice:
      'Give its folder to the build (CMake: -DTensorRT_ROOT, TENSORRT_DIR or link_directories, as the project names it; LD_LIBRARY_PATH counts when the program runs, not here), and install the development packages. A library that another one needs must have the version in its name: cuDNN and CUDA of the release that this TensorRT was made for.',
    source: 'GNU ld; JDAI-CV/fast-reid#544, zerollzeng/tiny-tensorrt#20, dusty-nv/jetson-inference#146',
  },
  {
    id: 'protobuf-compile',
    code: 'library-mismatch',
    pattern:
      /\.proto:\d+:\d+: Expected "required", "optional", or "repeated"|file was generated by an? (?:newer|older) version of protoc|(?:error: [^\n]*|\berror C\d+: [^\n]*)google::protobuf|\.pb\.(?:h|cc):\d+:\d+: error: /,
    once: true,
    severity: 'error',
    cause:
      'The compiler of protobuf (protoc), its headers and its library here are not of one version, or of one too old for this source; the program is not built.',
    advice:
      'Use one protobuf 3 for all three (onnx-tensorrt and TensorRT 5 to 8: 3.0 to 3.20): compare `protoc --version` with the headers and libprotobuf that CMake finds (lines "Protobuf compiler", "Protobuf libraries"), remove older or newer copies (/usr/local, conda) or name it with Protobuf_INCLUDE_DIR, Protobuf_LIBRARY and Protobuf_PROTOC_EXECUTABLE, and delete the build folder, whose generated files are of the other one.',
    source: 'protobuf; onnx/onnx-tensorrt#76, #512, #531',
  },
  {
    id: 'link-not-built',
    code: 'library-missing',
    pattern: /\berror: (?<file>[\w./+-]*lib[\w+-]+\.(?:so|a)): No such file or directory/,
    once: true,
    severity: 'error',
    cause: 'The linker is to use {file}, which does not exist; the program is not built.',
    advice:
      'Build that library first, into the folder of that path: of a project with CMake and Python parts (onnx-tensorrt, for example) run cmake and make in its folder build, then setup.py.',
    source: 'GNU ld; onnx/onnx-tensorrt#126',
  },
  {
    id: 'link-folder',
    code: 'library-missing',
    pattern:
      /cannot find +(?<path>\/\S+?):? +(?:File format not recognized|Is a directory)|(?<path2>(?<!\S)\/\S+): file not recognized: (?:File format not recognized|File truncated|Is a directory)/,
    once: true,
    severity: 'error',
    named: ({ groups: { path, path2 } = {} }) => ({ values: { path: path ?? path2 } }),
    cause: 'The linker is given {path} as a library, and that is a folder or no library; the program is not built.',
    advice:
      'Give folders where folders are asked for and files where files are: for the repository of TensorRT `-DTRT_LIB_DIR=FOLDER/lib` alone, without variables such as nvinfer_LIB_PATH (a file) in the cache of CMake; delete the build folder after the change. A file of a few bytes is a broken copy of a symbolic link (zip, Git LFS): unpack the archive again.',
    source: 'GNU ld; NVIDIA/TensorRT#1668',
  },
  {
    id: 'library-of-library',
    code: 'library-mismatch',
    pattern:
      /(?<file>(?<![^\s/\\])[^\s/\\]+\.so[\d.]*): undefined reference to [`'‘"][^\n@]+@+(?<needs>lib\w+\.so[.\d]*)/,
    once: true,
    severity: 'error',
    cause:
      '{file} needs {needs}, which the linker does not find: this TensorRT is for another CUDA or cuDNN than the one that is installed, or their folders are not given.',
    advice:
      'Install CUDA and cuDNN of the version in that name (they may be next to others), or the TensorRT for the CUDA that is there (its archive names it: cuda-10.0, cudnn7.6). Give their folders to the linker: CUDA_TOOLKIT_ROOT_DIR or CUDAToolkit_ROOT of CMake, -Wl,-rpath-link, and /etc/ld.so.conf or LD_LIBRARY_PATH.',
    source: 'GNU ld; onnx/onnx-tensorrt#546',
  },
  {
    id: 'symbol-not-linked',
    code: 'library-missing',
    pattern:
      /(?:undefined reference to|unresolved external symbol|无法解析的外部符号) (?:symbol )?[`'‘"“]*(?<symbol>[^`'’"”\n]{1,200})/,
    once: true,
    severity: 'error',
    named: (m) => {
      const symbol = m
        .groups!['symbol']!.replace(/@@.*| referenced in .*|(?<=\w)\(.*/, '')
        .replace(/^.*\b(?:__cdecl|virtual|class) /, '')
        .trim();
      return { values: { symbol, library: entryFor(SYMBOLS, symbol) } };
    },
    cause: 'The program is not built: the linker does not find {symbol}[[, which is in {library}]].',
    advice:
      '[[Link {library} (CMake: target_link_libraries; behind the files that use it), with its folder (TensorRT_ROOT, link_directories). ]]A class of the project itself, such as a plugin, needs its own source file or library in the same target. Use headers and libraries of one version: what a newer header declares is missing in an older library. A library built by another compiler (MinGW and MSVC, the old C++ ABI) lacks the symbol as well.',
    after: ['library-mismatch'],
    source:
      'GNU ld, MSVC link; NVIDIA/TensorRT#433, #664, #864, #3301, #3358, #3833, ceccocats/tkDNN#41, wang-xinyu/tensorrtx#223, #1126, dusty-nv/jetson-inference#230',
  },
  {
    id: 'source-noexcept',
    code: 'library-mismatch',
    pattern:
      /looser (?:throw|exception) specif|error C2694:|exception specification (?:of overriding function is more lax|for virtual function)/,
    once: true,
    severity: 'error',
    cause:
      'The source is for TensorRT 7 or older: since TensorRT 8 the functions that a plugin, logger, allocator or calibrator overrides are noexcept.',
    advice:
      'Take the release of the project that is for the installed version, or compile with TensorRT 7. Otherwise write noexcept at every function that the error names (`int getNbOutputs() const noexcept override`), and give enqueue the argument `void* const* outputs`.',
    source:
      'GCC, Clang and MSVC; headers of TensorRT 7 and 8; open-mmlab/mmcv#1180, #1548, NVIDIA-AI-IOT/torch2trt#672',
  },
  {
    id: 'source-interface',
    code: 'library-mismatch',
    pattern:
      /(?:abstract class(?: type)?|error C2259:) [‘'`"](?<class>[^’'`"\n]*(?:[pP]lugin|nvinfer|Calibrator|Logger|Allocator|Profiler)[^’'`"\n]*)|[‘'`"](?<gone>I(?:Plugin|Builder|Network|Cuda|Exec|Int8|Opt|Runtime|Host)\w*)[’'`"] (?:does not name a type|was not declared)|namespace "nv(?:infer1|onnxparser)" has no member(?: class)? "(?<gone2>\w+)"|error: [‘'`"](?<gone3>\w+)[’'`"] is not a member of [‘'`"]nv(?:infer1|onnxparser)[’'`"]|no (?:type|member) named '(?<gone4>\w+)' in namespace 'nv(?:infer1|onnxparser)'/,
    once: true,
    severity: 'error',
    named: ({ groups: { class: type, gone, gone2, gone3, gone4 } = {} }) => {
      const name = gone ?? gone2 ?? gone3 ?? gone4;
      return {
        values: {
          what:
            name === undefined
              ? `${type!} does not implement all functions that this version asks of it`
              : `these headers have no ${name}${removed(name)}`,
        },
      };
    },
    cause: 'The source is for another version of TensorRT than the headers that the compiler finds: {what}.',
    advice:
      'Take the release of the project that is for the installed version (for onnx-tensorrt and the repository of TensorRT the branch of that version, with its submodules), or install the version that it asks for. See which headers are taken (the paths in the lines "In file included from"): those of another TensorRT in /usr/include or in the CUDA folder come first otherwise. A plugin of your own needs the signatures of this header: the notes after the error list them.',
    sure: 'likely',
    source:
      'GCC, Clang and MSVC; NVIDIA/TensorRT#1867, #1886, onnx/onnx-tensorrt#85, #197, lewes6369/TensorRT-Yolov3#14, NVIDIA-AI-IOT/torch2trt#558',
  },
  {
    id: 'swig-header',
    code: 'library-mismatch',
    pattern: /NvOnnxParser\.h:\d+: Error: Syntax error in input/,
    severity: 'error',
    once: true,
    cause:
      'SWIG cannot read the header of this parser: the setup.py of this onnx-tensorrt is older than the header allows.',
    advice:
      'Use the branch of onnx-tensorrt for your TensorRT: from 7.2 on its Python package needs no SWIG. With an older one give SWIG the macro (`#define TENSORRTAPI` at the top of NvOnnxParser.h), or use the `tensorrt` wheel, which has the parser.',
    source: 'onnx/onnx-tensorrt#22, #315, #350, #359',
  },
  {
    id: 'other-header-missing',
    code: 'library-missing',
    pattern:
      /fatal error: ['"]?(?<header>[\w./+-]+\.(?:h|hpp|cuh|pb\.h))['"]?(?:: No such file| file not found)|(?:Cannot open include file: |cannot open source file )['"](?<header2>[^'"\n]+)/,
    once: true,
    severity: 'error',
    named: ({ groups: { header, header2 } = {} }) => {
      const name = header ?? header2!;
      return { values: { header: name, how: entryFor(HEADERS, name) } };
    },
    cause: 'The compiler does not find the header {header}; the program is not built.',
    advice: '{how}',
    source: 'GCC, Clang and MSVC; NVIDIA/TensorRT#2159, onnx/onnx-tensorrt#686',
  },
];
