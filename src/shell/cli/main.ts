#!/usr/bin/env node
import { foldLines } from '../../kernel/base/problem.ts';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { UserError } from '../../kernel/node/files/userError.ts';
import { exitCodes, Usage } from '../../kernel/node/cli/command.ts';
import { commandGroups, commandOf, type CommandRow, commandTable, helpOf } from './commandTable.ts';
import { exitLine, helpTopics } from './helpTopics.ts';
import { processTerminal } from '../../kernel/node/cli/processTerminal.ts';
import type { Terminal } from '../../kernel/node/cli/terminal.ts';
import { version } from '../../kernel/node/cli/version.ts';
import { registerSteps } from '../../registry.ts';

registerSteps();

const listed = Object.entries(commandTable).filter(([, { group }]) => group !== undefined);

const longest = Math.max(...listed.map(([name]) => name.length));

const groupHelp = (group: string): string => {
  const rows = listed.filter(([, row]) => row.group === group);
  return [`${group}:`, ...rows.map(([name, { summary }]) => `  ${name.padEnd(longest)}  ${summary}`)].join('\n');
};

const help = (): string => `${commandGroups.map(groupHelp).join('\n')}

usage: trtlens COMMAND [options]; trtlens help COMMAND lists the options
       trtlens FILE|FOLDER shows a build, a log or what a file is
-y, --yes agrees to any download in advance
topics: trtlens help ${Object.keys(helpTopics).join(' | ')}
${exitLine}
`;

/** Runs one command line and returns the exit status. */
async function run([name, ...rest]: string[], terminal: Terminal): Promise<number> {
  if (name === undefined) {
    await terminal.out(help());
    return exitCodes.cannot;
  }
  if (name === 'help' || name === '--help' || name === '-h') {
    return showHelp(rest, terminal);
  }
  if (name === 'version' || name === '--version' || name === '-V') {
    await terminal.out(`${version}\n`);
    return exitCodes.done;
  }
  if (!Object.hasOwn(commandTable, name)) {
    if (existsSync(name)) return run(['show', name, ...rest], terminal);
    terminal.note(await unknownCommand(name));
    return exitCodes.cannot;
  }
  const row = commandTable[name]!;
  if (row.replacedBy !== undefined && !rest.includes('--json'))
    terminal.note(
      `note: 'trtlens ${name}' is now 'trtlens ${row.replacedBy}'; the old name works in this release only`,
    );
  if (asksForHelp(rest)) {
    await terminal.out(await helpOf(name, row, rest[0]));
    return exitCodes.done;
  }
  return runRow(name, row, rest, terminal);
}

async function runRow(name: string, row: CommandRow, rest: string[], terminal: Terminal): Promise<number> {
  try {
    const { command, args } = await commandOf(row, rest);
    if (!command.keepsLittle && inputBytes(args) < largeInput) keepYoungGenerationSmall();
    if (row.doing !== undefined) terminal.status(`${row.doing}…`);
    return await command.run(args, terminal);
  } catch (error) {
    if (error instanceof Usage)
      terminal.note(`trtlens ${name}: ${foldLines(error.message)} (see trtlens ${name} --help)`);
    else if (error instanceof UserError) terminal.note(`trtlens ${name}: ${foldLines(error.message)}`);
    else throw error;
    return exitCodes.cannot;
  } finally {
    terminal.status(null);
  }
}

/** `trtlens help`, with a topic or a command. One name can be both. */
async function showHelp([topic, ...words]: string[], terminal: Terminal): Promise<number> {
  if (topic === undefined || topic.startsWith('-')) {
    await terminal.out(help());
    return exitCodes.done;
  }
  if (!Object.hasOwn(helpTopics, topic)) return run([topic, ...words, '--help'], terminal);
  await terminal.out(helpTopics[topic]!.text);
  if (!Object.hasOwn(commandTable, topic)) return exitCodes.done;
  await terminal.out('\n');
  return run([topic, '--help'], terminal);
}

function asksForHelp(args: readonly string[]): boolean {
  const options = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  return options.includes('--help') || options.includes('-h');
}

async function unknownCommand(name: string): Promise<string> {
  const { closestWords } = await import('../../kernel/base/text.ts');
  const names = listed.map(([known]) => known);
  const [near] = closestWords(name, names, 1);
  const others = near === undefined ? `commands are ${names.join(', ')}` : `did you mean '${near}'?`;
  return `trtlens: unknown command '${name}'; ${others}`;
}

/**
 * From so many bytes of text on, what survives is copied again and again through a small young generation: a diff of two
 * reports of 59 MB takes a third less time without, and no more memory.
 */
const largeInput = 32 << 20;

/** Bytes of the files, and of what build folders contain to read, that the arguments name. */
function inputBytes(args: readonly string[]): number {
  const paths = args.map((argument) => argument.slice(argument.startsWith('-') ? argument.indexOf('=') + 1 : 0));
  const read = paths.flatMap((path) => [
    path,
    ...['build.log', 'layers.json', 'profile.json'].map((name) => join(path, name)),
  ]);
  return read.reduce((sum, path) => sum + fileBytes(path), 0);
}

function fileBytes(path: string): number {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.isFile() ? found.size : 0;
  } catch {
    return 0;
  }
}

/**
 * Stops V8 from doubling its young generation, which it does, up to 128 MB, whenever much of it survives. A command keeps
 * most of what it reads until it ends, so a larger one saves no work where the input is not large.
 */
function keepYoungGenerationSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Exit status of a process that a signal ended. */
const signalCodes: Record<string, number> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

const terminal = processTerminal();
run(process.argv.slice(2), terminal).then(
  (code) => {
    // Never process.exit here: megabytes may still be on their way into a pipe.
    const { aborted, reason } = terminal.signal;
    process.exitCode = aborted ? (signalCodes[String(reason)] ?? 130) : code;
  },
  (error: unknown) => {
    process.exitCode = exitCodes.cannot;
    if (error instanceof UserError) terminal.note(`trtlens: ${foldLines(error.message)}`);
    else
      terminal.note(
        `trtlens: internal error; please report it with this text: ${error instanceof Error ? error.stack : String(error)}`,
      );
  },
);
