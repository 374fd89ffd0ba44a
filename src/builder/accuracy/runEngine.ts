import { stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Launcher } from '../../core/build/launcher.ts';
import { checkOutput } from '../files/checkOutput.ts';
import { Launch } from '../run/launch.ts';
import { type Build, filesOfBuild } from '../store/buildFolder.ts';
import { findPackages } from '../tools/ensurePackages.ts';
import { findPython } from '../tools/findPython.ts';
import { runProcess } from '../tools/runProcess.ts';
import { stopIfCancelled, UserError } from '../userError.ts';

export interface RunRequest {
  build: Build;
  /** Files with input values; none: random ones. */
  inputs: string[];
  /** The .npz to write. */
  out: string;
  /** Folder with `run_engine.py`. */
  scripts: string;
  python?: string | undefined;
  /** Runs it elsewhere, as builds do. */
  launcher?: Launcher | undefined;
  signal?: AbortSignal | undefined;
  /** Lines of TensorRT's log, warnings and worse, and whatever else the program prints. */
  output?: (line: string) => void;
}

export interface EngineRun {
  outputs: { name: string; shape: number[]; type: string }[];
  /** The least of several runs, on the GPU; null: not timed. */
  milliseconds: number | null;
  samples: number;
  gpu: string;
  version: string;
}

/** What the script imports from its own folder. */
const modules = ['job.py', 'tensor_files.py', 'image_files.py', 'cuda_memory.py'];

/**
 * Runs a build's engine through TensorRT's Python API where a GPU is, and stores its outputs.
 * @throws {UserError} if there is no engine, no interpreter with TensorRT, or the run fails
 */
export async function runEngine(request: RunRequest): Promise<EngineRun> {
  const { build, out, scripts, inputs, launcher, signal } = request;
  const engine = await engineOf(build);
  await checkOutput(out, [...filesOfBuild(build), ...inputs.map(fileOf)]);
  const rtx = build.manifest.tensorrt.product === 'tensorrt-rtx';
  const files = { script: join(scripts, 'run_engine.py'), engine, out: resolve(out) };
  const launch = launcher && new Launch(launcher, dirname(files.out), build.manifest.model.file, files.script);
  const place = (path: string) => launch?.there(path) ?? path;
  for (const name of modules) place(join(scripts, name));
  const args = [
    '-B',
    place(files.script),
    '--module',
    rtx ? 'tensorrt_rtx' : 'tensorrt',
    '--engine',
    place(engine),
    '--output',
    place(files.out),
    ...inputs.flatMap((input) => ['--input', prefixOf(input) + place(resolve(fileOf(input)))]),
  ];
  const tool = launcher
    ? { program: launcher.program ?? 'python3', environment: {} }
    : await interpreter(rtx, request.python);
  const [program, ...rest] = launch?.buildCommand([tool.program, ...args], tool.environment) ?? [tool.program, ...args];
  await launch?.begin(signal);
  try {
    return await run({ program: program!, args: rest, environment: launch ? {} : tool.environment }, request);
  } finally {
    await launch?.end([files.out], signal);
  }
}

async function engineOf({ folder, manifest }: Build): Promise<string> {
  const { engine } = manifest.files;
  const path = engine === null ? null : resolve(folder, engine);
  const isThere =
    path !== null &&
    (await stat(path).then(
      (status) => status.isFile(),
      () => false,
    ));
  if (!isThere) throw new UserError(`${folder}: this build has no engine (result: ${manifest.result}). Build it again`);
  return path;
}

/** `NAME:` of raw input values. */
const prefixOf = (input: string): string => /^[^/\\]+?:(?![/\\]{2})(?=.)/.exec(input)?.[0] ?? '';
const fileOf = (input: string): string => input.slice(prefixOf(input).length);

async function interpreter(rtx: boolean, chosen: string | undefined) {
  const environment: Record<string, string> = {};
  if (!rtx) {
    const python = await findPython({
      chosen,
      reject: ({ modules: found }) => (found.includes('tensorrt') ? undefined : 'the module `tensorrt` is missing'),
      advice: 'Choose an interpreter whose environment has TensorRT and NumPy (--python), or a launcher.',
    });
    return { program: python.path, environment };
  }
  const [runtime, numpy] = [await findPackages('tensorrt-rtx'), await findPackages('onnxruntime')];
  if (!runtime || !numpy)
    throw new UserError(
      'TensorRT-RTX and NumPy are needed to run this engine: trtlens setup, then trtlens setup onnxruntime',
    );
  const paths = [
    await sitePackages(runtime.python),
    runtime.environment['PYTHONPATH'],
    numpy.environment['PYTHONPATH'],
  ];
  return { program: numpy.python, environment: { PYTHONPATH: paths.filter((path) => path !== undefined).join(':') } };
}

async function sitePackages(python: string): Promise<string | undefined> {
  const lines: string[] = [];
  const args = ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'];
  await runProcess({ program: python, args, stdout: (line) => lines.push(line) });
  return lines.at(-1);
}

interface RunEvent {
  event: 'start' | 'log' | 'done' | 'error';
  version?: string;
  gpu?: string;
  severity?: string;
  message?: string;
  result?: Pick<EngineRun, 'outputs' | 'milliseconds' | 'samples'>;
}

async function run(
  command: { program: string; args: string[]; environment: Record<string, string> },
  { signal, output = () => {} }: RunRequest,
): Promise<EngineRun> {
  let start: RunEvent | undefined;
  let end: RunEvent | undefined;
  let last = '';
  const other = (line: string) => {
    if (line.trim() !== '') last = line.trim();
    output(line);
  };
  const { code } = await runProcess({
    ...command,
    stdout: (line) => {
      const event = readEvent(line);
      if (event === undefined) other(line);
      else if (event.event === 'start') start = event;
      else if (event.event === 'log') other(event.message ?? '');
      else end = event;
    },
    stderr: other,
    ...(signal && { signal }),
  });
  stopIfCancelled(signal);
  if (end?.event === 'done' && end.result)
    return { ...end.result, gpu: start?.gpu ?? '', version: start?.version ?? '' };
  if (end?.event === 'error') throw new UserError(end.message ?? 'the run failed');
  throw new UserError(
    `${command.program} exited with ${code ?? 'a signal'} but returned no result${last && `: ${last}`}`,
  );
}

function readEvent(line: string): RunEvent | undefined {
  if (!line.startsWith('{"event":')) return undefined;
  try {
    return JSON.parse(line) as RunEvent;
  } catch {
    return undefined;
  }
}
