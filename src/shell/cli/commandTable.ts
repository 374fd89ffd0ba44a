import type { Command } from '../../kernel/node/cli/command.ts';

/** What people come for, in the order of the help. */
export const commandGroups = [
  'See what TensorRT did',
  'Build and run',
  'Fix',
  'Compare',
  'Change the network',
  'Connect',
] as const;

interface CommandRow {
  /** Where the help lists it. */
  group: (typeof commandGroups)[number];
  /** One line for the help. */
  summary: string;
  /** What a terminal shows while it runs, until it says more itself; absent: it asks, or says so at once. */
  doing?: string;
  load: () => Promise<Command>;
}

/** Every command. A process loads only the one that it runs. */
export const commandTable: Record<string, CommandRow> = {
  fusion: {
    group: 'See what TensorRT did',
    summary: 'show which nodes TensorRT fused into which layers',
    doing: 'Reading the build',
    load: async () => (await import('../../kernel/node/cli/fusion.ts')).fusion,
  },
  inspect: {
    group: 'See what TensorRT did',
    summary: 'identify a file by its content',
    doing: 'Reading the file',
    load: async () => (await import('../../features/engines/node/cli/inspect.ts')).inspect,
  },
  build: {
    group: 'Build and run',
    summary: 'build an engine and report on it',
    load: async () => (await import('../../features/build/node/cli/build.ts')).build,
  },
  matrix: {
    group: 'Build and run',
    summary: 'build models × precisions × GPUs and versions',
    load: async () => (await import('../../features/build/node/cli/matrix.ts')).matrix,
  },
  extract: {
    group: 'Change the network',
    summary: 'write a part of a model as a separate model',
    doing: 'Reading the model',
    load: async () => (await import('../../features/surgery/node/cli/extract.ts')).extract,
  },
  'what-if': {
    group: 'Change the network',
    summary: 'try a change and see what it does to fusion',
    load: async () => (await import('../../features/trials/node/cli/whatIf.ts')).whatIfCommand,
  },
  reduce: {
    group: 'Change the network',
    summary: 'shrink a failing model to the smallest one that still fails',
    load: async () => (await import('../../features/trials/node/cli/reduce.ts')).reduce,
  },
  repair: {
    group: 'Change the network',
    summary: 'rewrite a rejected model so that it builds, and compare outputs',
    doing: 'Reading the model',
    load: async () => (await import('../../features/repair/node/cli/repair.ts')).repair,
  },
  plugin: {
    group: 'Change the network',
    summary: 'replace nodes by a custom node, and write its plugin',
    doing: 'Reading the model',
    load: async () => (await import('../../features/surgery/node/cli/plugin.ts')).plugin,
  },
  split: {
    group: 'Change the network',
    summary: 'cut a model at tensors into models that run one after the other',
    doing: 'Reading the model',
    load: async () => (await import('../../features/surgery/node/cli/split.ts')).split,
  },
  quantization: {
    group: 'See what TensorRT did',
    summary: 'show scales and Q/DQ fusions; make a Q/DQ model',
    doing: 'Reading the model',
    load: async () => (await import('../../features/quantization/node/cli/quantization.ts')).quantization,
  },
  diff: {
    group: 'Compare',
    summary: 'compare two builds node by node',
    doing: 'Comparing the builds',
    load: async () => (await import('../../features/diff/node/cli/diff.ts')).diff,
  },
  gate: {
    group: 'Compare',
    summary: 'check a build against the rules of a gate file, for CI',
    doing: 'Checking the build',
    load: async () => (await import('../../features/gate/node/cli/gate.ts')).gate,
  },
  check: {
    group: 'See what TensorRT did',
    summary: 'say what a version of TensorRT will refuse, before a build',
    doing: 'Reading the model',
    load: async () => (await import('../../features/check/node/cli/check.ts')).check,
  },
  diagnose: {
    group: 'Fix',
    summary: 'explain why a build failed and what to do',
    doing: 'Reading the log',
    load: async () => (await import('../../features/diagnose/node/cli/diagnose.ts')).diagnose,
  },
  lint: {
    group: 'Fix',
    summary: 'find what a version of TensorRT does not have in your code',
    load: async () => (await import('../../features/check/node/cli/lint.ts')).lint,
  },
  accuracy: {
    group: 'Fix',
    summary: 'find nodes that lose accuracy in low precision, without a GPU',
    load: async () => (await import('../../features/accuracy/node/cli/accuracy.ts')).accuracy,
  },
  bisect: {
    group: 'Fix',
    summary: 'find the nodes that make an engine wrong, and work around them',
    load: async () => (await import('../../features/bisect/node/cli/bisect.ts')).bisect,
  },
  sweep: {
    group: 'Fix',
    summary: 'compare the accuracy of FP32, FP16, BF16 and INT8',
    load: async () => (await import('../../features/accuracy/node/cli/sweep.ts')).sweep,
  },
  compare: {
    group: 'Compare',
    summary: 'compare the tensors that two engines or tools computed',
    doing: 'Comparing the tensors',
    load: async () => (await import('../../features/accuracy/node/cli/compare.ts')).compare,
  },
  run: {
    group: 'Build and run',
    summary: 'run the engine of a build on a GPU and store its outputs',
    load: async () => (await import('../../features/accuracy/node/cli/run.ts')).run,
  },
  profile: {
    group: 'See what TensorRT did',
    summary: 'record a trace of a build with Nsight Systems',
    load: async () => (await import('../../features/build/node/cli/profile.ts')).profile,
  },
  precision: {
    group: 'Fix',
    summary: 'check precision rules, apply them, verify a build',
    doing: 'Reading rules and model',
    load: async () => (await import('../../features/precision/node/cli/precision.ts')).precision,
  },
  replay: {
    group: 'Fix',
    summary: 'compare a tactic replay with what TensorRT offers',
    doing: 'Reading the replay',
    load: async () => (await import('../../features/replay/node/cli/replay.ts')).replay,
  },
  report: {
    group: 'See what TensorRT did',
    summary: 'write the views of a build as one HTML page',
    doing: 'Writing the report',
    load: async () => (await import('../../kernel/node/cli/report.ts')).report,
  },
  triton: {
    group: 'Connect',
    summary: 'write or check the config.pbtxt of an engine for Triton',
    doing: 'Reading the build',
    load: async () => (await import('../../features/engines/node/cli/triton.ts')).triton,
  },
  'torch-hook': {
    group: 'Connect',
    summary: 'name PyTorch modules in the layers of TensorRT',
    load: async () => (await import('../../features/engines/node/cli/torchHook.ts')).torchHook,
  },
  mcp: {
    group: 'Connect',
    summary: 'serve tools for agents over the Model Context Protocol',
    load: async () => (await import('./mcp.ts')).mcp,
  },
  setup: {
    group: 'Build and run',
    summary: 'install TensorRT-RTX, which builds engines without a GPU',
    load: async () => (await import('./setup.ts')).setup,
  },
  completion: {
    group: 'Connect',
    summary: 'print the completion of commands, options and files for a shell',
    load: async () => (await import('./completion.ts')).completionOf(commandTable),
  },
};
