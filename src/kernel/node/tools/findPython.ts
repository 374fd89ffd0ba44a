import { runProcess } from './runProcess.ts';
import { UserError } from '../files/userError.ts';

/** A Python interpreter and what it can do. */
export interface Python {
  /** What to run: a program and its first arguments (`py -3` on Windows). */
  program: string;
  args: string[];
  /** Its own path. */
  path: string;
  version: [number, number, number];
  /** `cp311`, or another implementation's name. */
  tag: string;
  /** `linux-x86_64`, `win-amd64`, `macosx-…`. */
  platform: string;
  /** `glibc 2.36`; empty elsewhere. */
  libc: string;
  /** Importable modules among venv, ensurepip, pip, virtualenv, tensorrt, tensorrt_rtx, polygraphy, numpy, onnx, onnxruntime, modelopt. */
  modules: string[];
}

const probe = `
import importlib.util, json, platform, sys, sysconfig
found = lambda name: importlib.util.find_spec(name) is not None
print(json.dumps({
    "path": sys.executable, "version": list(sys.version_info[:3]),
    "tag": ("cp" if platform.python_implementation() == "CPython" else platform.python_implementation()) + "%d%d" % sys.version_info[:2],
    "platform": sysconfig.get_platform(), "libc": " ".join(platform.libc_ver()).strip(),
    "modules": [name for name in ("venv", "ensurepip", "pip", "virtualenv", "tensorrt", "tensorrt_rtx", "polygraphy", "numpy", "onnx", "onnxruntime", "modelopt") if found(name)],
}))`;

/**
 * Asks one interpreter what it is; undefined if it does not run or is too old to answer.
 * @param args first arguments, such as `-3` for `py`
 */
async function probePython(
  program: string,
  args: string[] = [],
  environment: Record<string, string | undefined> = {},
): Promise<Python | undefined> {
  const lines: string[] = [];
  try {
    const timeout = AbortSignal.timeout(20_000);
    const { code } = await runProcess({
      program,
      args: [...args, '-c', probe],
      environment,
      signal: timeout,
      stdout: (line) => lines.push(line),
    });
    if (code !== 0) return undefined;
    // A start-up file of the user's may print, too.
    const answer = JSON.parse(lines.at(-1) ?? '') as Omit<Python, 'program' | 'args'>;
    return { ...answer, program, args };
  } catch {
    return undefined;
  }
}

/** Says why an interpreter does not do; undefined: it does. */
export type Reject = (python: Python) => string | undefined | Promise<string | undefined>;

/** How to start an interpreter without arguments: as it was called, since a wrapper may set up what modules need. */
export const programOf = ({ program, args, path }: Python): string => (args.length === 0 ? program : path);

/** What programs on a PATH answered, and when. */
const answers = new Map<string, { python: Python; at: number }>();
const goodForMs = 60_000;

/**
 * A search builds hundreds of times, and asking an interpreter behind a version manager costs more than a small build: one
 * that suited a moment ago is not asked again.
 */
async function probeSuitable(program: string, args: string[], reject: Reject): Promise<Python | undefined> {
  const key = JSON.stringify([process.env['PATH'], program, ...args]);
  const known = answers.get(key);
  if (known && Date.now() - known.at < goodForMs && (await reject(known.python)) === undefined) return known.python;
  const python = await probePython(program, args);
  if (python) answers.set(key, { python, at: Date.now() });
  return python;
}

/**
 * The first interpreter that suits, the user's own choice before those on the PATH.
 * @throws {UserError} naming every interpreter that was tried and what is wrong with it
 */
export async function findPython(options: {
  chosen?: string | undefined;
  reject: Reject;
  /** For the user, in the error: what a suitable one is and how to get it. */
  advice: string;
}): Promise<Python> {
  const tried: string[] = [];
  for (const [program, ...args] of options.chosen ? [chosenPython(options.chosen)] : pythonCandidates()) {
    const python = await (options.chosen ? probePython(program!, args) : probeSuitable(program!, args, options.reject));
    if (!python) {
      if (options.chosen) tried.push(`${options.chosen} does not run as Python 3`);
      continue;
    }
    const reason = await options.reject(python);
    if (reason === undefined) return python;
    tried.push(`${python.path} (Python ${python.version.join('.')}): ${reason}`);
  }
  const found = tried.length > 0 ? tried.join('; ') : 'no python3 on the PATH';
  throw new UserError(`No suitable Python: ${found}. ${options.advice}`.trimEnd());
}

/** The program and first arguments of the interpreter that a user names: a path, a name, or `py -3.12`. */
export function chosenPython(chosen: string): string[] {
  const launcher = /^(py(?:\.exe)?)\s+(-\S+)$/i.exec(chosen.trim());
  return launcher ? [launcher[1]!, launcher[2]!] : [chosen];
}

/** What to try, the user's default first, then newer versions that most packages have wheels for. */
export function pythonCandidates(platform: NodeJS.Platform = process.platform): string[][] {
  const minors = [13, 12, 11, 10, 9, 14, 8];
  if (platform === 'win32')
    return [['py', '-3'], ['python'], ['python3'], ...minors.map((minor) => ['py', `-3.${minor}`])];
  const versions = minors.map((minor) => [`python3.${minor}`]);
  const homebrew = platform === 'darwin' ? [['/opt/homebrew/bin/python3']] : [];
  return [['python3'], ['python'], ...versions, ['/usr/bin/python3'], ['/usr/local/bin/python3'], ...homebrew];
}
