import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { findProgram, isBatchFile, windowsProgram } from './findProgram.ts';
import { LineSplitter } from '../files/lineSplitter.ts';
import { removeTree } from '../files/persist.ts';
import { safeEnvironment } from './internal/safeEnvironment.ts';
import { supervisorProgram } from './internal/supervisor.ts';
import { UserError } from '../files/userError.ts';

/** A program to run. Arguments reach it as they are: no shell is involved. */
export interface ProcessOptions {
  program: string;
  args: string[];
  /**
   * Where it starts. Default: an empty folder of its own, so that no interpreter runs files of the folder that the user
   * stands in: paths among the arguments and in a request are absolute. Only programs whose arguments are the user's own
   * words start there.
   */
  cwd?: string;
  /** Added to the environment of this process; undefined removes a variable. */
  environment?: Record<string, string | undefined>;
  /** Written to its stdin, which stays open afterwards. */
  input?: string;
  /** Called once, with a function that writes more to its stdin. */
  started?: (write: (text: string) => void) => void;
  stdout?: (line: string) => void;
  stderr?: (line: string) => void;
  /** Asks the whole process group to end (SIGTERM); after `graceMs` it is killed, with what left the group. */
  signal?: AbortSignal;
  graceMs?: number;
  /** Files that no one will finish when it is cancelled, or this process killed before the program ends: they are removed then. */
  leftovers?: string[];
}

export interface ProcessEnd {
  /** null: ended by a signal. */
  code: number | null;
  signal: NodeJS.Signals | null;
  /** It was asked to end before it did. */
  cancelled: boolean;
}

/**
 * Runs a program in a process group of its own and resolves when it and everything that it started are gone and its
 * output was read. Its stdin stays open as long as this process lives. When this process ends before it, be it
 * by SIGKILL, the program ends within two seconds, too: a supervisor sees to that.
 * @throws {UserError} if it cannot be started
 */
export async function runProcess(options: ProcessOptions): Promise<ProcessEnd> {
  if (options.signal?.aborted) return { code: null, signal: null, cancelled: true };
  if (options.cwd !== undefined) return runIn(options.cwd, options);
  const folder = await mkdtemp(join(tmpdir(), 'tensorrt-lens-run-'));
  const leftovers = [...(options.leftovers ?? []), folder];
  try {
    // Which Python a folder wants pyenv to run is the user's choice.
    const environment = { PYENV_DIR: process.env['PYENV_DIR'] || process.cwd(), ...options.environment };
    return await runIn(folder, { ...options, environment, leftovers });
  } finally {
    await removeTree(folder);
  }
}

async function runIn(cwd: string, options: ProcessOptions): Promise<ProcessEnd> {
  const { program, args, signal, input } = options;
  const environment = safeEnvironment(withChanges(process.env, options.environment ?? {}), process.cwd());
  // The system would also look where we stand, on Windows even first: a downloaded folder may contain a `py.exe`.
  const found = /[\\/]/.test(program) ? resolve(program) : await findProgram(program, environment['PATH']);
  if (found === undefined) throw notStarted(program, { code: 'ENOENT', message: '' });
  if (process.platform === 'win32' && isBatchFile(found)) throw notStarted(program, { message: onlyByShell(found) });
  const child = spawn(process.execPath, ['-e', supervisorProgram, 'tensorrt-lens-supervisor'], {
    // In VS Code this process is Electron, which is Node where it is asked to be.
    env: { ...withoutNodeOptions(), ELECTRON_RUN_AS_NODE: '1' },
    // A signal to our own group is not for it: it has to see the program's end.
    detached: process.platform !== 'win32',
    windowsHide: true,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  });
  const mark = `TENSORRT_LENS_RUN=${randomUUID()}`;
  const [name, value] = mark.split('=') as [string, string];
  const taskkill = windowsProgram('taskkill.exe');
  const task = { program: found, args, cwd, environment: { ...environment, [name]: value }, input, mark, taskkill };
  child.stdin.on('error', () => {});
  child.stdin.write(`${JSON.stringify({ ...task, leftovers: options.leftovers ?? [] })}\n`);
  options.started?.((text) => child.stdin.write(`input ${JSON.stringify(text)}\n`));
  const out = new LineSplitter(options.stdout ?? (() => {}));
  const err = new LineSplitter(options.stderr ?? (() => {}));
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));

  const cancel = () => child.stdin.write(`cancel ${options.graceMs ?? 1000}\n`);
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    const answer = await ended(child, program);
    out.end();
    err.end();
    if ('error' in answer) throw notStarted(program, answer.error);
    return { ...answer, cancelled: signal?.aborted ?? false };
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}

/** What the supervisor says of the program's end. */
type Answer = { code: number | null; signal: NodeJS.Signals | null } | { error: { code?: string; message: string } };

function ended(child: ChildProcess, program: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let pid: number | undefined;
    let answer: Answer | undefined;
    createInterface({ input: child.stdio[3] as Readable }).on('line', (line) => {
      const said = JSON.parse(line) as Answer | { pid: number };
      if ('pid' in said) pid = said.pid;
      else answer = said;
    });
    child.once('error', (error: NodeJS.ErrnoException) => reject(notStarted(program, error)));
    child.once('exit', (code, signal) => {
      const impatience = setTimeout(() => {
        for (const stream of child.stdio) stream?.destroy();
      }, 1000);
      child.once('close', () => {
        clearTimeout(impatience);
        resolve(answer ?? { code, signal });
      });
      // Someone killed the supervisor, so this process must do it.
      if (signal !== null && pid !== undefined) endGroup(pid);
    });
  });
}

const onlyByShell = (found: string): string =>
  `${found} is a batch file, which only a shell can run. Name the .exe that it starts`;

function notStarted(program: string, { code, message }: { code?: string | undefined; message: string }): UserError {
  const why = code === 'ENOENT' ? 'program not found' : code === 'EACCES' ? 'permission denied' : message;
  return new UserError(`${program} cannot be started: ${why}`);
}

/**
 * An environment with changes; undefined removes a variable. Windows' names have no case: `PATH` there replaces `Path`,
 * and the result has the PATH under this name.
 */
export function withChanges(
  environment: NodeJS.ProcessEnv,
  changes: Record<string, string | undefined>,
  platform: NodeJS.Platform = process.platform,
): NodeJS.ProcessEnv {
  const nameOf = (name: string) => (platform === 'win32' ? name.toUpperCase() : name);
  const all = new Map<string, [string, string | undefined]>();
  for (const [name, value] of [...Object.entries(environment), ...Object.entries(changes)])
    all.set(nameOf(name), [nameOf(name) === 'PATH' ? 'PATH' : name, value]);
  return Object.fromEntries([...all.values()].filter(([, value]) => value !== undefined));
}

/** What tells Node to load or wait for something is meant for other programs. */
function withoutNodeOptions(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, VSCODE_INSPECTOR_OPTIONS: __, ...rest } = process.env;
  return rest;
}

function endGroup(pid: number): void {
  if (process.platform === 'win32') {
    spawn(windowsProgram('taskkill.exe'), ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true }).on(
      'error',
      () => {},
    );
    return;
  }
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group is gone already.
  }
}
