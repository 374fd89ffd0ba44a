import type { Launcher } from '../../build/launcher.ts';
import type { TrtexecHelp } from '../../build/trtexecFlags.ts';
import { driverCommand, type Polygraphy, polygraphyCommand, trtexecCommand } from '../../build/buildCommand.ts';
import type { Backend, CommandLine, CommandNote, EngineOptions } from '../../build/buildOptions.ts';
import { Answers } from '../tools/answers.ts';
import { askPolygraphy, findPolygraphy } from '../tools/findPolygraphy.ts';
import { findInstalled } from '../tools/findProgram.ts';
import { findPython, type Python } from '../tools/findPython.ts';
import { launchedQuestion } from './launch.ts';
import type { BuildFilePaths } from './internal/buildFilePaths.ts';
import { helpOfTrtexec, printed, probeTrtexec } from '../tools/probeTool.ts';
import { runProcess } from '../tools/runProcess.ts';
import { ensurePackages } from '../tools/ensurePackages.ts';
import { isFile } from '../files/exists.ts';
import { UserError } from '../files/userError.ts';

/** The programs of this machine that a build may use, as far as someone chose them. */
export interface BuildTools {
  /** Path of `build_engine.py`. */
  driver: string;
  /** Python interpreter; if omitted, one is searched for. */
  python?: string | undefined;
  /** Default: `trtexec` and `polygraphy` on the PATH. */
  trtexec?: string | undefined;
  polygraphy?: string | undefined;
  /** Runs the command elsewhere; the program is then the launcher's. */
  launcher?: Launcher | undefined;
  /** Where TensorRT-RTX and build folders are kept. Default: `cacheFolder()`. */
  cache?: string | undefined;
  /** Asks before TensorRT-RTX is downloaded. */
  confirm: (text: string) => Promise<boolean>;
  /** Lines for the user while something is set up. */
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
  command: (options: EngineOptions, files: BuildFilePaths) => CommandLine;
}

/**
 * Finds what the backend needs, sets TensorRT-RTX up where that is the one. `auto` takes trtexec, then a Python with
 * `tensorrt`, both only next to an NVIDIA GPU, and else TensorRT-RTX, which needs none.
 * @throws {UserError} if the backend is not available, with what to install
 */
export async function planBuild(options: EngineOptions, tools: BuildTools): Promise<BuildPlan> {
  if (tools.launcher) return planLaunched(options, tools, tools.launcher);
  const backend = options.backend === undefined || options.backend === 'auto' ? await choose(tools) : options.backend;
  switch (backend) {
    case 'trtexec':
      return planTrtexec(tools);
    case 'polygraphy':
      return planPolygraphy(options, tools);
    case 'python': {
      const python = await findTensorrt(tools);
      return planDriver('python', tools.driver, python.path, {}, 'tensorrt', null);
    }
    case 'rtx': {
      const { confirm, setUpProgress, signal, python, cache } = tools;
      const setUp = { confirm, ...(setUpProgress && { progress: setUpProgress }), signal, python, cache };
      const rtx = await ensurePackages('tensorrt-rtx', setUp);
      return planDriver('rtx', tools.driver, rtx.python, rtx.environment, 'tensorrt-rtx', rtx.version);
    }
  }
}

/** What would build, and what it would refuse. */
export interface BackendCapability {
  backend: Backend;
  product: BuildPlan['product'];
  version: string | null;
  /** The requests among these that cannot be met, one sentence each; empty: it builds. */
  refuses: (options: Partial<EngineOptions>) => string[];
}

/**
 * Finds what would build a model, without setting TensorRT-RTX up.
 * @throws {UserError} if the backend is not available, with what to install
 */
export async function backendCapabilityOf(options: EngineOptions, tools: BuildTools): Promise<BackendCapability> {
  const chosen = options.backend ?? 'auto';
  const backend = chosen === 'auto' && !tools.launcher ? await choose(tools) : chosen;
  const plan =
    backend === 'rtx' && !tools.launcher
      ? planDriver('rtx', tools.driver, '', {}, 'tensorrt-rtx', null)
      : await planBuild({ ...options, backend }, tools);
  const nowhere: BuildFilePaths = { engine: '', layers: '', profile: '', times: '', precisions: '' };
  return {
    backend: plan.backend,
    product: plan.product,
    version: plan.version,
    refuses: (more) => refusals(plan.command({ ...options, ...more }, nowhere).notes),
  };
}

/** The requests that cannot be met, in one sentence each; empty: build. */
export const refusals = (notes: CommandNote[]): string[] =>
  notes.filter(({ kind }) => kind === 'refused').map(({ message }) => message);

async function choose(tools: BuildTools): Promise<Backend> {
  if (tools.trtexec) return 'trtexec';
  if (!(await hasGpu())) return 'rtx';
  if (await findInstalled('trtexec')) return 'trtexec';
  return findTensorrt(tools).then(
    () => 'python',
    (error: unknown) => {
      if (error instanceof UserError) return 'rtx';
      throw error;
    },
  );
}

async function hasGpu(): Promise<boolean> {
  // Jetson, which has no nvidia-smi before JetPack 6.
  if (await isFile('/etc/nv_tegra_release')) return true;
  return runProcess({ program: 'nvidia-smi', args: ['-L'], signal: AbortSignal.timeout(20_000) }).then(
    ({ code }) => code === 0,
    () => false,
  );
}

function findTensorrt({ python }: BuildTools): Promise<Python> {
  return findPython({
    chosen: python,
    reject: ({ version, modules }) => {
      if (version[0] !== 3 || version[1] < 8) return 'Python 3.8 or later is required';
      return modules.includes('tensorrt') ? undefined : 'the module `tensorrt` is missing';
    },
    advice:
      'Choose an interpreter whose environment has TensorRT (pip install tensorrt), or build with the back-end `rtx`, which needs no GPU.',
  });
}

/** The driver's argument that only a caller can use who keeps its input open. */
const untilCallerEnds = '--until-stdin-closes';

/** The same command for users to run: no one keeps the input of the program open then. */
export const runByHand = (command: readonly string[]): string[] => command.filter((arg) => arg !== untilCallerEnds);

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
  command: (options, { engine, precisions, choices, driver: there = driver }) => {
    const { args, notes } = driverCommand(options, { model: options.model, engine, precisions, choices }, { product });
    // -B: no compiled copies next to the driver, which may be where nothing can be written.
    return { args: ['-B', there, untilCallerEnds, ...args], notes };
  },
});

async function planTrtexec({ trtexec = 'trtexec', signal }: BuildTools): Promise<BuildPlan> {
  const { program, product, help } = await probeTrtexec(trtexec, signal);
  return trtexecPlan(program, product, help);
}

/** The engine goes to the build's folder first. */
function withoutEngine(options: EngineOptions): EngineOptions {
  const { engine: _, ...rest } = options;
  return rest;
}

const trtexecPlan = (program: string, product: BuildPlan['product'], help: TrtexecHelp): BuildPlan => ({
  backend: 'trtexec',
  product,
  version: help.version?.join('.') ?? null,
  program,
  environment: {},
  output: 'log',
  command: (options, files) => trtexecCommand(withoutEngine(options), files, help),
});

async function planPolygraphy({ environment }: EngineOptions, tools: BuildTools): Promise<BuildPlan> {
  const { program, ...tool } = await findPolygraphy({ ...tools, environment });
  return polygraphyPlan(program, tool);
}

const polygraphyPlan = (program: string, tool: Polygraphy): BuildPlan => ({
  backend: 'polygraphy',
  product: tool.product,
  version: tool.tensorrt?.join('.') ?? null,
  program,
  environment: {},
  output: 'log',
  command: (options, files) => polygraphyCommand(withoutEngine(options), files, tool),
});

const askedThere = new Answers<TrtexecHelp>();

/** The program is there, so it is asked there; `auto` is trtexec. */
async function planLaunched(options: EngineOptions, tools: BuildTools, launcher: Launcher): Promise<BuildPlan> {
  const ask = (command: string[]) => {
    const [first = '', ...rest] = launchedQuestion(launcher, options.model, tools.driver, command, options.environment);
    return printed(first, rest, tools.signal, { cwd: process.cwd() });
  };
  const name = (otherwise: string) => launcher.program ?? otherwise;
  switch (options.backend) {
    case 'python':
      return planDriver('python', tools.driver, name('python3'), {}, 'tensorrt', null);
    case 'rtx':
      return planDriver('rtx', tools.driver, name('python3'), {}, 'tensorrt-rtx', null);
    case 'polygraphy': {
      const program = name('polygraphy');
      const tool = await askPolygraphy({
        name: `${program} (through the launcher)`,
        advice: '',
        request: options.environment?.['POLYGRAPHY_USE_TENSORRT_RTX'],
        polygraphy: (args) => ask([program, ...args]),
        // It may start in the folder that the user stands in, which `''` in its path means.
        python: ([flag = '', code = '']) =>
          ask(['python3', flag, `import sys; sys.path[:] = filter(None, sys.path); ${code}`]),
      });
      return polygraphyPlan(program, tool);
    }
    default: {
      const program = name('trtexec');
      const key = JSON.stringify([launcher, program, options.environment]);
      const asking = () => helpOfTrtexec(`${program} (through the launcher)`, (args) => ask([program, ...args]));
      const help = await askedThere.get(key, asking, tools.signal);
      return trtexecPlan(program, program.endsWith('tensorrt_rtx') ? 'tensorrt-rtx' : 'tensorrt', help);
    }
  }
}
