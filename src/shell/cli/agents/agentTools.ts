import type { Command } from '../../../kernel/node/cli/command.ts';

/** What a parameter is. Paths are checked, with those that the file itself names. `side`: a build folder or a report. */
export type ParameterKind = 'file' | 'side' | 'gate' | 'rules' | 'text' | 'integer';

export interface Parameter {
  kind: ParameterKind;
  about: string;
  required?: true;
  /** The option of the command; absent: the parameter's name with dashes. null: the value stands alone. */
  option?: string | null;
}

/** What an agent gives, by the names of the parameters. */
export type ToolValues = Readonly<Record<string, string>>;

/** A tool for agents: one command of `trtlens` with fixed parameters. */
export interface AgentTool {
  title: string;
  description: string;
  /** It runs TensorRT, in files of its own, and takes minutes. The others run no program. */
  builds?: true;
  /** The command line begins with this. */
  command: readonly string[];
  parameters: Readonly<Record<string, Parameter>>;
  /** Parameters of which at least one must be given. */
  anyOf?: readonly string[];
  load: () => Promise<Command>;
}

const optimizationProfile: Parameter = {
  kind: 'integer',
  about: 'Optimization profile of the engine, from 0; 0 if absent',
};
const build: Readonly<Record<string, Parameter>> = {
  build: { kind: 'side', about: 'Build folder of trtlens. Replaces onnx, layers, log and profile' },
  onnx: { kind: 'file', about: 'The ONNX model that was built' },
  layers: { kind: 'file', about: 'Layer info: trtexec --exportLayerInfo' },
  log: { kind: 'file', about: 'Verbose build log' },
  profile: { kind: 'file', about: 'Layer times: trtexec --exportProfile' },
  optimization_profile: optimizationProfile,
};
const buildFiles = ['build', 'layers', 'log', 'profile'];
/** An empty `--nsys`: no program is run to read a trace. */
const command = ['show', '--nsys='] as const;
const fusion = async () => (await import('../../../kernel/node/cli/fusion.ts')).fusion;

/** Every tool, by the name that agents call. */
export const agentTools: Readonly<Record<string, AgentTool>> = {
  summary: {
    title: 'Summarize a TensorRT Build',
    description:
      'What TensorRT did with a model: how many ONNX nodes were fused into ForeignNodes and kernels, folded or are unknown, the slowest layers, and what holds it back: fusions that did not happen, with the condition that failed.',
    command,
    parameters: build,
    anyOf: buildFiles,
    load: fusion,
  },
  explain_node: {
    title: 'Explain an ONNX Node',
    description:
      'What became of one ONNX node in a build: its fate, whether that is exact or derived, the evidence, the line of the log, its layers, what its neighbors became, and what holds it back.',
    command,
    parameters: {
      node: { kind: 'text', about: 'Name or id of the node', required: true, option: 'nodes' },
      ...build,
    },
    anyOf: buildFiles,
    load: fusion,
  },
  explain_group: {
    title: 'Explain a ForeignNode',
    description:
      'The kernels of one ForeignNode in order, with time and the nodes that each computes, exact or derived.',
    command,
    parameters: {
      group: { kind: 'integer', about: 'Number of the ForeignNode, from 0', required: true, option: 'group' },
      ...build,
    },
    anyOf: buildFiles,
    load: fusion,
  },
  diff: {
    title: 'Compare Two Builds',
    description: 'What differs between two builds, node by node: fusion, kernels, types and time.',
    command: ['diff'],
    parameters: {
      a: {
        kind: 'side',
        about: 'First build: a build folder, or a report of trtlens show --json',
        required: true,
        option: null,
      },
      b: { kind: 'side', about: 'Second build', required: true, option: null },
      onnx: { kind: 'file', about: 'Model of both builds, if they do not name it' },
      onnx_b: { kind: 'file', about: 'Model of the second build, if it is another one' },
      optimization_profile: optimizationProfile,
    },
    load: async () => (await import('../../../features/diff/node/cli/diff.ts')).diff,
  },
  diagnose: {
    title: 'Diagnose a Build Log',
    description:
      'Why a build failed: the cause, the line of the log that says it, how certain that is, the nodes, and what to do next.',
    command: ['diagnose'],
    parameters: {
      log: { kind: 'file', about: 'Build log, or an excerpt of one', required: true, option: null },
      onnx: { kind: 'file', about: 'The model, to name the affected nodes' },
    },
    load: async () => (await import('../../../features/diagnose/node/cli/diagnose.ts')).diagnose,
  },
  check_gate: {
    title: 'Check a Build Against a Gate',
    description: 'Checks a build against the rules of a gate file (*.gate.yaml): each check with its value and limit.',
    command: ['gate'],
    parameters: {
      gate: { kind: 'gate', about: 'Gate file', required: true, option: null },
      build: { kind: 'side', about: 'Build folder, or a report of trtlens show --json', required: true },
      baseline: { kind: 'side', about: 'Build or report to compare with, instead of the one in the gate file' },
      onnx: { kind: 'file', about: 'The model, instead of the one in the gate file or build' },
      accuracy: { kind: 'file', about: 'Output of trtlens accuracy --json, for the rule accuracy' },
      optimization_profile: optimizationProfile,
    },
    load: async () => (await import('../../../features/gate/node/cli/gate.ts')).gate,
  },
  check_rules: {
    title: 'Check Precision Overrides',
    description:
      'Checks a file of precision overrides (*.trtprec): mistakes with line and column, how many nodes each rule selects, and whether TensorRT can obey it.',
    command: ['precision', 'check'],
    parameters: {
      rules: { kind: 'rules', about: 'File of rules', required: true, option: null },
      onnx: { kind: 'file', about: 'The model, instead of the one that the rules name' },
      log: { kind: 'file', about: 'Verbose log of the last build of the model' },
      layers: { kind: 'file', about: 'Layer info of the last build of the model' },
      tensorrt: { kind: 'text', about: 'TensorRT version to check for, such as 10.6, or rtx' },
    },
    load: async () => (await import('../../../features/precision/node/cli/precision.ts')).precision,
  },
  inspect: {
    title: 'Identify a File',
    description:
      'Identifies a file by its content: model, log, layer info, profile, replay, cache or engine. For an engine also its version, and whether another one can load it.',
    command: ['inspect'],
    parameters: {
      file: { kind: 'file', about: 'Any file', required: true, option: null },
      tensorrt: { kind: 'text', about: 'Version that will load the engine, such as 10.6.0 or rtx-1.7.1' },
      compute_capability: { kind: 'text', about: 'GPU that will run the engine, such as 8.9' },
    },
    load: async () => (await import('../../../features/engines/node/cli/inspect.ts')).inspect,
  },
  repair_dry_run: {
    title: 'Find a Repair of a Rejected Model',
    description:
      'Finds the smallest set of repairs with which a rejected model builds, and compares it with the original. Runs builds for minutes with TensorRT or TensorRT-RTX, so call it only if the user asks. Writes none of the user’s files.',
    builds: true,
    command: ['repair', '--dry-run'],
    parameters: {
      model: { kind: 'file', about: 'ONNX model', required: true, option: null },
      allow: { kind: 'text', about: 'Repairs that are not exact, with commas: rounding, signature, float, unproved' },
    },
    load: async () => (await import('../../../features/repair/node/cli/repair.ts')).repair,
  },
  what_if: {
    title: 'Try a Change of a Model',
    description:
      'Builds a model as it is and with one change, and compares the two. Runs two builds for minutes with TensorRT or TensorRT-RTX, so call it only if the user asks. Writes none of the user’s files.',
    builds: true,
    command: ['what-if'],
    parameters: {
      model: { kind: 'file', about: 'ONNX model', required: true, option: null },
      output: { kind: 'text', about: 'Tensor that becomes an output' },
      unmark: { kind: 'text', about: 'Output that becomes an inner tensor' },
      cut: { kind: 'text', about: 'Tensor at which the network ends and goes on with a new input' },
      add: { kind: 'text', about: 'OP:TENSOR adds Identity, Neg or Cast behind a tensor' },
      remove: { kind: 'text', about: 'Id of a node to remove' },
      rules: { kind: 'rules', about: 'Precision overrides (*.trtprec) to apply' },
      base: { kind: 'side', about: 'Folder of an existing build of the unchanged model' },
    },
    anyOf: ['output', 'unmark', 'cut', 'add', 'remove', 'rules'],
    load: async () => (await import('../../../features/trials/node/cli/whatIf.ts')).whatIfCommand,
  },
};

const offset = { type: 'integer', minimum: 0, description: 'Where to go on in a long answer, from its last line' };

/** JSON Schema of what a tool takes. */
export function inputSchema({ parameters }: AgentTool) {
  const schemaOf = ({ kind, about }: Parameter) =>
    kind === 'integer' ? { type: 'integer', minimum: 0, description: about } : { type: 'string', description: about };
  const properties = Object.entries(parameters).map(([name, parameter]) => [name, schemaOf(parameter)] as const);
  return {
    type: 'object' as const,
    properties: { ...Object.fromEntries(properties), offset },
    required: Object.keys(parameters).filter((name) => parameters[name]!.required),
    additionalProperties: false,
  };
}
