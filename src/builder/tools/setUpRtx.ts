import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder } from '../files/cacheFolder.ts';
import { findPython, type Python } from './findPython.ts';
import { withFolderLock } from '../files/folderLock.ts';
import { runProcess } from '../run/runProcess.ts';
import { Cancelled, stopIfCancelled, UserError } from '../userError.ts';

/** The version that is set up. Tests and recorded builds are of this one. */
export const rtxVersion = '1.7.1.116';

/** TensorRT-RTX, ready to build engines. */
export interface RtxInstall {
  folder: string;
  /** The interpreter to run the driver with. */
  python: string;
  /** What has to be in its environment. */
  environment: Record<string, string>;
  version: string;
}

export interface SetUpOptions {
  /** Asks before anything is downloaded. Not called when everything is there already. */
  confirm: (text: string) => Promise<boolean>;
  /** One line for people at a time. */
  progress?: (line: string) => void;
  signal?: AbortSignal | undefined;
  /** The interpreter to use; left out, one is looked for. */
  python?: string | undefined;
  /** Default: `cacheFolder()`. */
  cache?: string | undefined;
}

/** Consent was asked for and not given. */
export class NotConfirmed extends UserError {}

/**
 * Sets TensorRT-RTX up for the user alone, once, and says where it is. It comes as ready-made wheels through pip, with
 * the user's own pip configuration, into a virtual environment of its own or, where Python has none, a plain folder.
 * Two at a time wait for each other; a set-up that was cut off is done again from the start.
 * @throws {NotConfirmed} when `confirm` says no
 * @throws {UserError} when this machine cannot run it or the wheels cannot be had, with what to do
 */
export async function setUpRtx(options: SetUpOptions): Promise<RtxInstall> {
  const python = await findRtxPython(options.python);
  const folder = rtxFolder(python, options.cache);
  const ready = await readInstall(folder, python);
  if (ready) return ready;
  if (!(await options.confirm(consentText(folder))))
    throw new NotConfirmed('TensorRT-RTX was not set up: not confirmed');
  const waiting = () => options.progress?.('Waiting for another set-up of TensorRT-RTX to end …');
  return withFolderLock(folder, async () => (await readInstall(folder, python)) ?? install(python, folder, options), {
    waiting,
    signal: options.signal,
  });
}

/** TensorRT-RTX if it is set up already, without asking or downloading anything. */
export async function findRtx(
  options: { python?: string | undefined; cache?: string | undefined } = {},
): Promise<RtxInstall | undefined> {
  const python = await findRtxPython(options.python);
  return readInstall(rtxFolder(python, options.cache), python);
}

const rtxFolder = (python: Python, cache = cacheFolder()): string =>
  join(cache, `tensorrt-rtx-${rtxVersion}-${python.tag}-${python.platform}`);

/** What is downloaded, how much, from where, under which licence and whereto. */
export const consentText = (folder: string): string =>
  [
    `TensorRT-RTX ${rtxVersion} is needed to build engines on this machine. It needs no GPU.`,
    `It is NVIDIA's, under NVIDIA's licence (SLA for the TensorRT-RTX SDK), and is downloaded as Python wheels`,
    `(tensorrt-rtx-cu13, about 100 MB, 240 MB on disk) from your Python package index to`,
    folder,
  ].join('\n');

function findRtxPython(chosen: string | undefined): Promise<Python> {
  return findPython({
    chosen,
    reject: whyNotRtx,
    advice:
      'TensorRT-RTX has wheels for CPython 3.8 to 3.14 on Linux (x86-64, glibc 2.28 or newer) and Windows (x86-64). On Debian and Ubuntu: sudo apt-get install python3 python3-venv',
  });
}

function whyNotRtx({ version: [major, minor], tag, platform, libc }: Python): string | undefined {
  if (major !== 3 || minor < 8 || minor > 14) return 'TensorRT-RTX has wheels for Python 3.8 to 3.14';
  if (!tag.startsWith('cp')) return `${tag} is not CPython`;
  if (!/^(linux-x86_64|win-amd64)$/.test(platform)) return `no wheels for ${platform}`;
  const glibc = /^glibc (\d+)\.(\d+)/.exec(libc);
  if (platform.startsWith('linux') && !glibc) return 'no wheels for this C library (musl)';
  if (glibc && (Number(glibc[1]) < 2 || Number(glibc[2]) < 28)) return `glibc 2.28 is needed, this is ${libc}`;
  return undefined;
}

/** The marker is written last: a folder without it is half an installation. */
async function readInstall(folder: string, python: Python): Promise<RtxInstall | undefined> {
  if (!(await exists(join(folder, '.complete')))) return undefined;
  const own = join(folder, ...(process.platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python']));
  const site = join(folder, 'site');
  if (await exists(own)) return { folder, python: own, environment: {}, version: rtxVersion };
  // Neither: an environment whose base interpreter was removed. It is made again.
  if (!(await exists(site))) return undefined;
  return { folder, python: python.path, environment: { PYTHONPATH: site }, version: rtxVersion };
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

async function install(python: Python, folder: string, options: SetUpOptions): Promise<RtxInstall> {
  const { progress = () => {}, signal } = options;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  try {
    progress(
      `Setting up TensorRT-RTX ${rtxVersion} with ${python.path} (Python ${python.version.join('.')}) in ${folder}`,
    );
    const pip = await makeEnvironment(python, folder, progress, signal);
    progress('Downloading the wheels …');
    // Ready-made wheels only: nothing that is downloaded runs during the installation.
    const wheels = [`tensorrt-rtx-cu13-libs==${rtxVersion}`, `tensorrt-rtx-cu13-bindings==${rtxVersion}`];
    await run(pip, ['--no-deps', '--only-binary=:all:', ...wheels], 'the wheels of TensorRT-RTX', progress, signal);
    // The small package that only renames the binding comes as source. The driver does without it, other tools don't.
    await run(pip, ['--no-deps', `tensorrt-rtx-cu13==${rtxVersion}`], 'tensorrt-rtx-cu13', progress, signal).catch(
      (error: unknown) => {
        if (error instanceof Cancelled) throw error;
        progress(
          'Without the package tensorrt-rtx-cu13 itself: Polygraphy will not find TensorRT-RTX, building works.',
        );
      },
    );
    await writeFile(join(folder, '.complete'), `${rtxVersion}\n`);
    const installed = (await readInstall(folder, python))!;
    await checkImport(installed, signal);
    progress(`TensorRT-RTX ${rtxVersion} is ready.`);
    return installed;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** A command that installs into the folder: program and first arguments. */
interface Pip {
  program: string;
  args: string[];
  environment: Record<string, string | undefined>;
}

// pip's own configuration (index, proxy, certificates) stays; what would send files elsewhere goes.
const quietPip = {
  PYTHONHOME: undefined,
  PYTHONPATH: undefined,
  PIP_USER: undefined,
  PIP_TARGET: undefined,
  PIP_PREFIX: undefined,
  PIP_REQUIRE_VIRTUALENV: undefined,
  PIP_NO_INPUT: '1',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
};

/** The first way that works on this Python. Plain Debian has `venv` without `ensurepip`, and often no pip either. */
async function makeEnvironment(
  python: Python,
  folder: string,
  progress: (line: string) => void,
  signal: AbortSignal | undefined,
): Promise<Pip> {
  const base = [...python.args];
  const inside = join(folder, ...(process.platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python']));
  const venvPip: Pip = { program: inside, args: ['-m', 'pip', 'install', '--progress-bar=off'], environment: quietPip };
  const site = join(folder, 'site');
  const has = (name: string) => python.modules.includes(name);
  const ways: [string, boolean, string, string[], Pip][] = [
    ['venv', has('venv') && has('ensurepip'), python.program, [...base, '-m', 'venv', folder], venvPip],
    ['virtualenv', has('virtualenv'), python.program, [...base, '-m', 'virtualenv', folder], venvPip],
    ['virtualenv', true, 'virtualenv', ['-p', python.path, folder], venvPip],
    [
      'pip --target',
      has('pip'),
      python.program,
      [...base, '-m', 'pip', '--version'],
      {
        program: python.program,
        args: [...base, '-m', 'pip', 'install', '--progress-bar=off', '--target', site],
        environment: quietPip,
      },
    ],
    [
      'uv',
      true,
      'uv',
      ['--version'],
      { program: 'uv', args: ['pip', 'install', '--python', python.path, '--target', site], environment: quietPip },
    ],
  ];
  const failed: string[] = [];
  for (const [name, possible, program, args, pip] of ways) {
    stopIfCancelled(signal);
    if (!possible) continue;
    const lines: string[] = [];
    const keep = (line: string) => lines.push(line);
    try {
      const { code } = await runProcess({
        program,
        args,
        environment: quietPip,
        stdout: keep,
        stderr: keep,
        ...(signal && { signal }),
      });
      if (code === 0) {
        progress(`Private Python environment: ${name}`);
        return pip;
      }
      failed.push(`${name}: ${lines.find((line) => line.trim() !== '') ?? `exit status ${code}`}`);
    } catch {
      // No such program: the next way.
    }
  }
  const tried = failed.length > 0 ? ` (${failed.join('; ')})` : '';
  throw new UserError(
    `${python.path} can neither make a virtual environment nor run pip${tried}. Install one of them and try again. On Debian and Ubuntu: sudo apt-get install -y python3-venv`,
  );
}

async function run(
  pip: Pip,
  packages: string[],
  what: string,
  progress: (line: string) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const lines: string[] = [];
  const keep = (line: string) => {
    lines.push(line);
    if (/^(Collecting|Downloading|Installing|Successfully|  Downloading|Using cached)/.test(line))
      progress(line.trim());
  };
  const end = await runProcess({
    program: pip.program,
    args: [...pip.args, ...packages],
    environment: pip.environment,
    stdout: keep,
    stderr: keep,
    ...(signal && { signal }),
  });
  stopIfCancelled(signal);
  if (end.code === 0) return;
  const reason = lines.filter((line) => /error/i.test(line)).at(-1) ?? lines.at(-1) ?? `exit status ${end.code}`;
  throw new UserError(
    `Could not install ${what}: ${reason.trim()}. Is the network there, and does your package index have it? Behind a proxy or mirror, configure pip (pip config set global.index-url …) and try again.`,
  );
}

/** An installation that does not import (an old C library, a missing libstdc++) is worth a clear word now, not later. */
async function checkImport({ python, environment }: RtxInstall, signal: AbortSignal | undefined): Promise<void> {
  const lines: string[] = [];
  const { code } = await runProcess({
    program: python,
    args: ['-c', 'import tensorrt_rtx_bindings as binding; print(binding.__version__)'],
    environment: { ...quietPip, ...environment },
    stdout: () => {},
    stderr: (line) => lines.push(line),
    ...(signal && { signal }),
  });
  stopIfCancelled(signal);
  if (code !== 0)
    throw new UserError(`TensorRT-RTX was installed but does not load: ${lines.at(-1) ?? `exit status ${code}`}`);
}
