import { UserError } from '../builder/userError.ts';
import { build } from './build.ts';
import { type Command, exitCodes, Usage } from './command.ts';
import { diagnose } from './diagnose.ts';
import { fusion } from './fusion.ts';
import { inspect } from './inspect.ts';
import { matrix } from './matrix.ts';
import { precision } from './precision.ts';
import { processTerminal } from './processTerminal.ts';
import { replay } from './replay.ts';
import { report } from './report.ts';
import { setup } from './setup.ts';
import type { Terminal } from './terminal.ts';
import { version } from './version.ts';

const commands: Command[] = [fusion, inspect, build, matrix, diagnose, precision, replay, report, setup];

const help = () => `trtlens ${version}: show which ONNX nodes TensorRT fused into which layers

usage: trtlens COMMAND [options]

${commands.map(({ name, summary }) => `  ${name.padEnd(10)} ${summary}`).join('\n')}

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
  const command = commands.find((one) => one.name === name);
  if (!command) {
    terminal.note(`trtlens: unknown command '${name}'; commands are ${commands.map((one) => one.name).join(', ')}`);
    return exitCodes.cannot;
  }
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

const oneLine = (text: string): string => text.replaceAll(/\s*[\r\n]+\s*/g, ' ');

const terminal = processTerminal();
run(process.argv.slice(2), terminal).then(
  (code) => {
    // Never process.exit here: megabytes may still be on their way into a pipe.
    const { aborted, reason } = terminal.signal;
    process.exitCode = aborted ? (reason === 'SIGTERM' ? 143 : 130) : code;
  },
  (error: unknown) => {
    terminal.note(
      `trtlens: internal error; please report it with this text: ${error instanceof Error ? error.stack : String(error)}`,
    );
    process.exitCode = exitCodes.cannot;
  },
);
