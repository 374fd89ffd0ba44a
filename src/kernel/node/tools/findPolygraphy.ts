import { open } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { type Polygraphy, readPolygraphyHelp } from '../../build/buildCommand.ts';
import { parseVersion } from '../../build/trtexecFlags.ts';
import { findProgram } from './findProgram.ts';
import { findTool, printed } from './probeTool.ts';
import { offlineAdvice } from './offlineAdvice.ts';
import { UserError } from '../files/userError.ts';

/** A Polygraphy on this computer, and the TensorRT that it will build with. */
export interface FoundPolygraphy extends Polygraphy {
  /** Full path. */
  program: string;
}

/**
 * Finds Polygraphy: the chosen one, otherwise the one next to the chosen Python, otherwise the one on the PATH.
 * `POLYGRAPHY_USE_TENSORRT_RTX` in the environment makes it build with TensorRT-RTX, as it does for Polygraphy itself.
 * @throws {UserError} if there is none that runs
 */
export async function findPolygraphy(options: {
  polygraphy?: string | undefined;
  python?: string | undefined;
  environment?: Record<string, string> | undefined;
  signal?: AbortSignal | undefined;
}): Promise<FoundPolygraphy> {
  const { polygraphy, python, environment, signal } = options;
  const advice = `Install it into the environment that has TensorRT: pip install polygraphy. ${offlineAdvice(['polygraphy'])}`;
  const sibling = python && !polygraphy ? await siblingOf(python, 'polygraphy') : undefined;
  const program = sibling ?? (await findTool(polygraphy ?? 'polygraphy', advice));
  const interpreter = async () => (await interpreterOf(program)) ?? python ?? (windows ? 'python' : 'python3');
  const tool = await askPolygraphy({
    name: program,
    advice: `. ${advice}`,
    request: environment?.['POLYGRAPHY_USE_TENSORRT_RTX'] ?? process.env['POLYGRAPHY_USE_TENSORRT_RTX'],
    polygraphy: (args) => printed(program, args, signal, { environment }),
    python: async (args) => printed(await interpreter(), args, signal, { environment }).catch(() => []),
  });
  return { program, ...tool };
}

/**
 * Asks a Polygraphy, wherever it runs, what it is, what it builds with and what its `convert` takes.
 * @param asked.request value of `POLYGRAPHY_USE_TENSORRT_RTX` there
 * @param asked.polygraphy, asked.python run the program and its interpreter, and give the lines that they print
 * @throws {UserError} if it does not run as Polygraphy; `advice` ends the sentence
 */
export async function askPolygraphy(asked: {
  name: string;
  advice: string;
  request: string | undefined;
  polygraphy: (args: string[]) => Promise<string[]>;
  python: (args: string[]) => Promise<string[]>;
}): Promise<Polygraphy> {
  const banner = await asked.polygraphy(['--version']);
  const named = banner.find((line) => /\d+\.\d+/.test(line));
  if (named === undefined)
    throw new UserError(
      `${asked.name} does not run as Polygraphy: ${banner.at(-1) ?? 'it prints nothing'}${asked.advice}`,
    );
  const module = /^(1|true)$/i.test(asked.request ?? '') ? 'tensorrt_rtx' : 'tensorrt';
  // Whatever its environment prints next to it, the version is the last line.
  const said = await asked.python(['-c', `import ${module}; print(${module}.__version__)`]);
  const help = await asked.polygraphy(['convert', '--help']);
  return {
    version: parseVersion(/\d+\.\d+(?:\.\d+)?/.exec(named)![0]),
    product: module === 'tensorrt_rtx' ? 'tensorrt-rtx' : 'tensorrt',
    tensorrt: parseVersion(said.at(-1) ?? ''),
    flags: readPolygraphyHelp(help.join('\n')),
  };
}

/** The interpreter that runs a script: named in its first line, otherwise the one that is next to it. */
async function interpreterOf(program: string): Promise<string | undefined> {
  const named = /^#!\s*(\S+)/.exec(await head(program))?.[1];
  if (named && isAbsolute(named) && basename(named).startsWith('python')) return named;
  const sibling = (await siblingOf(program, 'python3')) ?? (await siblingOf(program, 'python'));
  // Windows' own layout: python.exe, and the scripts in a folder next to it.
  return sibling ?? (windows ? siblingOf(program, join('..', 'python')) : undefined);
}

const windows = process.platform === 'win32';

async function siblingOf(program: string, name: string): Promise<string | undefined> {
  const found = await findProgram(program);
  return found && findProgram(join(dirname(found), windows ? `${name}.exe` : name));
}

async function head(path: string): Promise<string> {
  const file = await open(path).catch(() => undefined);
  if (!file) return '';
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(400), 0, 400, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}
