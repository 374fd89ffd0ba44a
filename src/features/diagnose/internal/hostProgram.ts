import type { BuildLog, HostProgram } from '../../../kernel/read/tensorrt/buildOutput.ts';
import type { Program } from './ruleTable.ts';

/** What programs around TensorRT write where their prefix does not name them. */
const WORDS: readonly [HostProgram, RegExp][] = [
  ['nv-tensorrt-rtx', /NvTensorRTRTX|nv_execution_provider|NvTensorRtRtx|nv_profile_/],
  ['onnxruntime', /onnxruntime|ONNXRuntimeError|TensorrtExecutionProvider|TensorRT EP\b/],
  ['torch-tensorrt', /torch_tensorrt|Torch-TensorRT|TRTorch|core\/conversion\/conversionctx/],
  [
    'triton',
    /tritonserver|trtserver|tensorrt-?(?:inference-)?server|triton-inference|\bUNAVAILABLE: |model_repository_manager|trt failed to set|config\.pbtxt|tensorrt_backend|TRITON/,
  ],
];

/** The program whose words an advice should use, the most particular first. */
export function programsOf(log: BuildLog): Program[] {
  const writer = knownWriter(log);
  const { host = hostIn(log, writer), product } = log;
  const found: Program[] = host === undefined ? [] : [host];
  if (product === 'tensorrt-rtx' && host === undefined) found.push('rtx');
  if (writer === 'driver') found.unshift('trtlens');
  else if (writer === 'trtexec' || writer === 'polygraphy' || writer === 'onnxruntime') found.push(writer);
  else if (writer === 'python') found.push('python');
  else if (found.length === 0 && (log.strays ?? []).some(({ text }) => TRTEXEC.test(text))) found.push('trtexec');
  if (product === 'tensorrt-rtx' && !found.includes('rtx')) found.push('rtx');
  return found;
}

/** Its command, in what is written around an excerpt. */
const TRTEXEC = /\btrtexec(?:\.exe)? +--[a-z]/i;

/** trtexec and Polygraphy write their own names; other programs are known by their words. */
function hostIn({ strays = [], messages }: BuildLog, writer: BuildLog['writer']): HostProgram | undefined {
  if (writer === 'driver' || writer === 'polygraphy' || writer === 'trtexec') {
    return undefined;
  }
  const texts = [...strays.map(({ text }) => text), ...messages.slice(0, 50).map(({ text }) => text.slice(0, 2000))];
  return WORDS.find(([, words]) => texts.some((text) => words.test(text)))?.[0];
}

/** Prefixes without times are those of trtlens, and of excerpts of any program: its own frame tells. */
const knownWriter = ({ writer, runs = [] }: BuildLog): BuildLog['writer'] =>
  writer === 'driver' && !runs.some(({ program }) => program.endsWith('.build_engine')) ? null : writer;
