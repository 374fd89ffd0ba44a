import type { RuleName } from './gateFile.ts';

/** What a number of a gate file measures. */
export type Unit = 'count' | 'ms' | 'bytes' | 'error';

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
      'Each Softmax that is fed by a MatMul through scale, mask or casts only, and read by a MatMul, is one kernel with both.',
    words: ['fused'],
  },
  foreignNodes: {
    about: 'How many ForeignNodes (Myelin regions) the engine has.',
    keys: counts('ForeignNodes'),
    short: 'max',
  },
  kernels: {
    about: 'How many kernels and layers run in the engine, those inside ForeignNodes included.',
    keys: counts('kernels'),
    short: 'max',
  },
  layers: {
    about: 'How many layers the engine has, a ForeignNode counted as one.',
    keys: counts('layers'),
    short: 'max',
  },
  reformats: {
    about: 'Layers that only change the memory layout or type of a tensor.',
    keys: {
      ...counts('reformat layers'),
      microseconds: { unit: 'ms', about: 'Their time together, in microseconds.', scale: 1 / 1000 },
    },
    short: 'max',
  },
  nodes: {
    about: 'Most nodes with a fate, as the fusion report counts them.',
    keys: {
      unknown: fateCount('Nodes of which nothing in log and layer info says what became of them.'),
      foreign: fateCount('Nodes inside ForeignNodes.'),
      fused: fateCount('Nodes computed by an engine layer together with others.'),
      single: fateCount('Nodes that are an engine layer of their own.'),
      folded: fateCount('Constant-folded nodes.'),
      removed: fateCount('Nodes that need no work.'),
      shape: fateCount('Nodes that compute shapes on the host.'),
    },
  },
  precision: {
    about: 'The type in which nodes are computed, by selector as in a .trtprec file: `op:Softmax`, `/blocks.*/mlp/**`.',
    patterns: 'type',
  },
  time: {
    about: 'Time of the layers that compute the nodes: `total`, or a pattern of node or module names.',
    keys: { total: { unit: 'ms', about: 'All layers: `1.2 ms`, or against the baseline `+3%`.' } },
    patterns: 'ms',
  },
  memory: {
    about: 'Memory that the build log states.',
    keys: {
      activation: { unit: 'bytes', about: 'Activation memory: `512 MiB`, or against the baseline `+5%`.' },
      weights: { unit: 'bytes', about: 'Memory of the weights.' },
      engine: { unit: 'bytes', about: 'Size of the engine.' },
    },
  },
  quantised: {
    about: 'QuantizeLinear and DequantizeLinear nodes.',
    keys: { unfused: { unit: 'count', about: 'Most Q/DQ nodes that are a kernel of their own.' } },
    short: 'unfused',
  },
  accuracy: {
    about: 'Largest error of an output against FP32, as `trtlens accuracy` finds it.',
    keys: { error: { unit: 'error', about: 'Largest max|d| / max|reference| of any output.', absolute: true } },
    short: 'error',
  },
};

/** Keys of a rule other than those that limit something. */
export const commonKeys: Readonly<Record<string, string>> = {
  optional: 'true: what cannot be judged with the given files does not fail.',
};

/** The keys of a gate file. */
export const gateKeys: Readonly<Record<string, string>> = {
  model: 'Path of the ONNX model, relative to this file.',
  baseline: 'Path of the report (`trtlens fusion --json`) of the last good build, relative to this file.',
  rules: 'What a build must keep to.',
  allow: 'Rules that may fail until a day, each with the reason.',
};

export const permissionKeys: Readonly<Record<string, string>> = {
  rule: 'A rule, or one of its checks: `time`, `reformats.max`.',
  until: 'The last day on which it may fail: `2027-03-01`.',
  why: 'The reason, such as an issue.',
};
