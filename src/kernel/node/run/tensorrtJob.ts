import { delimiter, join, resolve } from 'node:path';
import type { Launcher } from '../../build/launcher.ts';
import { findPackages } from '../tools/ensurePackages.ts';
import { findPython } from '../tools/findPython.ts';
import { runProcess } from '../tools/runProcess.ts';
import { stopIfCancelled, UserError } from '../files/userError.ts';
import { Launch } from './launch.ts';
import { readEventLine } from '../tools/readEventLine.ts';

/** Where scripts that need TensorRT's Python module run. */
export interface TensorrtPlace {
  /** Folder with the scripts. */
  scripts: string;
  /** The interpreter; undefined: one that has the module is searched for. */
  python?: string | undefined;
  /** Runs it elsewhere, as builds do. */
  launcher?: Launcher | undefined;
  signal?: AbortSignal | undefined;
  /** Lines of TensorRT's log, warnings and worse, and whatever else the program prints. */
  output?: ((line: string) => void) | undefined;
}

/** A script of `src/driver` that takes arguments and uses TensorRT's Python module: `run_engine.py` and others. */
export interface TensorrtJob extends TensorrtPlace {
  script: string;
  /** What it imports from its own folder. */
  modules: readonly string[];
  rtx: boolean;
  /** It also needs NumPy. */
  numpy?: boolean;
  /** Folder and model whose paths a launcher knows by name. */
  folder: string;
  model: string;
  /** Its arguments; `place` gives the path that a file has where it runs. */
  args: (place: (path: string) => string) => string[];
  /** Files that it writes. */
  results: string[];
}

/** The script's `start` event, as far as it has one. */
interface Start {
  version?: string;
  gpu?: string;
}

/**
 * Runs the script and resolves to its result.
 * @throws {UserError} if there is no interpreter with TensorRT, or what the script reports
 */
export async function runTensorrt<Result>(job: TensorrtJob): Promise<{ start: Start; result: Result }> {
  const { launcher, signal, rtx } = job;
  const script = join(job.scripts, job.script);
  const launch = launcher && new Launch(launcher, job.folder, job.model, script);
  const place = (path: string) => launch?.there(path) ?? resolve(path);
  for (const name of job.modules) place(join(job.scripts, name));
  const args = ['-B', place(script), '--module', rtx ? 'tensorrt_rtx' : 'tensorrt', ...job.args(place)];
  const tool = launcher ? { command: [launcher.program ?? 'python3'], environment: {} } : await interpreter(job);
  const command = [...tool.command, ...args];
  const [program, ...rest] = launch?.buildCommand(command, tool.environment) ?? command;
  await launch?.begin(signal);
  try {
    return await run(
      {
        program: program!,
        args: rest,
        environment: launch ? {} : tool.environment,
        ...(launch && { cwd: process.cwd() }),
      },
      job,
    );
  } finally {
    await launch?.end(
      job.results.map((path) => resolve(path)),
      signal,
    );
  }
}

/** An interpreter with TensorRT's module, and NumPy if asked. @throws {UserError} if there is none */
export async function interpreterWith(job: Pick<TensorrtJob, 'rtx' | 'numpy' | 'python'>) {
  const { command, environment } = await interpreter(job);
  return { python: command[0]!, environment };
}

async function interpreter({ rtx, numpy = false, python: chosen }: Pick<TensorrtJob, 'rtx' | 'numpy' | 'python'>) {
  const environment: Record<string, string> = {};
  if (!rtx) {
    const python = await findPython({
      chosen,
      reject: ({ modules: found }) => (found.includes('tensorrt') ? undefined : 'the module `tensorrt` is missing'),
      advice: `Choose an interpreter whose environment has TensorRT${numpy ? ' and NumPy' : ''} (--python), or a launcher.`,
    });
    // As it was called: a wrapper may set what the module needs.
    return { command: [python.program, ...python.args], environment };
  }
  const runtime = await findPackages('tensorrt-rtx');
  if (runtime && !numpy) return { command: [runtime.python], environment: runtime.environment };
  const packages = numpy ? await findPackages('onnxruntime') : undefined;
  if (!runtime || !packages)
    throw new UserError(
      numpy
        ? 'TensorRT-RTX and NumPy are needed to run this engine: trtlens setup, then trtlens setup onnxruntime'
        : 'TensorRT-RTX is needed to read this engine: trtlens setup',
    );
  const paths = [
    await sitePackages(runtime.python),
    runtime.environment['PYTHONPATH'],
    packages.environment['PYTHONPATH'],
  ];
  return {
    command: [packages.python],
    environment: { PYTHONPATH: paths.filter((path) => path !== undefined).join(delimiter) },
  };
}

async function sitePackages(python: string): Promise<string | undefined> {
  const lines: string[] = [];
  const args = ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'];
  await runProcess({ program: python, args, stdout: (line) => lines.push(line) });
  return lines.at(-1);
}

interface JobLine {
  event: 'start' | 'log' | 'done' | 'error';
  version?: string;
  gpu?: string;
  message?: string;
  result?: unknown;
}

async function run<Result>(
  command: { program: string; args: string[]; environment: Record<string, string>; cwd?: string },
  { signal, script, output = () => {} }: TensorrtJob,
): Promise<{ start: Start; result: Result }> {
  let start: Start = {};
  let end: JobLine | undefined;
  let last = '';
  const other = (line: string) => {
    if (line.trim() !== '') last = line.trim();
    output(line);
  };
  const { code } = await runProcess({
    ...command,
    stdout: (line) => {
      const event = readEventLine<JobLine>(line);
      if (event === undefined) other(line);
      else if (event.event === 'start') start = event;
      else if (event.event === 'log') other(event.message ?? '');
      else end = event;
    },
    stderr: other,
    ...(signal && { signal }),
  });
  stopIfCancelled(signal);
  if (end?.event === 'done') return { start, result: end.result as Result };
  if (end?.event === 'error') throw new UserError(end.message ?? `${script} failed`);
  throw new UserError(
    `${command.program} exited with ${code ?? 'a signal'} but returned no result${last && `: ${last}`}`,
  );
}
