import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { driverCommand } from '../core/build/driverCommand.ts';
import type { Backend, BuildFiles, CommandLine, CommandNote, EngineOptions } from '../core/build/engineOptions.ts';
import { polygraphyCommand } from '../core/build/polygraphyCommand.ts';
import { readTrtexecHelp } from '../core/build/readTrtexecHelp.ts';
import { trtexecCommand } from '../core/build/trtexecCommand.ts';
import { parseVersion } from '../core/build/trtexecFlags.ts';
import { findPython, probePython, type Python } from './findPython.ts';
import { runProcess } from './runProcess.ts';
import { setUpRtx } from './setUpRtx.ts';
import { Unusable } from './unusable.ts';

/** The programs of this machine that a build may use, as far as somebody chose them. */
export interface BuildTools {
  /** Path of `build_engine.py`. */
  driver: string;
  /** Python interpreter; left out, one is looked for. */
  python?: string | undefined;
  /** Default: `trtexec` and `polygraphy` on the PATH. */
  trtexec?: string | undefined;
  polygraphy?: string | undefined;
  /** Where TensorRT-RTX and build folders are kept. Default: `cacheFolder()`. */
  cache?: string | undefined;
  /** Asks before TensorRT-RTX is downloaded. */
  confirm: (text: string) => Promise<boolean>;
  /** Lines for people while something is set up. */
  setUpProgress?: (line: string) => void;
  signal?: AbortSignal | undefined;
}

/** How a build will run. */
export interface BuildPlan {
  backend: Backend;
  product: 'tensorrt' | 'tensorrt-rtx';
  version: string | null;
  program: string;
  environment: Record<string, string>;
  /** What its output is: the driver's events, or the log itself. */
  output: 'events' | 'log';
  /** The arguments, once it is known where the files go. `model` may be a copy of the options' own. */
  command: (options: EngineOptions, files: PlannedFiles) => CommandLine;
}

export interface PlannedFiles extends BuildFiles {
  /** Holds `driverPrecisions(options)`, where the driver is to read it. */
  precisions: string;
}

/**
 * Finds what the backend needs, sets TensorRT-RTX up where that is the one. `auto` takes trtexec, then a Python with
 * `tensorrt`, both only beside an NVIDIA GPU, and else TensorRT-RTX, which needs none.
 * @throws {Unusable} when the backend cannot be had, with what to install
 */
export async function planBuild(options: EngineOptions, tools: BuildTools): Promise<BuildPlan> {
  const backend = options.backend === undefined || options.backend === 'auto' ? await choose(tools) : options.backend;
  switch (backend) {
    case 'trtexec':
      return planTrtexec(tools);
    case 'polygraphy':
      return planPolygraphy(tools);
    case 'python': {
      const python = await findTensorrt(tools);
      return planDriver('python', tools.driver, python.path, {}, 'tensorrt', null);
    }
    case 'rtx': {
      const { confirm, setUpProgress, signal, python, cache } = tools;
      const rtx = await setUpRtx({ confirm, ...(setUpProgress && { progress: setUpProgress }), signal, python, cache });
      return planDriver('rtx', tools.driver, rtx.python, rtx.environment, 'tensorrt-rtx', rtx.version);
    }
  }
}

/** The wishes that cannot be met, in one sentence each; empty: build. */
export const refusals = (notes: CommandNote[]): string[] =>
  notes.filter(({ kind }) => kind === 'refused').map(({ message }) => message);

async function choose(tools: BuildTools): Promise<Backend> {
  if (tools.trtexec) return 'trtexec';
  if (!(await hasGpu())) return 'rtx';
  if (await onPath('trtexec')) return 'trtexec';
  const python = await probePython(tools.python ?? 'python3');
  return python?.modules.includes('tensorrt') ? 'python' : 'rtx';
}

async function hasGpu(): Promise<boolean> {
  return runProcess({ program: 'nvidia-smi', args: ['-L'], signal: AbortSignal.timeout(20_000) }).then(
    ({ code }) => code === 0,
    () => false,
  );
}

async function onPath(program: string): Promise<boolean> {
  const names = process.platform === 'win32' ? [`${program}.exe`] : [program];
  for (const folder of (process.env['PATH'] ?? '').split(delimiter).filter(Boolean))
    for (const name of names)
      if (
        await access(join(folder, name)).then(
          () => true,
          () => false,
        )
      )
        return true;
  return false;
}

function findTensorrt({ python }: BuildTools): Promise<Python> {
  return findPython({
    chosen: python,
    reject: ({ version, modules }) => {
      if (version[0] !== 3 || version[1] < 8) return 'Python 3.8 or newer is needed';
      return modules.includes('tensorrt') ? undefined : 'it has no module `tensorrt`';
    },
    advice:
      'Choose the interpreter whose environment has TensorRT (pip install tensorrt), or build with the backend `rtx`, which needs no GPU.',
  });
}

const planDriver = (
  backend: 'python' | 'rtx',
  driver: string,
  program: string,
  environment: Record<string, string>,
  product: BuildPlan['product'],
  version: string | null,
): BuildPlan => ({
  backend,
  product,
  version,
  program,
  environment,
  output: 'events',
  command: (options, { engine, precisions }) => {
    const { args, notes } = driverCommand(options, { model: options.model, engine, precisions }, { product });
    // -B: no compiled copies beside the driver, which may lie where nothing can be written.
    return { args: ['-B', driver, '--until-stdin-closes', ...args], notes };
  },
});

async function planTrtexec({ trtexec = 'trtexec' }: BuildTools): Promise<BuildPlan> {
  const lines = await output(trtexec, ['--help'], 'Is TensorRT installed, and its bin folder on the PATH?');
  const help = readTrtexecHelp(lines.join('\n'));
  const rtx = /tensorrt_rtx(\.exe)?$/.test(trtexec);
  return {
    backend: 'trtexec',
    product: rtx ? 'tensorrt-rtx' : 'tensorrt',
    version: help.version?.join('.') ?? null,
    program: trtexec,
    environment: {},
    output: 'log',
    command: (options, files) => {
      const { engine: _, ...rest } = options;
      return trtexecCommand(rest, files, { version: help.version, flags: help.flags });
    },
  };
}

async function planPolygraphy(tools: BuildTools): Promise<BuildPlan> {
  const program = tools.polygraphy ?? 'polygraphy';
  await output(program, ['--version'], 'Install it into the environment that has TensorRT: pip install polygraphy');
  const rtx = /^(1|true)$/i.test(process.env['POLYGRAPHY_USE_TENSORRT_RTX'] ?? '');
  const module = rtx ? 'tensorrt_rtx' : 'tensorrt';
  const lines = await output(
    tools.python ?? 'python3',
    ['-c', `import ${module}; print(${module}.__version__)`],
    '',
  ).catch(() => []);
  const version = parseVersion(lines.at(-1) ?? '');
  return {
    backend: 'polygraphy',
    product: rtx ? 'tensorrt-rtx' : 'tensorrt',
    version: version?.join('.') ?? null,
    program,
    environment: {},
    output: 'log',
    command: (options, files) => {
      const { engine: _, ...rest } = options;
      return polygraphyCommand(rest, files, { tensorrt: version, product: rtx ? 'tensorrt-rtx' : 'tensorrt' });
    },
  };
}

async function output(program: string, args: string[], advice: string): Promise<string[]> {
  const lines: string[] = [];
  const keep = (line: string) => lines.push(line);
  try {
    // trtexec prints its help and exits with 1 in some versions: what it printed counts.
    await runProcess({ program, args, stdout: keep, stderr: keep, signal: AbortSignal.timeout(60_000) });
  } catch (error) {
    throw new Unusable(`${(error as Error).message}. ${advice}`.trim());
  }
  return lines;
}
