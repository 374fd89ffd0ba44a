import { sizeText } from '../text/numbers.ts';
import { causeText } from './causeText.ts';
import type { DiagnosisRule } from './diagnosisRule.ts';

/** What to do when tactics do not fit into the workspace. */
export const WORKSPACE_ADVICE =
  'Increase the workspace (`--memPoolSize=workspace:<MiB>`, before TensorRT 8.4 `--workspace=<MiB>`) or leave it unlimited.';
const DEVICE_MEMORY_ADVICE =
  'Free memory on the GPU: close other programs that use it, lower the workspace or the largest shape of the optimization profile. The engine uses other tactics instead.';
const FOREIGN =
  'Increase the workspace, mark no outputs inside it, remove precision constraints from its nodes, or split the model there. A newer TensorRT often has the missing implementation.';

/** What the builder could not do: memory, implementations, profiles, precision. */
export const BUILDER_RULES: DiagnosisRule[] = [
  {
    code: 'workspace-too-small',
    pattern: /(?:implementation for node (.+?) )?due to insufficient workspace/,
    say: (m) => ({
      ...(m[1] ? { layer: m[1] } : {}),
      message: `No tactic${m[1] ? ` of ${m[1]}` : ''} fits into the workspace.`,
      advice: WORKSPACE_ADVICE,
    }),
  },
  {
    code: 'out-of-memory',
    pattern: /Tactic Device request: (\d+) ?MB Available: (\d+) ?MB/,
    say: (m) => ({
      severity: 'warning',
      message: `Tactics were skipped because the GPU has too little free memory (${m[1]} MiB requested, ${m[2]} MiB available).`,
      advice: DEVICE_MEMORY_ADVICE,
    }),
  },
  {
    // With this advice of TensorRT's own the number counts MiB where it is small: 8.x rounds the request before it prints it.
    code: 'out-of-memory',
    pattern: /insuff?icient memory on requested size of (\d+)[^\n]*\n\s*Try decreasing the workspace/,
    say: (m) => ({
      severity: 'warning',
      message: `Tactics were skipped because the GPU has too little free memory (${Number(m[1]) < 1 << 20 ? `${m[1]} MiB` : sizeText(Number(m[1]))} requested).`,
      advice: DEVICE_MEMORY_ADVICE,
    }),
  },
  {
    code: 'workspace-too-small',
    pattern: /insuff?icient memory on requested size of (\d+)|do not have sufficient workspace memory/,
    say: (m) => ({
      severity: 'warning',
      message: `Tactics were skipped because the workspace is too small${m[1] ? ` (${sizeText(Number(m[1]))} requested)` : ''}.`,
      advice: WORKSPACE_ADVICE,
    }),
  },
  {
    code: 'out-of-memory',
    pattern:
      /out of memory|OutOfMemory|OUT_OF_MEMORY|cudaErrorMemoryAllocation|memory .*could not be allocated|bad_alloc/i,
    say: () => ({
      message: 'The build ran out of memory.',
      advice:
        'Close other programs on the GPU, reduce the workspace or the maximum shapes of the optimization profile, or build on a machine with more memory.',
    }),
  },
  {
    code: 'no-implementation',
    pattern: /Could not find any implementation for node (.+?)\.?\)?\.?\s*(?:$|\n)/,
    say: (m, text) => ({
      layer: m[1]!,
      message: `TensorRT found no implementation for ${m[1]}${reasonIn(text)}.`,
      advice: m[1]!.includes('ForeignNode')
        ? FOREIGN
        : 'Allow another precision for it, increase the workspace, or replace the operator.',
    }),
  },
  {
    code: 'no-implementation',
    pattern: /Cannot compile operation '(.+?)'(?: for ([^:]+))?: ([^.\n]+)/,
    say: (m) => ({
      layer: m[1]!,
      message: `TensorRT has no kernel for ${m[1]}${m[2] ? ` on ${m[2]}` : ''}: ${m[3]}.`,
      advice: 'Build for another compute capability, or give the node a precision that this GPU can compute.',
    }),
  },
  {
    code: 'no-implementation',
    pattern: /(?:layer |node |(?<!\S))(\S+?)?:? ?has no runners that implement it|[Nn]o tactics to implement operation/,
    say: (m) => ({
      ...(m[1] ? { layer: m[1] } : {}),
      message: `TensorRT can parse ${m[1] ?? 'this node'} but has no kernel for it on this target.`,
      advice: 'Replace the operator, or build with the full TensorRT for your GPU.',
    }),
  },
  {
    code: 'unknown-input',
    pattern: /Cannot find input tensor with name "(.+?)" in the network inputs|no input (?:is )?named '(.+?)'/,
    say: (m) => ({
      input: m[1] ?? m[2]!,
      message: `The model has no input named ${JSON.stringify(m[1] ?? m[2])}.`,
      advice: 'Use the input names of the model.',
    }),
  },
  {
    code: 'profile-missing',
    pattern:
      /Dynamic dimensions required for input: (.+?), but no shapes were provided|no optimization profile has been defined/,
    say: (m) => ({
      ...(m[1] ? { input: m[1] } : {}),
      message: m[1]
        ? `Input ${m[1]} has dynamic dimensions but no shapes were given, so the engine is built for size 1 in each of them.`
        : 'The network has dynamic inputs but no optimization profile.',
      advice: 'Pass --minShapes, --optShapes and --maxShapes for every dynamic input.',
    }),
  },
  {
    code: 'profile-inconsistent',
    pattern:
      /MIN<=OPT<=MAX|condition: profile->isValid|Dimension mismatch for tensor (\S+) and profile|tensor (\S+) has \d+ dimensions but profile|is inconsistent with other shapes|IOptimizationProfile::|optimization profile is invalid|Static dimension mismatch/,
    say: (m, text) => ({
      ...(inputOf(m, text) !== undefined ? { input: inputOf(m, text)! } : {}),
      message: `An optimization profile does not match${inputOf(m, text) !== undefined ? ` input ${inputOf(m, text)}` : ''}: ${causeText(text)}`,
      advice:
        'Every dimension needs min ≤ opt ≤ max. The rank must equal that of the input, and fixed dimensions must equal those of the model.',
    }),
  },
  {
    code: 'calibration-missing',
    pattern:
      /[Cc]alibration failure|Calibrator is not being used|Missing scale and zero-point for tensor (\S+)|[Nn]o calibration (?:cache|table)|calibration cache .*(?:not found|does not exist)/,
    say: (m) => ({
      severity: 'warning',
      message: `INT8 has no scale${m[1] ? ` for tensor ${m[1].replace(/[,.]$/, '')}` : 's'}: neither a calibration cache nor Q/DQ nodes provide one.`,
      advice:
        'Calibrate (up to TensorRT 10) or quantize the model with Q/DQ nodes; without scales such layers stay in higher precision.',
    }),
  },
  {
    code: 'precision-overflow',
    pattern:
      /(?:Weights \[name=(.+?)\] had the following issues when converted to FP16[\s\S]*)?(?:[Oo]verflow in FP16 detected|overflow\S* (?:in|to) FP16|values? (?:overflow|out of range).*FP16)/,
    say: (m) => ({
      severity: 'warning',
      ...(m[1] && { layer: m[1] }),
      message: `Weights${m[1] ? ` of ${m[1]}` : ''} hold values too large for FP16: they are clipped to its largest value.`,
      advice: 'Keep the nodes that read these weights in FP32, or use BF16.',
    }),
  },
  {
    code: 'precision-underflow',
    pattern: /Weights \[name=(.+?)\] had the following issues when converted to FP16/,
    say: (m) => ({
      severity: 'warning',
      layer: m[1]!,
      message: `Weights of ${m[1]} hold values too small for FP16: these lose digits or become 0.`,
      advice: 'Compare the accuracy; where it suffers, keep the nodes that read these weights in FP32.',
    }),
  },
  {
    code: 'precision-overflow',
    pattern: /[Ll]ayernorm nodes in FP16|FP16 may cause overflow|FP16 Reduce or Pow may cause overflow/,
    say: (_, text) => ({
      severity: 'warning',
      names: /nodes in FP16: (.*)/.exec(text)?.[1]?.split(', ').filter(Boolean) ?? [],
      message: layerNorms(text),
      advice:
        'Keep normalization and softmax nodes in FP32 (an override file: `op:LayerNormalization fp32`), or export with opset 17 or later.',
    }),
  },
  {
    code: 'internal',
    pattern: /Skipping tactic (\S+) due to exception ([^\n]*)/,
    say: (m) => ({
      severity: 'warning',
      message: `A tactic was skipped: ${causeText(m[2]!) || m[1]!}`,
      advice: 'Nothing has to be done as long as the build passes; a newer TensorRT may have fixed it.',
    }),
  },
];

/** Why tactics were skipped before TensorRT gave up. */
function reasonIn(text: string): string {
  const reason = /due to exception (?:\[[^\]]*\] )?([^\n]+?)\.?(?: In \w+ at \/\S+)?(?:\n|$)/.exec(text)?.[1];
  return reason && reason !== 'No Myelin Error exists' ? `: ${reason}` : '';
}

/** TensorRT lists every node, and empty names for those with a precision of their own. */
function layerNorms(text: string): string {
  const names = /nodes in FP16: (.*)/.exec(text)?.[1]?.split(', ').filter(Boolean);
  if (!names) return causeText(text);
  return names.length === 0
    ? 'All normalization nodes have an explicit precision.'
    : `${names.length} nodes of layer normalizations run in FP16 and may overflow.`;
}

/** The input that a text about profiles names. */
const inputOf = (m: RegExpMatchArray, text: string): string | undefined =>
  m.slice(1).find((group) => group !== undefined) ?? /optimization profiles for input tensors (\S+),/.exec(text)?.[1];
