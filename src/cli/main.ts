#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import { UserError } from '../builder/userError.ts';
import { type Command, exitCodes, Usage } from './command.ts';
import { processTerminal } from './processTerminal.ts';
import type { Terminal } from './terminal.ts';
import { version } from './version.ts';

/** A process loads only the command that it runs. */
const commands: Record<string, () => Promise<Command>> = {
  fusion: async () => (await import('./fusion.ts')).fusion,
  inspect: async () => (await import('./inspect/inspect.ts')).inspect,
  'timing-cache': async () => (await import('./timingCache.ts')).timingCache,
  build: async () => (await import('./build/build.ts')).build,
  matrix: async () => (await import('./matrix.ts')).matrix,
  extract: async () => (await import('./surgery/extract.ts')).extract,
  'what-if': async () => (await import('./surgery/whatIf.ts')).whatIfCommand,
  reduce: async () => (await import('./surgery/reduce.ts')).reduce,
  plugin: async () => (await import('./surgery/plugin.ts')).plugin,
  split: async () => (await import('./surgery/split.ts')).split,
  quantisation: async () => (await import('./quantisation.ts')).quantisation,
  diff: async () => (await import('./diff/diff.ts')).diff,
  gate: async () => (await import('./diff/gate.ts')).gate,
  diagnose: async () => (await import('./diagnose.ts')).diagnose,
  accuracy: async () => (await import('./accuracy/accuracy.ts')).accuracy,
  ladder: async () => (await import('./accuracy/ladder.ts')).ladder,
  compare: async () => (await import('./accuracy/compare.ts')).compare,
  run: async () => (await import('./accuracy/run.ts')).run,
  profile: async () => (await import('./profile.ts')).profile,
  precision: async () => (await import('./precision/precision.ts')).precision,
  replay: async () => (await import('./replay.ts')).replay,
  report: async () => (await import('./report.ts')).report,
  triton: async () => (await import('./triton.ts')).triton,
  'torch-hook': async () => (await import('./torchHook.ts')).torchHook,
  setup: async () => (await import('./setup.ts')).setup,
};

const longest = (all: Command[]): number => Math.max(...all.map(({ name }) => name.length));

const help = (all: Command[]): string => `trtlens ${version}: show which ONNX nodes TensorRT fused into which layers

usage: trtlens COMMAND [options]

${all.map(({ name, summary }) => `  ${name.padEnd(longest(all))}  ${summary}`).join('\n')}

Run trtlens COMMAND --help for the options of a command. Every input may be gzip-compressed.
Exit status: 0 done; 1 done, but the check failed; 2 cannot be done, one line on stderr says why.
`;

/** Runs one command line and returns the exit status. */
async function run([name, ...rest]: string[], terminal: Terminal): Promise<number> {
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    await terminal.out(help(await Promise.all(Object.values(commands).map((load) => load()))));
    return name === undefined ? exitCodes.cannot : exitCodes.done;
  }
  if (name === '--version' || name === '-V') {
    await terminal.out(`${version}\n`);
    return exitCodes.done;
  }
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!load) {
    terminal.note(`trtlens: unknown command '${name}'; commands are ${Object.keys(commands).join(', ')}`);
    return exitCodes.cannot;
  }
  const command = await load();
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
