import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Command } from '../../kernel/node/cli/command.ts';
import { isFolder } from '../../kernel/node/files/exists.ts';

/** What runs, one file each. A process loads only the one that it runs. */
export const commandModules = {
  accuracy: async () => (await import('../../features/accuracy/node/cli/accuracy.ts')).accuracy,
  bisect: async () => (await import('../../features/bisect/node/cli/bisect.ts')).bisect,
  build: async () => (await import('../../features/build/node/cli/build.ts')).build,
  check: async () => (await import('../../features/check/node/cli/check.ts')).check,
  compare: async () => (await import('../../features/accuracy/node/cli/compare.ts')).compare,
  completion: async () =>
    (await import('./completion.ts')).completionOf({ table: commandTable, optionsOfCommand, subcommandsOf }),
  diagnose: async () => (await import('../../features/diagnose/node/cli/diagnose.ts')).diagnose,
  diff: async () => (await import('../../features/diff/node/cli/diff.ts')).diff,
  extract: async () => (await import('../../features/surgery/node/cli/extract.ts')).extract,
  fusion: async () => (await import('../../kernel/node/cli/fusion.ts')).fusion,
  gate: async () => (await import('../../features/gate/node/cli/gate.ts')).gate,
  inspect: async () => (await import('../../features/engines/node/cli/inspect.ts')).inspect,
  lint: async () => (await import('../../features/check/node/cli/lint.ts')).lint,
  matrix: async () => (await import('../../features/build/node/cli/matrix.ts')).matrix,
  mcp: async () => (await import('./mcp.ts')).mcp,
  packages: async () => (await import('./setup.ts')).setup,
  plugin: async () => (await import('../../features/surgery/node/cli/plugin.ts')).plugin,
  precision: async () => (await import('../../features/precision/node/cli/precision.ts')).precision,
  profile: async () => (await import('../../features/build/node/cli/profile.ts')).profile,
  quantization: async () => (await import('../../features/quantization/node/cli/quantization.ts')).quantization,
  reduce: async () => (await import('../../features/trials/node/cli/reduce.ts')).reduce,
  repair: async () => (await import('../../features/repair/node/cli/repair.ts')).repair,
  replay: async () => (await import('../../features/replay/node/cli/replay.ts')).replay,
  report: async () => (await import('../../kernel/node/cli/report.ts')).report,
  run: async () => (await import('../../features/accuracy/node/cli/run.ts')).run,
  show: async () => (await import('./show.ts')).show,
  split: async () => (await import('../../features/surgery/node/cli/split.ts')).split,
  sweep: async () => (await import('../../features/accuracy/node/cli/sweep.ts')).sweep,
  'torch-hook': async () => (await import('../../features/engines/node/cli/torchHook.ts')).torchHook,
  triton: async () => (await import('../../features/engines/node/cli/triton.ts')).triton,
  'what-if': async () => (await import('../../features/trials/node/cli/whatIf.ts')).whatIfCommand,
} satisfies Record<string, () => Promise<Command>>;

export type CommandModule = keyof typeof commandModules;

export interface CommandRow {
  /** One line for the help. */
  summary: string;
  /** What the help lists under a heading; absent: it is not listed, and works all the same. */
  group?: (typeof commandGroups)[number];
  /** What a terminal shows while it runs, until it says more itself; absent: it asks, or says so at once. */
  doing?: string;
  /** The new name of a command that works for one more release. */
  replacedBy?: string;
  /** What it consists of, in the order of its help; the first runs where nothing says otherwise. */
  parts: readonly CommandModule[];
  /** The parts that a first word chooses. */
  subcommands?: Readonly<Record<string, CommandModule>>;
  /** The part that these arguments are for, with the words to put before them; undefined: the first. */
  pick?: (found: { args: readonly string[]; positionals: readonly string[] }) => Picked | Promise<Picked>;
}

type Picked = readonly [part: CommandModule, ...words: string[]] | undefined;

/** What people come for, in the order of the help. */
export const commandGroups = [
  'See what TensorRT did',
  'Build and run',
  'Fix',
  'Compare',
  'Change the network',
] as const;

/** Every command, by its name. */
export const commandTable: Readonly<Record<string, CommandRow>> = {
  show: {
    group: 'See what TensorRT did',
    summary: 'show what became of each node, from a build or its files',
    doing: 'Reading the files',
    parts: ['show'],
  },
  inspect: {
    group: 'See what TensorRT did',
    summary: 'identify a file by its content',
    doing: 'Reading the file',
    parts: ['inspect'],
  },
  quantize: {
    group: 'See what TensorRT did',
    summary: 'show scales, Q/DQ pairs and what a build made of them',
    doing: 'Reading the model',
    parts: ['quantization'],
  },
  build: {
    group: 'Build and run',
    summary: 'build an engine, or a matrix of them, and report on it',
    parts: ['build', 'matrix'],
    pick: ({ args, positionals }) =>
      positionals.some((path) => /\.(?:ya?ml|json)$/i.test(path)) || has(args, 'collect') ? ['matrix'] : undefined,
  },
  run: {
    group: 'Build and run',
    summary: 'run the engine of a build on a GPU, for outputs or a trace',
    parts: ['run', 'profile'],
    pick: ({ args }) => (has(args, 'trace') ? ['profile'] : undefined),
  },
  setup: {
    group: 'Build and run',
    summary: 'install packages, completion and what other tools need',
    parts: ['packages', 'completion', 'triton', 'torch-hook'],
    subcommands: { completion: 'completion', triton: 'triton', 'torch-hook': 'torch-hook' },
  },
  check: {
    group: 'Fix',
    summary: 'find what a version of TensorRT refuses, in models and code',
    doing: 'Reading the files',
    parts: ['check', 'lint'],
    pick: checkPart,
  },
  diagnose: {
    group: 'Fix',
    summary: 'explain why a build failed and what to do',
    doing: 'Reading the log',
    parts: ['diagnose'],
  },
  repair: {
    group: 'Fix',
    summary: 'make a rejected model build, and prove that it is the same',
    doing: 'Reading the model',
    parts: ['repair'],
  },
  accuracy: {
    group: 'Fix',
    summary: 'find nodes that lose accuracy in low precision, without a GPU',
    parts: ['accuracy', 'sweep'],
    pick: ({ args }) => (has(args, 'precisions') ? ['sweep'] : undefined),
  },
  bisect: {
    group: 'Fix',
    summary: 'find the nodes that make an engine wrong, and work around them',
    parts: ['bisect'],
  },
  precision: {
    group: 'Fix',
    summary: 'check precision rules and replays, apply them, verify a build',
    doing: 'Reading rules and model',
    parts: ['precision', 'replay'],
    subcommands: { replay: 'replay' },
  },
  diff: {
    group: 'Compare',
    summary: 'compare two builds, or the tensors that two engines computed',
    doing: 'Comparing',
    parts: ['diff', 'compare'],
    pick: async ({ positionals: [a] }) => (a !== undefined && (await holdsTensors(a)) ? ['compare'] : undefined),
  },
  gate: {
    group: 'Compare',
    summary: 'check a build against the rules of a gate file, for CI',
    doing: 'Checking the build',
    parts: ['gate'],
  },
  'what-if': {
    group: 'Change the network',
    summary: 'try a change and see what it does to fusion',
    parts: ['what-if'],
  },
  cut: {
    group: 'Change the network',
    summary: 'extract, split or reduce a model, or put a plugin into it',
    doing: 'Reading the model',
    parts: ['extract', 'split', 'reduce', 'plugin'],
    subcommands: { extract: 'extract', split: 'split', reduce: 'reduce', plugin: 'plugin' },
  },

  // Names that scripts rely on.
  fusion: { summary: 'the report of trtlens show', doing: 'Reading the build', parts: ['fusion'] },
  report: { summary: 'the page of trtlens show', doing: 'Writing the report', parts: ['report'] },
  replay: { summary: 'trtlens precision replay', doing: 'Reading the replay', parts: ['replay'] },
  mcp: { summary: 'serve tools for agents over the Model Context Protocol', parts: ['mcp'] },

  ...renamed({
    compare: 'diff',
    completion: 'setup completion',
    extract: 'cut extract',
    lint: 'check',
    matrix: 'build',
    plugin: 'cut plugin',
    profile: 'run --trace',
    quantization: 'quantize',
    reduce: 'cut reduce',
    split: 'cut split',
    sweep: 'accuracy --precisions',
    'torch-hook': 'setup torch-hook',
    triton: 'setup triton',
  }),
};

/** Commands under the names that they had. */
function renamed(names: Partial<Record<CommandModule, string>>): Record<string, CommandRow> {
  const rows = Object.entries(names).map(([name, replacedBy]): [string, CommandRow] => [
    name,
    { summary: `now trtlens ${replacedBy}`, replacedBy, parts: [name as CommandModule] },
  ]);
  return Object.fromEntries(rows);
}

const has = (args: readonly string[], option: string): boolean =>
  args.some((arg) => arg === `--${option}` || arg.startsWith(`--${option}=`));

async function checkPart({ positionals }: { positionals: readonly string[] }): Promise<Picked> {
  const [path] = positionals;
  if (path === undefined) return undefined;
  if (/\.trtprec$/i.test(path)) return ['precision', 'check'];
  if (/\.json(?:\.gz)?$/i.test(path)) return ['replay', 'check'];
  const { languageOf } = await import('../../features/check/lint/lintSource.ts');
  return languageOf(path) !== null || (await isFolder(path)) ? ['lint'] : undefined;
}

/** Whether a path has tensors and not a build: what Polygraphy and trtexec store, arrays of NumPy, or a folder of them. */
async function holdsTensors(path: string): Promise<boolean> {
  if (/\.np[yz]$/i.test(path)) return true;
  if (await isFolder(path)) return !(await beginning(join(path, 'manifest.json')));
  return /^\s*\[|polygraphy/i.test(await beginning(path));
}

/** The first characters of a file; '' if there are none. */
async function beginning(path: string): Promise<string> {
  const file = await open(path).catch(() => null);
  if (file === null) return '';
  try {
    const { bytesRead, buffer } = await file.read(new Uint8Array(512), 0, 512, 0);
    return new TextDecoder().decode(buffer.subarray(0, bytesRead));
  } catch {
    return '';
  } finally {
    await file.close();
  }
}

/** The command that some arguments of a row are for, and those arguments. */
export async function commandOf(row: CommandRow, args: string[]): Promise<{ command: Command; args: string[] }> {
  const { parts, subcommands = {}, pick } = row;
  const [first, ...rest] = args;
  if (first !== undefined && Object.hasOwn(subcommands, first))
    return { command: await commandModules[subcommands[first]!](), args: rest };
  const picked = pick && (await pick({ args, positionals: positionalsOf(args, await optionsOfCommand(row)) }));
  if (picked === undefined) return { command: await commandModules[parts[0]!](), args };
  const [part, ...words] = picked;
  return { command: await commandModules[part](), args: [...words, ...args] };
}

/** Arguments that are neither options nor their values. */
const positionalsOf = (args: string[], options: Command['options']): string[] =>
  parseArgs({ args, options, allowPositionals: true, strict: false }).positionals;

/** The help of a row, or of the part that a first word chooses: of parts with such words, the row has the first lines. */
export async function helpOf(
  name: string,
  { parts, subcommands = {} }: CommandRow,
  word: string | undefined,
): Promise<string> {
  const chosenPart = word === undefined ? undefined : subcommands[word];
  if (chosenPart !== undefined) return (await commandModules[chosenPart]()).help;
  const helps = await Promise.all(parts.map(async (part) => (await commandModules[part]()).help));
  const chosen = new Set<string>(Object.values(subcommands));
  const texts = helps.map((help, index) => (chosen.has(parts[index]!) ? `${help.split('\n\n', 1)[0]}\n` : help));
  const words = Object.keys(subcommands);
  const more = words.length === 0 ? [] : [`trtlens help ${name} ${words.join('|')} lists the options.\n`];
  return [...texts, ...more].join('\n');
}

/** The options of a row, those of all its parts. */
export async function optionsOfCommand({ parts }: CommandRow): Promise<Command['options']> {
  const all = await Promise.all(parts.map(async (part) => (await commandModules[part]()).options));
  return Object.assign({}, ...all) as Command['options'];
}

/** First words that a row takes: parts, and the subcommands of its first part. */
export async function subcommandsOf({ parts, subcommands = {} }: CommandRow): Promise<string[]> {
  const first = await commandModules[parts[0]!]();
  const own = Object.values(subcommands).includes(parts[0]!) ? [] : (first.subcommands ?? []);
  return [...own, ...Object.keys(subcommands)];
}
