import type { BuildOptions } from '../../builder/run/runBuild.ts';
import { confirmDownload } from '../confirmDownload.ts';
import { driverScript } from '../driverScript.ts';
import type { Terminal } from '../terminal.ts';
import { readLauncherFile } from '../launcherFile.ts';
import { type BuildValues, readBuildOptions, textOf } from './buildOptions.ts';

/**
 * The build that the flags of `trtlens build` describe, and where it runs.
 * @throws {Usage} where a value is not what its option takes
 * @throws {UserError} if the launcher's file cannot be read
 */
export async function buildRequest(model: string, values: BuildValues, terminal: Terminal): Promise<BuildOptions> {
  const places = ['python', 'trtexec', 'polygraphy', 'folder'].flatMap((name) => {
    const value = textOf(values, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const launcher = textOf(values, 'launcher');
  return {
    backend: 'auto',
    ...readBuildOptions(values),
    ...Object.fromEntries(places),
    ...(launcher !== undefined && { launcher: await readLauncherFile(launcher) }),
    model,
    driver: driverScript('build_engine.py'),
    confirm: (text) => confirmDownload(terminal, values['yes'] === true, text),
    setUpProgress: (line) => terminal.note(line),
  };
}
