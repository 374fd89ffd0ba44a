import { goneName, trtexecFlags } from '../../../lint/lintSource.ts';
import { causeText } from '../causeText.ts';
import { versionNumber } from '../../../base/text.ts';
import { type DiagnosisRule, EVERY_CAUSE, type RuleContext } from '../rule.ts';
import { knownFailure } from './builderRules.ts';

const NO_PRECISION_FLAGS = 'TensorRT 11 and TensorRT-RTX have no precision flags. Build a typed copy of the model.';

/**
 * What to do on a TensorRT before 11 that lacks a flag. Sources: the changelog of onnx-tensorrt (FP8 and BF16 in 9.0,
 * INT4 in 10.0), the order of BuilderFlag in NvInfer.h of 10.6, trtexec 8.6 (--fp8), release notes of 10.8 (FP4), and
 * the changelog of TensorRT's repository (8.2.1: STRICT_TYPES).
 */
const FLAGS: Readonly<Record<string, string>> = {
  STRICT_TYPES:
    'OBEY_PRECISION_CONSTRAINTS takes its place from TensorRT 8.2 on; TensorRT 10 no longer has STRICT_TYPES.',
  OBEY_PRECISION_CONSTRAINTS: 'It came with TensorRT 8.2; older versions have STRICT_TYPES.',
  PREFER_PRECISION_CONSTRAINTS: 'It came with TensorRT 8.2; older versions have STRICT_TYPES.',
  FP8: 'It came with TensorRT 8.6, and the FP8 types of ONNX with 9: use that or a later version.',
  BF16: 'It came with TensorRT 9: use that or a later version.',
  INT4: 'It came with TensorRT 10: use that or a later version.',
  FP4: 'It came with TensorRT 10.8: use that or a later version.',
};

/** A replay that does not fit: more particular than anything else that the same text says. */
export const REPLAY_RULES: readonly DiagnosisRule[] = [
  {
    id: 'replay-tactic',
    code: 'replay-mismatch',
    pattern: /Layer: (?<layer>.+?) \| Tactic in replay was not provided by TensorRT/,
    cause: 'The replay requests a tactic of {layer} that TensorRT did not offer.',
    advice:
      'Types, strides, vectorized dimension, implementation and tactic together must be one of the choices listed after "Provided choices were"; changing only a data type is never enough. A check of the replay lists valid entries.',
    source: 'captures of TensorRT 8.6 and 10.6 with Polygraphy',
  },
  {
    id: 'replay-network',
    code: 'replay-mismatch',
    pattern: /Layer: (?<layer>.+?) (?:was not found in the tactic replay|\| TensorRT selected a tactic different)/,
    cause:
      'The replay does not match layer {layer}: the network or the build options differ from those of the recording.',
    advice: 'Record the replay again with this model and these options.',
    source: 'Polygraphy; NVIDIA/TensorRT#4040',
  },
];

/** Arguments and files of programs, and how programs end. */
export const PROGRAM_RULES: readonly DiagnosisRule[] = [
  {
    id: 'file-missing',
    code: 'file-missing',
    pattern: /FileNotFoundError: .{0,300}'(?<file>[^'\n]+)'/,
    cause: 'The file {file} does not exist.',
    advice: 'Check the path; it is relative to the folder that the program runs in.',
    source: 'Python',
  },
  {
    id: 'json-damaged',
    code: 'file-missing',
    pattern: /JSONDecodeError: (?<why>.+)/,
    cause: 'A JSON file, or the answer of a server, that the program reads is empty or damaged ({why}).',
    advice: 'Look at the traceback above this line for the file, and write it again.',
    source: 'Python',
  },
  {
    id: 'disk-full',
    code: 'failed',
    pattern: /No space left on device|There is not enough space on the disk|\[Errno 28\](?! inotify)/,
    once: true,
    severity: 'error',
    cause: 'The disk is full.',
    advice:
      'Free space where the program writes (engine, timing cache, temporary files; `df -h`), or set TMPDIR to another disk. Docker: `docker system prune`.',
    source: 'operating systems',
  },
  {
    id: 'permission',
    code: 'file-missing',
    pattern:
      /PermissionError: \[\w+ \d+\][^\n']{0,60}(?:'(?<file>[^'\n]+)')?|[Ee]rror[^\n]{0,80}[Pp]ermission denied(?! \(publickey)/,
    severity: 'error',
    cause: 'The program may not read or write a file[[, {file}]].',
    advice:
      'Give the user of the program the right to (`chmod`, `chown`; the user inside a container differs), or another folder for what it writes. On Windows close programs that hold the file.',
    after: ['out-of-memory', 'killed'],
    source: 'operating systems',
  },
  {
    id: 'disable-mha',
    code: 'unknown-flag',
    pattern: /Unknown option: (?<flag>--disableMHA\S*)/,
    cause: 'This program does not support {flag}.',
    advice:
      'No version of trtexec has --disableMHA. The closest are --decomposableAttentions (10.14 and later) and build-route knobs (11.1 and later).',
    source: 'captures of TensorRT 8.6 and 10.6',
  },
  {
    id: 'unknown-flag',
    code: 'unknown-flag',
    pattern: /Unknown option: (?<flag>\S+)|unrecognized arguments: (?<flag2>.+)/,
    named: ({ groups: { flag, flag2 } = {} }, _, { version, product }) => ({
      values: {
        flag: flag ?? flag2,
        use: flag === undefined ? OTHER_FLAG : flagAdvice(flag.replace(/=.*/, ''), version, product),
      },
    }),
    cause: 'This program[[ ({version})]] does not support {flag}.',
    advice: '{use}',
    source: 'captures of trtexec and Polygraphy',
  },
  {
    id: 'builder-flag-removed',
    code: 'unknown-flag',
    pattern:
      /BuilderFlag' (?:object )?has no attribute '(?<flag>(?:FP|BF|INT)\d+|STRICT_TYPES|\w+_PRECISION_CONSTRAINTS)'/,
    named: ({ 0: text, groups: { flag } = {} }, _, { version, product }) => {
      const instead = product === 'tensorrt-rtx' || text.includes('tensorrt_rtx') ? undefined : FLAGS[flag!];
      const isTyped = instead === undefined || (version !== null && versionNumber(version) >= versionNumber('11.0'));
      const step = isTyped ? NO_PRECISION_FLAGS : version === null ? `${instead} ${NO_PRECISION_FLAGS}` : instead;
      return { values: { step } };
    },
    cause: 'This TensorRT[[ ({version})]] has no builder flag {flag}.',
    advice: '{step}',
    source: 'TensorRT 11, TensorRT-RTX',
  },
  {
    id: 'builder-flag-named',
    code: 'unknown-flag',
    pattern: /BuilderFlag' (?:object )?has no attribute '(?<flag>\w+)'/,
    cause: 'This TensorRT has no builder flag {flag}: the name is misspelled, or of another version.',
    advice:
      '`trt.BuilderFlag.__members__` lists the names of this version: FP16 is half precision, BF16 bfloat16, INT8 and FP8 the quantized types.',
    source: 'Python bindings of TensorRT 10.6',
  },
  {
    id: 'api-removed',
    code: 'unknown-flag',
    pattern:
      /(?:type object )?'(?:tensorrt(?:_bindings)?\.)+(?<class2>\w+)'(?: object)? has no attribute '(?<name3>\w+)'|cannot import name '(?<name4>\w+)' from '?tensorrt(?:_bindings)?\b|(?:AttributeError: |export failure[^\n]{0,60}: )'?(?:tensorrt(?:_rtx)?(?:_bindings)?\.)*(?<class>I?(?:Builder|BuilderConfig|CudaEngine|ExecutionContext|Runtime|NetworkDefinition|Network|OnnxParser|Layer|PluginRegistry)\w*)'? object has no attribute '(?<name1>\w+)'|module 'tensorrt\w*' has no attribute '(?<name2>\w+)'/,
    named: (m) => {
      const { class: class1, class2, name1, name2, name3, name4 } = m.groups!;
      const type = class1 ?? class2;
      const name = name1 ?? name2 ?? name3 ?? name4!;
      return {
        values: {
          name,
          where: type ?? 'the module tensorrt',
          ...fateOf(name, type),
          instead: replacement('python', name, type),
        },
      };
    },
    cause: '{name} of {where} {fate}: the script is for {other} one.',
    advice: {
      torch2trt:
        '{instead} Where the call is in torch2trt itself, install its newest version from the repository (0.5 or later), which knows the interfaces of TensorRT 8 and 10.',
      other: '{instead}',
    },
    source:
      'Python bindings of TensorRT 8.6 to 11; NVIDIA-AI-IOT/torch2trt#592, Kiteretsu77/FAST_Anime_VSR#21, NVIDIA/Stable-Diffusion-WebUI-TensorRT#144, #350, NVIDIA/trt-samples-for-hackathon-cn#63',
  },
  {
    id: 'undeclared-cpp',
    code: 'library-mismatch',
    once: true,
    pattern:
      /error: [‘'`"](?<name>(?:CUDNN_|cudnn|cublas|CUBLAS_|cuda|nvinfer1::|NV_TENSORRT)\w*)[’'`"] (?:was not declared|has not been declared|is not a member)|error C(?:2065|3861): '(?<name2>(?:CUDNN_|cudnn|cublas|cuda|nvinfer)\w*)'|error: identifier "(?<name3>(?:CUDNN_|cudnn|cublas|cuda|nvinfer)\w*)" is undefined/,
    severity: 'error',
    named: ({ groups: { name, name2, name3 } = {} }) => ({ values: { name: name ?? name2 ?? name3 } }),
    cause:
      'The program is not built: {name} does not exist in the CUDA, cuDNN or TensorRT that is installed; the code is for another version.',
    advice:
      'Install the versions that the project names (a newer release removes what was deprecated, an older one does not have it yet), use a branch of the project for those that are installed, and see that the compiler takes their headers and no older copy.',
    source: 'GCC, MSVC, nvcc; ceccocats/tkDNN#67',
  },
  {
    id: 'api-removed-cpp',
    code: 'unknown-flag',
    once: true,
    pattern:
      /error: [‘'`"]?(?:class|struct|enum class)? ?nv(?:infer1|onnxparser)::(?:\w+::)*(?<class>\w+)[’'`"]? (?:\{aka [^}]*\} )?has no member (?:named )?[‘'`"](?<name>\w+)|(?:error C2039: |no member named |error: [‘'`"])'?(?<name2>\w+)['’`"]?(?:: is not a member of| in| is not a member of) ['‘`"]nv(?:infer1|onnxparser)::(?:\w+::)*(?<class2>\w+)['’`"]|error C2039: ["“'](?<name3>\w+)["”']: [^\n]{0,20}["“']nvinfer1::(?<class3>\w+)["”']/,
    severity: 'error',
    named: ({ groups: { class: type, name, name2, name3, class2, class3 } = {} }) => ({
      values: {
        name: name ?? name2 ?? name3,
        where: type ?? class2 ?? class3,
        instead: replacement('cpp', name ?? name2 ?? name3 ?? '', type ?? class2 ?? class3),
      },
    }),
    cause: '{where} has no {name} in this version of TensorRT: the program is for another one.',
    advice: '{instead}',
    source:
      'GCC, Clang and MSVC; headers of TensorRT 8.6 to 11; wang-xinyu/tensorrtx#1555, triple-mu/YOLOv8-TensorRT#265, FeiYull/TensorRT-Alpha#108',
  },
  {
    id: 'api-changed-cpp',
    code: 'unknown-flag',
    once: true,
    pattern:
      /error: no matching (?:member )?function for call to [‘'`"]?(?:nv(?:infer1|onnxparser)::)?(?<class>I[A-Z]\w+)::(?<name>\w+)|error C2660: ["“']?nvinfer1::(?<class2>\w+)::(?<name2>\w+)["”']?: |error: too (?:many|few) arguments to function call[^\n]*\n[^\n]*(?<name3>deserializeCudaEngine|createNetworkV2|enqueueV[23]|registerCreator)/,
    severity: 'error',
    named: ({ groups: { class: type, class2, name, name2, name3 } = {} }) => {
      const called = name ?? name2 ?? name3!;
      return { values: { name: called, where: type ?? class2, instead: ARGUMENTS[called] ?? OTHER_ARGUMENTS } };
    },
    cause:
      '{name}[[ of {where}]] takes other arguments in this version of TensorRT: the program is written for another one.',
    advice: '{instead}',
    source: 'GCC, Clang and MSVC; headers of TensorRT 7 to 10; NVIDIA/TensorRT#4389',
  },
  {
    id: 'flag-value',
    code: 'bad-flag-value',
    pattern:
      /Invalid DataType (?<type>\S+)|Unknown tactic source: \S+|^(?<number>sto(?:i|l|ll|ul|ull|f|d))(?: conversion failure: failed to parse (?<option>--\w+))?|argument (?:--?\S+): (?:invalid|expected)[^\n]*|Invalid value for (?:\S+)|(?<![\w-])--?[\w-]+: expected [^\n]*|(?<![\w-])--[\w-]+: .* is (?:not one|none) of /m,
    named: (m, text) => ({
      values: {
        what: m.groups!['type']
          ? `${m.groups!['type']} is not a data type of this version.`
          : m.groups!['number']
            ? `The value of ${m.groups!['option'] ?? 'an option'} is not a number where one is needed.`
            : causeText(text),
      },
    }),
    cause: '{what}',
    advice:
      'Correct the value (--help lists what the option takes; an input or output format is TYPE:LAYOUT, such as fp16:chw). A comma inside a layer name also splits the list and causes this error.',
    source: 'captures of trtexec and Polygraphy',
  },
  {
    id: 'time-limit',
    code: 'killed',
    pattern:
      /^timeout: sending signal (?<signal>\w+) to command|^(?:[^\n]{0,200}\b(?:exited|failed|finished|completed|terminated|stopped|returned)\b[^\n]{0,40})?[^\w\n]{0,9}(?:with )?(?:exit )?(?:code|status):? ?124[^\w\n]{0,9}$/im,
    severity: 'error',
    once: true,
    cause: 'The command timeout ended the program while {phase}: it took longer than it was given.',
    advice:
      'Give it more time. A build takes longer with many dynamic shapes, a high builder optimization level or other programs on the GPU, and less with a timing cache that is kept (trtexec: --timingCacheFile).',
    source: 'GNU coreutils, timeout',
  },
  {
    id: 'interrupted',
    code: 'killed',
    pattern: /^KeyboardInterrupt\b/m,
    severity: 'error',
    lastResort: true,
    cause:
      'The program was interrupted while {phase}: by Ctrl-C, or by a program that stopped it in that way (SIGINT).',
    advice:
      'Nothing of TensorRT failed. The lines above say where it was; a build that seems to hang may only be timing tactics, which a verbose log shows.',
    source: 'Python',
  },
  {
    id: 'engine-not-saved',
    code: 'file-missing',
    pattern: /Saving engine to file failed/,
    cause: 'The engine was built and could not be written to the file that --saveEngine names.',
    advice: 'Make the folder of that file first, and check its permissions and the free space (`df -h`).',
    after: ['failed', 'file-missing'],
    source: 'trtexec sampleEngines.cpp; built with TensorRT 10.6',
  },
  {
    id: 'polygraphy-script',
    code: 'failed',
    pattern: /Could not import symbol: (?<name>\w+) from script: (?<file>\S+)/,
    severity: 'error',
    cause: 'The script {file} that Polygraphy is given does not define {name}.',
    advice: 'Define a function of that name in it, or give the name of yours after a colon: {file}:FUNCTION.',
    source: 'Polygraphy invoke_from_script',
  },
  {
    id: 'polygraphy-model-type',
    code: 'model-unreadable',
    pattern: /Model type: (?<type>\w+) could not be converted to an ONNX model/,
    severity: 'error',
    cause: 'The command gives Polygraphy a file that it takes for the kind {type}, where it needs an ONNX model.',
    advice:
      'Give the .onnx file to runners of ONNX (--onnxrt, --onnx-…), and an engine only to --trt. --model-type says what a file is where its name does not.',
    source: 'Polygraphy, tools/args/backend/onnx/loader.py',
  },
  {
    id: 'killed',
    code: 'killed',
    pattern:
      /(?:^|\s)Killed\b|\bkilled\b(?= *(?:python|trtexec|polygraphy|\.\/|$))|oom-kill|OOMKilled|Out of memory: Kill(?:ed)? process|exit(?:ed)?(?: with)? (?:code|status):? ?(?:137|-9)\b|SIGKILL|died with <Signals\.SIGKILL|returned non-zero exit status 137|status=9\/KILL|^(?:.* )?(?:已杀死|已砍掉|強制終了|Getötet|Processus arrêté|Убито)/m,
    once: true,
    cause: 'The program was killed while {phase}, most often by the system because the host memory (RAM) ran out.',
    advice:
      'Check `dmesg` for "Out of memory". Give it more RAM or swap (a container: a higher memory limit; a Jetson: swap and no desktop), build smaller (batch, largest shapes, --builderOptimizationLevel=2), and close other programs.',
    sure: 'likely',
    source: 'Linux; ceccocats/tkDNN#26, NVIDIA/TensorRT-LLM#743',
  },
  {
    id: 'crash-stack-overrun',
    code: 'crashed',
    pattern: /0[xX][cC]0000(?<code>409|374|142|135|139|138|07[bB]|[fF][dD])\b/,
    named: (m) => ({ values: { why: windowsCause(m.groups!['code']!.toLowerCase()) } }),
    cause: 'The program ended with 0xC0000{code} while {phase}: {why}.',
    advice:
      'Put the CUDA, cuDNN and TensorRT libraries of one version first on PATH (a Python wheel brings its own), and install the Visual C++ runtime. A debugger or `procmon` names the library.',
    sure: 'likely',
    source: 'Windows NTSTATUS',
  },
  {
    id: 'camera-missing',
    code: 'failed',
    pattern: /GST_ARGUS: Available Sensor modes :(?!\s*GST_ARGUS: \d)[^\S\n]*(?:\n|$)/,
    severity: 'error',
    overcome: /GST_ARGUS: \d+ x \d+/,
    cause:
      'The program opens the CSI camera of the Jetson, which lists no modes: none is connected, or it does not answer.',
    advice:
      'TensorRT is not what fails: run the program on a file or an USB camera to see. For the camera check the cable and its driver (`nvgstcapture-1.0`), and restart the service (`sudo systemctl restart nvargus-daemon`).',
    sure: 'likely',
    source: 'jkjung-avt/tensorrt_demos#112',
  },
  {
    id: 'converter-arguments',
    code: 'failed',
    pattern: /what ?\(\): +sto(?:i|l|ul|f|d)\b/,
    severity: 'error',
    cause: 'The program reads a number in its arguments or its configuration where there is none.',
    advice:
      'Look for blanks after commas, and for names and shapes in the wrong place. tlt-converter and tao-converter: -d takes C,H,W only, -p takes NAME,min,opt,max with an x between dimensions, and the converter must be the one for this TensorRT and CUDA.',
    after: EVERY_CAUSE,
    sure: 'likely',
    source: 'C++ std::stoi; NVIDIA-AI-IOT/deepstream_lpr_app#1',
  },
  {
    id: 'backtrace-device',
    code: 'runtime-failed',
    pattern: /^#\d+ [^\n]*\bsample::setCudaDevice\(/m,
    severity: 'error',
    cause: 'The crash is where trtexec takes the GPU: CUDA gives it none, or an error.',
    advice:
      'Look at nvidia-smi at that moment: another process may have all of its memory or use it exclusively (compute mode), the driver may be too old for this CUDA, or the number of --device may not exist in the container (CUDA_VISIBLE_DEVICES). Run one trtexec at a time on a GPU.',
    sure: 'likely',
    source: 'NVIDIA/TensorRT#3166; trtexec sampleDevice.cpp',
  },
  {
    id: 'backtrace-plugins',
    code: 'library-mismatch',
    pattern: /^#\d+ [^\n]*\binitLibNvInferPlugins ?\(/m,
    severity: 'error',
    cause:
      "The crash is in the start of TensorRT's plugin library: it was built for another TensorRT than the one that loads it, or two of them are loaded.",
    advice:
      'Build libnvinfer_plugin from the branch of the TensorRT repository that has exactly the version of this libnvinfer (for Triton: of its container), or use the one that came with it; `ldd` and LD_PRELOAD show which are loaded.',
    sure: 'likely',
    source: 'triton-inference-server/server#2227',
  },
  {
    id: 'backtrace-plugin',
    code: 'runtime-failed',
    pattern:
      /^#\d+ [^\n]*?\b(?<plugin>\w+)::enqueue ?\((?:nvinfer1::PluginTensorDesc|int,? ?(?:int )?[^\n]*void const\*)/m,
    severity: 'error',
    cause: 'The crash is in the plugin {plugin}, where it runs its kernel.',
    advice:
      "Compile the plugin library for this GPU (its compute capability: for TensorRT's own -DGPU_ARCHS=…) and against this TensorRT, and check that the GPU has the precision that it computes in. Otherwise the plugin gets sizes or types that it does not expect: run it under compute-sanitizer.",
    sure: 'likely',
    source: 'NVIDIA/TensorRT#837',
  },
  {
    id: 'pure-virtual',
    code: 'crashed',
    pattern: /pure virtual method called/,
    severity: 'error',
    cause:
      'The program calls an object of TensorRT or of a plugin that is destroyed already, or that was compiled with the headers of another version.',
    advice:
      'Keep the logger, runtime and engine as long as what they made (destroy contexts first, then the engine, then the runtime), and compile the program and its plugins again with the headers of the TensorRT that it loads (`ldd`).',
    after: ['library-mismatch', 'engine-other-version'],
    sure: 'possible',
    source: 'NVIDIA/TensorRT#1139',
  },
  {
    id: 'sample-data',
    code: 'file-missing',
    pattern: /Could not find (?<file>\S+)(?: in data directories|\. Searched in data paths)/,
    severity: 'error',
    cause: 'The sample does not find its file {file}.',
    advice:
      'Give the folder with --datadir (--data, -d). The files of the samples are in the archive of TensorRT (folder data; /usr/src/tensorrt/data of the packages), not in its repository on GitHub; what the README of the sample names besides must be downloaded or converted first (generate_pgms.py for the digits of MNIST).',
    source: 'TensorRT samples common.h, common.py; NVIDIA/TensorRT#71, #165, #1054, #1778',
  },
  {
    id: 'backtrace-enqueue',
    code: 'crashed',
    pattern: /^#\d+ [^\n]*\bIExecutionContext::(?:enqueue|execute)\w* ?\(/m,
    severity: 'error',
    cause: 'The crash is inside TensorRT while it runs the engine.',
    advice:
      'Check that each thread has an execution context of its own, that every binding is a buffer on the GPU as large as the largest shape, set for all tensors, and that engine, runtime and plugins outlive the context. If all that is right, it is an error of this version: try the next one, and report it with the engine.',
    after: EVERY_CAUSE.filter((code) => code !== 'crashed'),
    sure: 'possible',
    source: 'NVIDIA/TensorRT#2129, #1139',
  },
  {
    id: 'crashed',
    code: 'crashed',
    pattern:
      /Segmentation fault|SIGSEGV|0[xX][cC]0000005|\b3221225477\b|-1073741819|exit(?:ed)?(?: with)? (?:code|status):? ?(?:139|-11)\b|Bus error|SIGBUS|Illegal instruction|access violation|died with <Signals\.SIG(?:SEGV|BUS|ILL)|段错误|程式記憶體區段錯誤|セグメンテーション違反|Speicherzugriffsfehler|Erreur de segmentation|Violación de segmento|Falha de segmentação|Errore di segmentazione|Ошибка сегментирования|세그멘테이션 오류/i,
    named: ({ 0: text }, _, context) => ({
      values: {
        known: knownFailure(context, context.phase, true),
        how: /illegal/i.test(text)
          ? 'illegal instruction'
          : /bus|SIGBUS/i.test(text)
            ? 'bus error'
            : 'access violation',
      },
    }),
    cause: 'The program crashed ({how}) while {phase}[[ with TensorRT {version}]][[ on {gpu}]].',
    advice:
      '[[{known} ]]{usual}[[ The command allows {lowered}: build once in FP32 to see whether that is the cause.]] Check first that this TensorRT supports the GPU (its support matrix; TensorRT 10 needs Volta or later, from 10.5 on Turing), that one set of its libraries is loaded, and that memory is free. Otherwise find the layer: build with --verbose, look at the last layer that was timed, exclude its tactics (--tacticSources), reduce the model to it, try the next version and driver, and report it with the reduced model.',
    after: EVERY_CAUSE.filter((code) => code !== 'crashed' && code !== 'killed'),
    sure: 'possible',
    source: 'operating systems; vs-mlrt, NVIDIA/TensorRT#2715, #3162, #3800',
  },
  {
    id: 'pycuda-copy',
    code: 'runtime-failed',
    pattern: /cuMemcpy(?<way>HtoD|DtoH|DtoD)?\w* failed: invalid (?:argument|value)/,
    severity: 'error',
    named: ({ groups: { way } = {} }) => ({
      values: { which: way === 'DtoH' ? 'an output' : way === 'HtoD' ? 'an input' : 'a buffer' },
    }),
    cause:
      'PyCUDA cannot copy {which}: the array has another size or type than its buffer on the GPU, or that buffer is gone.',
    advice:
      'Compare `array.nbytes` with the size that was allocated: resize the image to the input of the engine, convert it to its type (float32), make it contiguous (`np.ascontiguousarray`), and allocate for the real batch. An engine with dynamic shapes reports -1: allocate for the largest shape of its profile.',
    sure: 'likely',
    source:
      'PyCUDA; jkjung-avt/tensorrt_demos#69, #266, OpenPPL/ppq#461, Star-Clouds/CenterFace#71, zombie0117/yolov3-tiny-onnx-TensorRT#8',
  },
  {
    id: 'pycuda-call',
    code: 'runtime-failed',
    pattern: /pycuda\._driver\.\w+: (?<call>cu\w+) failed: (?<why>[^\n]+)/,
    severity: 'error',
    cause: 'A call of CUDA failed in PyCUDA ({call}): {why}.',
    advice:
      'A kernel that failed before shows only at the next call: look at the errors of TensorRT above, check the sizes of all buffers (batch, largest shapes) and that the context of PyCUDA is current in this thread and not mixed with that of PyTorch, and run once under `compute-sanitizer`.',
    after: ['runtime-failed', 'runtime-shape', 'out-of-memory', 'library-missing', 'gpu-unsupported'],
    sure: 'possible',
    source: 'PyCUDA; inducer/pycuda#398',
  },
  {
    id: 'weights-map',
    code: 'weights-missing',
    pattern: /what\(\): +(?:map::at|_Map_base::at|unordered_map::at|invalid map<K, T> key)|KeyError: map::at/,
    severity: 'error',
    cause:
      'The program looked up a weight, layer or name that its file does not have: the file is of another version or variant of the model.',
    advice:
      'Write the weights again with the converter of the same version of the program, from the model that is meant (.wts and .cfg or .yaml of one export), and give the program its variant.',
    after: ['out-of-memory', 'plugin-missing'],
    sure: 'likely',
    source: 'C++ library; marcoslucianops/DeepStream-Yolo#116',
  },
  {
    id: 'opencv-empty',
    code: 'file-missing',
    pattern: /error: \(-215:Assertion failed\) (?:!_?\w*\.?empty\(\)|!ssize\.empty\(\)|_?\w+\.dims|size\.width ?> ?0)/,
    severity: 'error',
    once: true,
    cause: 'OpenCV got an empty image: the file, video or camera could not be read.',
    advice:
      'Check the path of the image or video (relative to the folder that the program runs in), the camera, and that OpenCV has the codec. TensorRT is not what fails.',
    source: 'OpenCV',
  },
  {
    id: 'bindings-count',
    code: 'engine-invalid',
    pattern: /Assertion [`'](?:\w+(?:->|\.))?(?:getNbBindings|getNbIOTensors)\(\) == (?<want>\w+)' failed/,
    severity: 'error',
    cause:
      'The engine has another number of inputs and outputs than the {want} that the program expects: the model was exported for another program.',
    advice:
      'Export the model as the documentation of this program says (often with its own version of export.py, with or without NMS), and build the engine again; an inspection of the engine lists its inputs and outputs.',
    sure: 'likely',
    source: 'linghu8812/tensorrt_inference#3, xuarehere/yolov7_deepsort_tensorrt#3',
  },
  {
    id: 'heap-damaged',
    code: 'crashed',
    pattern:
      /old_top == initial_top|malloc\(\): (?:invalid|corrupted|unaligned|memory corruption)|free\(\): invalid|double free or corruption|corrupted (?:size vs\. prev_size|double-linked list)|munmap_chunk\(\): invalid/,
    severity: 'error',
    cause: 'The program damaged its own memory while {phase}.',
    advice:
      'Most often a part was compiled against another version of TensorRT, CUDA or its plugin library than the one that it loads: compile everything again here (make clean) and export the model again. Otherwise a plugin writes beyond its buffers: run it under `valgrind` or with AddressSanitizer.',
    after: ['library-mismatch', 'library-missing', 'out-of-memory', 'runtime-failed'],
    sure: 'possible',
    source: 'glibc malloc; NVIDIA-AI-IOT/CUDA-PointPillars#81',
  },
  {
    id: 'engine-is-null',
    code: 'failed',
    pattern:
      /Assertion (?:[`']|failed: )(?:this->)?(?<what>\w*[eE]ngine\w*|network|serialized\w*|plan|m?_?context)(?: != ?(?:nullptr|NULL|0))?(?:' failed|, file)/,
    cause:
      'TensorRT gave the program a null pointer ({what}), which it does not expect: the cause is an error that TensorRT printed before.',
    advice:
      'Look at the first error above. If there is none, the usual causes: the program or plugin was compiled against another TensorRT than the one it loads (compile it again here), too little memory, or, where it builds the network from weights, a file of another version or variant.',
    after: EVERY_CAUSE,
    source: 'marcoslucianops/DeepStream-Yolo#624, wang-xinyu/tensorrtx#1271, #982',
  },
  {
    id: 'weights-file',
    code: 'weights-missing',
    pattern:
      /[lL]oadWeights\([^\n]{0,300}Assertion [`'][^\n]{1,300}' failed|Assertion [`'][^\n]*Unable to load weight file/,
    cause: 'The program cannot read the file with the weights.',
    advice:
      'Check its path (programs of tensorrtx look for it in the folder above), its kind (.wts or .weights), and that the converter of the same version of the program wrote it.',
    after: ['out-of-memory'],
    source: 'wang-xinyu/tensorrtx#1151, marcoslucianops/DeepStream-Yolo#136',
  },
  {
    id: 'weights-of-another-network',
    code: 'weights-missing',
    pattern:
      /(?:nvinfer1::I(?:\w{0,40}Layer|CudaEngine|HostMemory) ?\*|build|createEngine)[^\n]{0,300}\bnvinfer1::I[^\n]{0,300}?Assertion [`'](?<what>(?=[A-Z\d]*[a-z_])\w+)' failed|createPlugin\([^\n]*Assertion [`'](?<what3>[^'\n]+)' failed|Assertion [`'](?<what2>(?:scale|conv|bn|cv|fc|deconv|upsample|ew)_?\d*)' failed/,
    named: ({ groups: { what, what2, what3 } = {} }) => ({ values: { what: what ?? what2 ?? what3 } }),
    cause:
      'The program could not add a layer to the network ({what}): the weights are most often those of another version or variant of the model.',
    advice:
      'Write the weights again with the converter of the same version of the program, from the model that is meant, and give the program its variant and its number of classes.',
    after: EVERY_CAUSE,
    sure: 'likely',
    source: 'wang-xinyu/tensorrtx#871, #887, #905, #1217',
  },
  {
    id: 'program-assertion',
    code: 'engine-invalid',
    pattern:
      /Assertion [`'](?!blob)(?=[^'\n]*' failed)(?<claim>[^'\n]{0,300}?(?:[sS]ize|[vV]olume|[dD]ims?\b|numDims|[cC]lass|[bB]atch|[bB]inding|[cC]hannel|inputIndex|outputIndex|kOutputSize)[^'\n]*)' failed/,
    severity: 'error',
    cause:
      'The program stopped at a check of its own, `{claim}`: most often it was written for other sizes than those of the engine or the weights that it got.',
    advice:
      'Let the model, its engine or weights, and the numbers in the program agree (classes, input size, batch, names of inputs and outputs, with or without NMS): correct them in its configuration or header, compile it again, delete the old .engine, and build it again from this model.',
    after: EVERY_CAUSE.filter((code) => code !== 'crashed'),
    sure: 'possible',
    source: 'glibc assert; enazoe/yolo-tensorrt#158, NVIDIA-AI-IOT/yolo_deepstream#25',
  },
  {
    id: 'plugin-fields',
    code: 'plugin-missing',
    pattern: /Validation failed: [^\n]*missing required fields/,
    severity: 'error',
    once: true,
    cause: 'The script creates a plugin without fields that the plugin of this TensorRT requires, so it gets none.',
    advice:
      'Give every field that the documentation of this plugin lists for the installed version (the message names the missing ones; EfficientNMS_TRT: score_activation, box_coding, background_class, class_agnostic …), with the right types, or use the version of TensorRT that the script was written for.',
    source: 'TensorRT plugin/common/plugin.cpp; Linaom1214/TensorRT-For-YOLO-Series#80',
  },
  {
    id: 'plugin-validation',
    code: 'unsupported-form',
    pattern:
      /Validation failed: (?:(?<claim>[^\n]+)\n(?<file>\S*[pP]lugin\S*?:\d+)|(?<claim2>[^\n]*(?:[=!<>]=|&&|\|\||->|::|nullptr)[^\n]*))/,
    severity: 'error',
    named: ({ groups: { claim, claim2 } = {} }) => ({ values: { claim: claim ?? claim2 } }),
    cause: 'A plugin does not take the attributes or inputs of its node: `{claim}` does not hold[[ ({file})]].',
    advice:
      'Compare the attributes of the node (names, types, lengths) with those that the plugin reads: its README is in plugin/ of TensorRT\'s repository. One that is missing is empty, so that lengths differ: "Attribute … not found in plugin node" before this line names it. An operator of ONNX needs no plugin where the parser has it.',
    after: ['out-of-memory'],
    sure: 'likely',
    source: 'TensorRT plugin/common/plugin.h (PLUGIN_VALIDATE); NVIDIA/TensorRT#3165',
  },
  {
    id: 'program-timed-out',
    code: 'failed',
    pattern:
      /\b(?:[Pp]rocess|[Bb]uild(?:ing)?|[Ll]oading|[Ii]nitiali[sz](?:ation|ing)|[Ee]ngine|[Cc]ompil(?:ation|ing))\b[^\n]{0,60} timed out\b|subprocess\.TimeoutExpired/,
    severity: 'error',
    cause:
      'The program waited no longer for what it started. Building an engine, or loading it the first time, takes minutes, on a small GPU up to an hour.',
    advice:
      'Raise the time-out of the program, or let it finish once with a cache of engines (or build the engine with trtexec before), so that later starts only load it. If it takes as long every time, the cache is not kept or not writable.',
    after: EVERY_CAUSE,
    sure: 'possible',
    source: 'VisoMasterFusion/VisoMaster-Fusion#236',
  },
  {
    id: 'aborted',
    code: 'crashed',
    pattern:
      /terminate called after throwing an instance of '(?<what>[^']+)'|Unhandled exception caught in c10|Aborted\b|SIGABRT|exit(?:ed)?(?: with)? (?:code|status):? ?(?:134|-6)\b|died with <Signals\.SIGABRT|已放弃|已中止|Аварийный останов|^(?:Abgebrochen|Abandon|Abortado|中止) \(|Assertion [`'](?<assertion>[^'\n]+)' failed/,
    named: (m, text) => ({
      values: {
        why:
          /what\(\): +([^\n]+)/.exec(text)?.[1] ??
          /&& "(.+?)(?:\\n)?"/.exec(m.groups!['assertion'] ?? '')?.[1] ??
          m.groups!['what'] ??
          m.groups!['assertion'],
      },
    }),
    harmless: true,
    cause: 'The program aborted while {phase}[[: {why}]].',
    advice:
      'The first error before this line is the cause; a program that prints none hides the messages of TensorRT. {usual}',
    after: [...EVERY_CAUSE, 'failed'],
    sure: 'possible',
    source: 'C++ runtime; wang-xinyu/tensorrtx#1610',
  },
  {
    id: 'engine-is-none',
    code: 'failed',
    pattern:
      /'NoneType' object has no attribute '(?:create_execution_context\w*|serialize|num_(?:bindings|io_tensors|layers|inputs|outputs|optimization_profiles)|get_(?:binding|tensor|input|output|layer|profile|device_memory)\w*|binding_\w+|max_batch_size|device_memory_size\w*|execute\w*|set_(?:input|tensor|binding|optimization|shape|flag|device_memory)\w*|active_optimization_profile|infer_shapes|add_(?:input|convolution|activation|plugin|shuffle|constant|optimization_profile)\w*|mark_output|parse|refit\w*|__enter__)'|(?:RuntimeError|Exception|ValueError|SystemExit): (?:Failed to|Could not|Unable to|Cannot) (?:build|create|generate|parse)[^\n]{0,30}\b(?:TensorRT|TRT|engine)\b|'NoneType' object does not support the context manager|AttributeError: __enter__|AssertionError: Failed to create TensorRT engine|(?:engine build|build_\w+(?:\(\))?) returned None|`engine` should be str or trt\.ICudaEngine, but given: <class 'NoneType'>|a bytes-like object is required, not 'NoneType'/,
    cause:
      'The script got no engine, parser or network from TensorRT: the cause is an error that TensorRT printed before.',
    sure: 'likely',
    advice:
      'Look at the first error above. If there is none and an engine file is loaded (create_execution_context), it was most often built by another TensorRT or for another GPU: build it again on this machine, with this version. Otherwise pass a logger with `trt.Logger(trt.Logger.VERBOSE)`, and print the errors of the parser (`parser.get_error(i)`).',
    after: EVERY_CAUSE,
    source: 'NVIDIA/TensorRT#1731, #3805, NVIDIA-AI-IOT/torch2trt#728, RizhaoCai/PyTorch_ONNX_TensorRT#3',
  },
  {
    id: 'python-none',
    code: 'failed',
    pattern:
      /(?<=(?:[Ee]rror|ERROR|[Ff]ail|Exception)[^\n]{0,300})'NoneType' object (?:has no attribute '(?<name>\w+)'|is not (?:callable|subscriptable|iterable))|argument of type 'NoneType'|unsupported operand type\(s\) for [^\n]{1,30}'NoneType'/,
    severity: 'error',
    lastResort: true,
    cause: 'The script uses[[ {name} of]] None: something before it gave no result.',
    advice:
      'The last frame of the traceback shows what is None: an image that could not be read, a model, engine or file that was not found. An error above it comes first.',
    after: EVERY_CAUSE,
    sure: 'possible',
    source: 'Python',
  },
  {
    id: 'library-object-is-none',
    code: 'failed',
    pattern:
      /pybind11::init\(\): factory function returned nullptr|(?:[Cc]annot|[Ff]ailed to|[Cc]ould not) create (?:an? |the )?(?:infer(?:ence)?(?: |_)?)?(?:builder|runtime|IBuilder|IRuntime)\b|Assertion [`'](?:builder|runtime|parser)(?: !=? ?nullptr)?' failed/,
    cause:
      'TensorRT could not start (it gave no builder or runtime): most often it finds no GPU, or a driver that is too old.',
    advice:
      'Look at the first message above. Check that this TensorRT supports the GPU, that `nvidia-smi` works in the same environment (`docker run --gpus all` in a container), and that the driver is new enough for the CUDA of this TensorRT.',
    after: EVERY_CAUSE,
    sure: 'likely',
    source: 'pybind11; NVIDIA/TensorRT#2727',
  },
  {
    id: 'myelin-cuda',
    code: 'runtime-failed',
    pattern: /MyelinCheckException[^\n]*CUDA_SUCCESS/,
    severity: 'error',
    cause: 'A call of CUDA failed while TensorRT compiled a part of the network ({phase}).',
    advice: {
      rtx: 'Check that `nvidia-smi` works here and shows free memory. Without a GPU TensorRT-RTX builds engines, but none to be refitted and none without weights: leave out --refit and --stripWeights.',
      other:
        'Check that `nvidia-smi` works here and shows free memory, that the driver is new enough for the CUDA of this TensorRT, and that one set of CUDA libraries is loaded.',
    },
    after: EVERY_CAUSE,
    sure: 'possible',
    source: 'captures of TensorRT-RTX 1.7.1 on a machine without a GPU',
  },
  {
    id: 'bool-copy',
    code: 'unsupported-type',
    pattern: /\[(?<layer>[^[\]]+)\] requires bool(?: or uint8)? I\/O but node can ?not be handled by Myelin/,
    cause:
      'A boolean tensor would have to be copied between the computation of shapes and the GPU ({layer}), which this TensorRT cannot do.',
    advice:
      'Do not make boolean tensors outputs of the network (marking all outputs does that); cast them to INT32 before, or use TensorRT 10.',
    sure: 'likely',
    source: 'captures of TensorRT 8.6 with all tensors marked as outputs',
  },
  {
    id: 'ultralytics-failed',
    code: 'failed',
    pattern:
      /(?<kind>ONNX|TensorRT|PyTorch|TorchScript):? export failure[^\n]*?\d s?: *(?<why>[^\n]+)|(?<kind2>ONNX|TensorRT|PyTorch|TorchScript):? export failure[^\n]*?s: (?<why2>[^\n]+)/,
    severity: 'error',
    once: true,
    named: ({ groups: { kind, kind2, why, why2 } = {} }) => ({ values: { kind: kind ?? kind2, why: why ?? why2 } }),
    cause: 'The export to {kind} by Ultralytics failed: {why}',
    advice:
      'An error above this line says more. Otherwise use the latest ultralytics, the versions of onnx, onnxslim and tensorrt that it asks for, and build the exported .onnx with trtexec --verbose to see what TensorRT says.',
    after: [...EVERY_CAUSE, 'failed', 'unknown-flag', 'file-missing'],
    sure: 'possible',
    source: 'ultralytics engine/exporter.py',
  },
];

/** Names of the Python API that came after TensorRT 8.0; a script that uses them needs a later version. */
const isNew = (name: string): boolean =>
  /^(?:num_io_tensors|\w*_?tensor_(?:name|mode|shape|dtype|address|location|format)\w*|execute_async_v3|set_input_shape|set_memory_pool_limit|build_serialized_network|MemoryPoolType|TensorIOMode|IProgressMonitor|IOutputAllocator|HardwareCompatibilityLevel|IPluginV3\w*|BF16|FP8|INT4|STRONGLY_TYPED|\w+_v2)$/.test(
    name,
  ) && !/^(?:execute_(?:async_)?v2|add_plugin_v2)$/.test(name);

/** The version that brought a name of the API, of those that programs for a later TensorRT most often need. */
const sinceOf = (name: string): string | undefined =>
  /^(?:buildSerializedNetwork|build_serialized_network)$/.test(name)
    ? '8.0'
    : /^(?:setMemoryPoolLimit|set_memory_pool_limit|MemoryPoolType)$/.test(name)
      ? '8.4'
      : /^(?:enqueueV3|execute_async_v3|getNbIOTensors|num_io_tensors|getIOTensorName|getTensor(?:Shape|DataType|IOMode)|get_tensor_(?:name|shape|dtype|mode)|setTensorAddress|set_tensor_address|setInputShape|set_input_shape)$/.test(
            name,
          )
        ? '8.5'
        : undefined;

/** Whether a name of the Python API was removed, or is not there yet. */
function fateOf(name: string, type: string | undefined): { fate: string; other: string } {
  const isGone = Object.hasOwn(INSTEAD, name) || goneIn('python', name, type) !== undefined;
  if (isGone) return { fate: 'was removed, and this version of TensorRT no longer has it', other: 'an earlier' };
  return { fate: 'does not exist in this version of TensorRT', other: isNew(name) ? 'a later' : 'another' };
}

/** What to call instead of names of the Python API that were removed. */
const INSTEAD: Readonly<Record<string, string>> = {
  build_engine: 'Use `builder.build_serialized_network(network, config)`.',
  build_cuda_engine: 'Use `builder.build_serialized_network(network, config)`.',
  max_workspace_size: 'Use `config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, bytes)`.',
  max_batch_size: 'Networks have explicit batches: give an optimization profile.',
  num_bindings: 'Use `engine.num_io_tensors`.',
  get_binding_shape: 'Use `engine.get_tensor_shape(name)`.',
  get_binding_dtype: 'Use `engine.get_tensor_dtype(name)`.',
  get_binding_name: 'Use `engine.get_tensor_name(index)`.',
  get_binding_index: 'Use names: `engine.get_tensor_name(index)`.',
  binding_is_input: 'Use `engine.get_tensor_mode(name)`.',
  set_shape: 'Use `context.set_input_shape(name, shape)`.',
  set_binding_shape: 'Use `context.set_input_shape(name, shape)`.',
  execute_async: 'Use `context.set_tensor_address(name, pointer)` and `context.execute_async_v3(stream)`.',
  execute_async_v2: 'Use `context.set_tensor_address(name, pointer)` and `context.execute_async_v3(stream)`.',
  execute_v2: 'Use `context.set_tensor_address(name, pointer)` and `context.execute_async_v3(stream)`.',
  fp16_mode: 'Use `config.set_flag(trt.BuilderFlag.FP16)` (up to TensorRT 10).',
  int8_mode: 'Use `config.set_flag(trt.BuilderFlag.INT8)` (up to TensorRT 10).',
  platform_has_fast_fp16: 'TensorRT 11 has no such query; every supported GPU computes FP16.',
};

const IN_CONFIG = 'TensorRT 8 removed it: it is a setting of the IBuilderConfig (`builder->createBuilderConfig()`)';

/** Members of IBuilder that TensorRT 8 removed (its release notes; headers of 7.2 and 8.0). */
const BEFORE_8: Readonly<Record<string, string>> = {
  buildCudaEngine:
    'TensorRT 8 removed it: use `builder->buildSerializedNetwork(*network, *config)`, then `runtime->deserializeCudaEngine(data, size)`.',
  createNetwork:
    'TensorRT 8 removed it: use `builder->createNetworkV2(flags)`, for a model of ONNX with kEXPLICIT_BATCH.',
  setMaxWorkspaceSize: `${IN_CONFIG}: \`config->setMemoryPoolLimit(MemoryPoolType::kWORKSPACE, bytes)\`, before 8.4 \`config->setMaxWorkspaceSize(bytes)\`.`,
  setFp16Mode: `${IN_CONFIG}: \`config->setFlag(BuilderFlag::kFP16)\` (up to TensorRT 10).`,
  setInt8Mode: `${IN_CONFIG}: \`config->setFlag(BuilderFlag::kINT8)\` (up to TensorRT 10).`,
  setStrictTypeConstraints: `${IN_CONFIG}: \`config->setFlag(BuilderFlag::kOBEY_PRECISION_CONSTRAINTS)\` (up to TensorRT 10).`,
  setInt8Calibrator: `${IN_CONFIG}: \`config->setInt8Calibrator(calibrator)\` (up to TensorRT 10).`,
  setDefaultDeviceType: `${IN_CONFIG}: \`config->setDefaultDeviceType(DeviceType::kDLA)\`.`,
};

/** What to call instead of names of the API that are gone, or are not there yet. */
function replacement(language: 'python' | 'cpp', name: string, type: string | undefined): string {
  const table = language === 'python' ? INSTEAD : BEFORE_8;
  if (Object.hasOwn(table, name) && (language === 'python' || type === 'IBuilder')) return table[name]!;
  const since = sinceOf(name);
  if (since !== undefined)
    return `It came with TensorRT ${since}: install that or a later one (on a Jetson a later JetPack), or take an older release of the program.`;
  const gone = goneIn(language, name, type);
  if (gone === undefined)
    return language === 'python' && isNew(name)
      ? 'Install the TensorRT that the script was written for (its requirements name it), or use the older interface.'
      : "Use the version that it was written for, or its newer interface (NVIDIA's migration guide).";
  const said = gone.advice.includes('trtlens') ? '' : gone.advice;
  const instead = said || (gone.since === '11.0' ? typesInstead(name) : '');
  return `TensorRT ${gone.since} removed it.${instead && ` ${instead}`} Otherwise use the version before that${language === 'python' ? ` (\`pip install "tensorrt<${gone.since.split('.')[0]}"\`)` : ''}, or a newer release of the program.`;
}

const goneIn = (language: 'python' | 'cpp', name: string, type: string | undefined) =>
  goneName(language, type === undefined ? name : `${type}.${name}`);

/** What TensorRT 11 has in place of precision flags, types of layers and calibrators: all is in the model. */
const typesInstead = (name: string): string =>
  /calib|int8|quant|dynamic_?range|fp8|int4|fp4/i.test(name)
    ? 'Quantize the model with Q/DQ nodes before (Model Optimizer: `python -m modelopt.onnx.quantization`), and build it as it is.'
    : /fp16|bf16|precision|type|best|layer/i.test(name)
      ? 'The types come from the model: export it in FP16, or convert it (Model Optimizer: `python -m modelopt.onnx.autocast`), and build it as it is.'
      : '';

const OTHER_FLAG =
  'Look at its --help: options differ between releases, so use the documentation and scripts of the one that is installed, or install the one that the command is from.';

/** When trtexec has a flag, and what to use instead. */
function flagAdvice(flag: string, version: string | null, product: RuleContext['product']): string {
  const row = Object.hasOwn(trtexecFlags, flag) ? trtexecFlags[flag] : undefined;
  if (row === undefined)
    return 'Look at its --help: flags depend on the version, and a name or a quotation mark may be misspelled.';
  const [first, gone, advice] = row;
  if (product === 'tensorrt-rtx') return `TensorRT-RTX has no such flag. ${typesInstead(flag)}`.trim();
  if (gone !== '' && (version === null || versionNumber(version) >= versionNumber(gone))) {
    const instead = advice.includes('trtlens') ? typesInstead(flag) : advice;
    return `trtexec of TensorRT ${gone} and later no longer has it. ${instead || 'Leave it out.'}`;
  }
  return advice === 'Use nothing: always on.' && version !== null && versionNumber(version) >= 1100
    ? 'Leave it out: it is always on.'
    : `It came with TensorRT ${first === '9.3' ? '9' : first}: use trtexec of that version or later (its archive or container; the wheels of pip have none), and see which one is found first on PATH.`;
}

function windowsCause(code: string): string {
  if (code === '135' || code === '7b') return 'a library (DLL) was not found';
  if (code === '139' || code === '138' || code === '142' || code === '07b')
    return 'a library (DLL) of another version or architecture was loaded';
  if (code === 'fd') return 'its stack overflowed, which deep models do to the parser';
  return 'memory was damaged, most often by libraries of different versions';
}

const OTHER_ARGUMENTS =
  "Compare the call with the header that the compiler takes (the notes after the error list what it has): use the release of the program for that TensorRT, or the TensorRT that it names. TensorRT's migration guide lists what each call became.";

/** Calls of C++ whose arguments changed. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  deserializeCudaEngine:
    'Call `runtime->deserializeCudaEngine(data, size)`: the third argument, a plugin factory, was removed in TensorRT 10. Plugins come from the registry (`initLibNvInferPlugins`).',
  createNetworkV2:
    'Pass flags as uint32_t: `builder->createNetworkV2(0)`; explicit batch is the only mode of TensorRT 10, and kSTRONGLY_TYPED is a flag.',
  enqueueV3: 'Call `context->setTensorAddress(name, pointer)` for each tensor, then `context->enqueueV3(stream)`.',
};
