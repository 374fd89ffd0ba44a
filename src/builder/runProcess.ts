import { type ChildProcess, spawn } from 'node:child_process';
import { LineSplitter } from './lineSplitter.ts';
import { Unusable } from './unusable.ts';

/** A program to run. Arguments reach it as they are: no shell is involved. */
export interface ProcessOptions {
  program: string;
  args: string[];
  cwd?: string;
  /** Added to the environment of this process; undefined removes a variable. */
  environment?: Record<string, string | undefined>;
  stdout?: (line: string) => void;
  stderr?: (line: string) => void;
  /** Asks the whole process group to end (SIGTERM); after `graceMs` it is killed. */
  signal?: AbortSignal;
  graceMs?: number;
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
 * output was read. Its stdin stays open and empty as long as this process lives.
 * @throws {Unusable} when it cannot be started
 */
export async function runProcess(options: ProcessOptions): Promise<ProcessEnd> {
  const { program, args, signal } = options;
  const env = { ...process.env, ...options.environment };
  for (const name of Object.keys(env)) if (env[name] === undefined) delete env[name];
  if (signal?.aborted) return { code: null, signal: null, cancelled: true };
  const child = spawn(program, args, {
    cwd: options.cwd,
    env,
    // The group is what a cancel ends. Windows has none: taskkill walks the tree there.
    detached: process.platform !== 'win32',
    windowsHide: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => {});
  const out = new LineSplitter(options.stdout ?? (() => {}));
  const err = new LineSplitter(options.stderr ?? (() => {}));
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));

  let timer: NodeJS.Timeout | undefined;
  const cancel = () => {
    endGroup(child, 'SIGTERM');
    timer = setTimeout(() => endGroup(child, 'SIGKILL'), options.graceMs ?? 1800);
  };
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    const [code, endSignal] = await ended(child, program);
    out.end();
    err.end();
    return { code, signal: endSignal, cancelled: signal?.aborted ?? false };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
  }
}

function ended(child: ChildProcess, program: string): Promise<[number | null, NodeJS.Signals | null]> {
  return new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const why =
        error.code === 'ENOENT' ? 'no such program' : error.code === 'EACCES' ? 'permission denied' : error.message;
      reject(new Unusable(`${program}: cannot be started: ${why}`));
    });
    child.once('exit', (code, signal) => {
      // Whatever it left behind in its group goes with it, so that nothing holds its output open.
      endGroup(child, 'SIGKILL');
      const impatience = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, 1000);
      child.once('close', () => {
        clearTimeout(impatience);
        resolve([code, signal]);
      });
    });
  });
}

function endGroup(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (child.pid === undefined) return;
  if (process.platform === 'win32') {
    // No polite way exists there that reaches a console program's children.
    if (child.exitCode === null)
      spawn('taskkill', ['/pid', String(child.pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true }).on(
        'error',
        () => child.kill(),
      );
    return;
  }
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group is gone already.
  }
}
