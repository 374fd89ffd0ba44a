#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import { UserError } from '../builder/userError.ts';
import { type Command, exitCodes, Usage } from './command.ts';
import { processTerminal } from './processTerminal.ts';
import type { Terminal } from './terminal.ts';
import { version } from './version.ts';

/** Every command, with one line for the help. A process loads only the one that it runs. */
const commands: Record<string, { summary: string; load: () => Promise<Command> }> = {
  fusion: {
    summary: 'show which nodes TensorRT fused into which layers',
    load: async () => (await import('./fusion.ts')).fusion,
  },
  inspect: {
    summary: 'identify a file by its content',
    load: async () => (await import('./inspect/inspect.ts')).inspect,
  },
  'timing-cache': {
    summary: 'merge timing caches, or remove entries that builds no longer use',
    load: async () => (await import('./timingCache.ts')).timingCache,
  },
  build: { summary: 'build an engine and report on it', load: async () => (await import('./build/build.ts')).build },
  matrix: {
    summary: 'build models × precisions × GPUs and versions',
    load: async () => (await import('./matrix.ts')).matrix,
  },
  extract: {
    summary: 'write a part of a model as a separate model',
    load: async () => (await import('./surgery/extract.ts')).extract,
  },
  'what-if': {
    summary: 'try a change and see what it does to fusion',
    load: async () => (await import('./surgery/whatIf.ts')).whatIfCommand,
  },
  reduce: {
    summary: 'make a failing model the smallest one that fails alike',
    load: async () => (await import('./surgery/reduce.ts')).reduce,
  },
  plugin: {
    summary: 'replace nodes by one custom node, and write a TensorRT plugin for it',
    load: async () => (await import('./surgery/plugin.ts')).plugin,
  },
  split: {
    summary: 'cut a model at tensors into models that run one after the other',
    load: async () => (await import('./surgery/split.ts')).split,
  },
  quantisation: {
    summary: 'show scales and what became of Q/DQ nodes; make Q/DQ nodes of a calibration cache or samples',
    load: async () => (await import('./quantisation.ts')).quantisation,
  },
  diff: { summary: 'compare two builds node by node', load: async () => (await import('./diff/diff.ts')).diff },
  gate: {
    summary: 'check a build against the rules of a gate file, for CI',
    load: async () => (await import('./diff/gate.ts')).gate,
  },
  diagnose: {
    summary: 'explain why a build failed and what to do',
    load: async () => (await import('./diagnose.ts')).diagnose,
  },
  accuracy: {
    summary: 'find the nodes that lose accuracy in low precision, and the smallest fix, without a GPU',
    load: async () => (await import('./accuracy/accuracy.ts')).accuracy,
  },
  ladder: {
    summary: 'compare the accuracy of FP32, FP16, BF16 and INT8 in one table, without a GPU',
    load: async () => (await import('./accuracy/ladder.ts')).ladder,
  },
  compare: {
    summary: 'compare the tensors that two engines or tools computed',
    load: async () => (await import('./accuracy/compare.ts')).compare,
  },
  run: {
    summary: 'run the engine of a build on a GPU and store its outputs',
    load: async () => (await import('./accuracy/run.ts')).run,
  },
  profile: {
    summary: 'record a trace of a build with Nsight Systems',
    load: async () => (await import('./profile.ts')).profile,
  },
  precision: {
    summary: 'check precision overrides, convert them to flags or a typed model, verify a build',
    load: async () => (await import('./precision/precision.ts')).precision,
  },
  replay: {
    summary: 'compare a tactic replay with what TensorRT offers, or with another replay',
    load: async () => (await import('./replay.ts')).replay,
  },
  report: {
    summary: 'write the views of a build as one HTML page',
    load: async () => (await import('./report.ts')).report,
  },
  triton: {
    summary: 'write or check the config.pbtxt of an engine for Triton',
    load: async () => (await import('./triton.ts')).triton,
  },
  'torch-hook': {
    summary: 'write a Python file that names PyTorch modules in the layers of TensorRT',
    load: async () => (await import('./torchHook.ts')).torchHook,
  },
  setup: {
    summary: 'install TensorRT-RTX, which builds engines without a GPU',
    load: async () => (await import('./setup.ts')).setup,
  },
};

const longest = Math.max(...Object.keys(commands).map((name) => name.length));

const help = (): string => `trtlens ${version}: show which ONNX nodes TensorRT fused into which layers

usage: trtlens COMMAND [options]

${Object.entries(commands)
  .map(([name, { summary }]) => `  ${name.padEnd(longest)}  ${summary}`)
  .join('\n')}

Run trtlens COMMAND --help for the options of a command. Every input may be gzip-compressed.
Exit status: 0 done; 1 done, but the check failed; 2 cannot be done, one line on stderr says why.
`;

/** Runs one command line and returns the exit status. */
async function run([name, ...rest]: string[], terminal: Terminal): Promise<number> {
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    await terminal.out(help());
    return name === undefined ? exitCodes.cannot : exitCodes.done;
  }
  if (name === '--version' || name === '-V') {
    await terminal.out(`${version}\n`);
    return exitCodes.done;
  }
  const found = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!found) {
    terminal.note(`trtlens: unknown command '${name}'; commands are ${Object.keys(commands).join(', ')}`);
    return exitCodes.cannot;
  }
  const command = await found.load();
  if (!command.keepsLittle) keepYoungGenerationSmall();
  const options = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest;
  if (options.includes('--help') || options.includes('-h')) {
    await terminal.out(command.help);
    return exitCodes.done;
  }
  try {
    return await command.run(rest, terminal);
  } catch (error) {
    if (error instanceof Usage)
      terminal.note(`trtlens ${name}: ${oneLine(error.message)} (see trtlens ${name} --help)`);
    else if (error instanceof UserError) terminal.note(`trtlens ${name}: ${oneLine(error.message)}`);
    else throw error;
    return exitCodes.cannot;
  }
}

/**
 * Stops V8 from doubling its young generation, which it does, up to 128 MB, whenever much of it survives. A command keeps
 * most of what it reads until it ends, so a larger one saves no work: large builds take 100 MB less and no more time.
 */
function keepYoungGenerationSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Exit status of a process that a signal ended. */
const signalCodes: Record<string, number> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

const oneLine = (text: string): string => text.replaceAll(/\s*[\r\n]+\s*/g, ' ');

const terminal = processTerminal();
run(process.argv.slice(2), terminal).then(
  (code) => {
    // Never process.exit here: megabytes may still be on their way into a pipe.
    const { aborted, reason } = terminal.signal;
    process.exitCode = aborted ? (signalCodes[String(reason)] ?? 130) : code;
  },
  (error: unknown) => {
    process.exitCode = exitCodes.cannot;
    if (error instanceof UserError) terminal.note(`trtlens: ${oneLine(error.message)}`);
    else
      terminal.note(
        `trtlens: internal error; please report it with this text: ${error instanceof Error ? error.stack : String(error)}`,
      );
  },
);
