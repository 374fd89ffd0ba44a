import { join } from 'node:path';
import { stopIfCancelled, UserError } from '../../files/userError.ts';
import { howToGetPython } from '../packageSets.ts';
import type { Python } from '../findPython.ts';
import { runProcess } from '../runProcess.ts';

/** The interpreter of a virtual environment. */
export const interpreterIn = (folder: string): string =>
  join(folder, ...(process.platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python']));

/** Where the packages are in an environment that is a plain folder. */
export const siteIn = (folder: string): string => join(folder, 'site');

/** A command that installs into the folder: program and first arguments. */
export interface Pip {
  program: string;
  args: string[];
  environment: Record<string, string | undefined>;
}

// pip's own configuration (index, proxy, certificates) stays; what would send files elsewhere goes.
export const quietPip = {
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
export async function makeEnvironment(
  python: Python,
  folder: string,
  progress: (line: string) => void,
  signal: AbortSignal | undefined,
): Promise<Pip> {
  const base = [...python.args];
  const inside = interpreterIn(folder);
  const venvPip: Pip = { program: inside, args: ['-m', 'pip', 'install', '--progress-bar=off'], environment: quietPip };
  const site = siteIn(folder);
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
    `${python.path} can neither create a virtual environment nor run pip${tried}. Install one of them and try again. ${howToGetPython()}`,
  );
}
