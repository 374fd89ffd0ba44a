import type { RuleName } from './gateFile.ts';

/** What a number of a gate file measures. */
export type Unit = 'count' | 'ms' | 'bytes' | 'error';

export type AccuracySetting = 'inputs' | 'low' | 'rules';

/** What may stand below a rule. */
export interface RuleGrammar {
  /** One sentence; shown on hover, in completion and in the schema. */
  about: string;
  /** Words that the rule may be instead of a table: `attention: fused`. */
  words?: readonly string[];
  /** Keys with fixed names: what they limit. `low`: the value is a least, not a most. */
  keys?: Readonly<Record<string, { unit: Unit; about: string; low?: true; absolute?: true; scale?: number }>>;
  /** Other keys are patterns of node names; what stands after them. */
  patterns?: 'type' | 'ms';
  /** The key that a single value stands for: `kernels: 12`. */
  short?: string;
  /** Keys that say how to find the number: paths relative to the gate file, or one of `values`. */
  settings?: Readonly<Record<AccuracySetting, { about: string; values?: readonly string[] }>>;
}

const counts = (what: string) =>
  ({
    max: { unit: 'count', about: `Most ${what}: a number, or against the baseline \`+5%\` or \`+2\`.` },
    min: { unit: 'count', about: `Fewest ${what}.`, low: true, absolute: true },
  }) as const;

const fateCount = (about: string) => ({ unit: 'count', about }) as const;

/** Every rule of a gate file. Reader, completion, JSON Schema and documentation are made from it. */
export const gateRules: Readonly<Record<RuleName, RuleGrammar>> = {
  attention: {
    about:
      'Each Softmax between two MatMuls (with only scale, mask or casts before it) is computed with both by one kernel.',
    words: ['fused'],
  },
  foreignNodes: {
    about: 'Number of ForeignNodes (Myelin regions) in the engine.',
    keys: counts('ForeignNodes'),
    short: 'max',
  },
  kernels: {
    about: 'Number of kernels and layers that run in the engine, including those inside ForeignNodes.',
    keys: counts('kernels'),
    short: 'max',
  },
  layers: {
    about: 'Number of layers in the engine; a ForeignNode counts as one.',
    keys: counts('layers'),
    short: 'max',
  },
  reformats: {
    about: 'Layers that only change the memory layout or type of a tensor.',
    keys: {
      ...counts('reformat layers'),
      microseconds: { unit: 'ms', about: 'Their total time in microseconds.', scale: 1 / 1000 },
    },
    short: 'max',
  },
  nodes: {
    about: 'Most nodes with a fate, as the fusion report counts them.',
    keys: {
      unknown: fateCount('Nodes whose fate is unknown.'),
      foreign: fateCount('Nodes inside ForeignNodes.'),
      fused: fateCount('Nodes computed by an engine layer together with others.'),
      single: fateCount('Nodes that are an engine layer of their own.'),
      folded: fateCount('Constant-folded nodes.'),
      removed: fateCount('Nodes that need no work.'),
      shape: fateCount('Nodes that compute shapes on the host.'),
    },
  },
  precision: {
    about: 'The compute type of nodes, by selectors as in a .trtprec file: `op:Softmax`, `/blocks.*/mlp/**`.',
    patterns: 'type',
  },
  time: {
    about: 'Time of the layers that compute the nodes: `total`, or a pattern of node or module names.',
    keys: { total: { unit: 'ms', about: 'All layers: `1.2 ms`, or against the baseline `+3%`.' } },
    patterns: 'ms',
  },
  memory: {
    about: 'Memory according to the build log.',
    keys: {
      activation: { unit: 'bytes', about: 'Activation memory: `512 MiB`, or against the baseline `+5%`.' },
      weights: { unit: 'bytes', about: 'Memory of the weights.' },
      engine: { unit: 'bytes', about: 'Size of the engine.' },
    },
  },
  quantised: {
    about: 'QuantizeLinear and DequantizeLinear nodes.',
    keys: { unfused: { unit: 'count', about: 'Most Q/DQ nodes with a kernel of their own.' } },
    short: 'unfused',
  },
  accuracy: {
    about: 'Largest error of an output compared with FP32, found by simulation as `trtlens accuracy` does.',
    keys: { error: { unit: 'error', about: 'Largest max|d| / max|reference| of any output.', absolute: true } },
    short: 'error',
    settings: {
      inputs: {
        about:
          'Input values for `trtlens accuracy`, a file or a folder relative to this file: the gate runs it by itself.',
      },
      low: {
        about: 'The low precision to simulate. Default: the one that the build was made in.',
        values: ['fp16', 'bf16', 'int8', 'fp8'],
      },
      rules: { about: 'Override rules (*.trtprec), relative to this file. Default: those of the build.' },
    },
  },
};

/** Keys of a rule other than those that limit something. */
export const commonKeys: Readonly<Record<string, string>> = {
  optional: 'If true, a rule that cannot be checked with the given files does not fail.',
};

/** The keys of a gate file. */
export const gateKeys: Readonly<Record<string, string>> = {
  model: 'Path of the ONNX model, relative to this file.',
  baseline: 'Path of the report (`trtlens fusion --json`) of the last good build, relative to this file.',
  rules: 'The rules for a build.',
  allow: 'Rules that may fail until a date, each with the reason.',
};

export const permissionKeys: Readonly<Record<string, string>> = {
  rule: 'A rule, or one of its checks: `time`, `reformats.max`.',
  until: 'The last day on which it may fail: `2027-03-01`.',
  why: 'The reason, such as an issue.',
};
