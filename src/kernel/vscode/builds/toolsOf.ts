import * as vscode from 'vscode';
import type { BuildTools } from '../../node/run/buildPlan.ts';
import { UserError } from '../../node/files/userError.ts';
import type { Backend } from '../../build/buildOptions.ts';
import { type Launcher, readLauncher } from '../../build/launcher.ts';
import { mayDownload } from '../platform/downloadConsent.ts';
import { readSettings } from '../platform/settings.ts';
import { mayRun } from '../platform/trust.ts';
import type { TaskOptions } from './taskProperties.ts';

/**
 * The programs that the settings name for a model, and backend and launcher: those that were requested, otherwise those
 * of the settings.
 * @throws {UserError} if there is no such launcher, or it is invalid
 */
export function toolsOf(
  context: vscode.ExtensionContext,
  uri: vscode.Uri,
  { backend, launcher }: Pick<TaskOptions, 'backend' | 'launcher'>,
): { tools: BuildTools; backend: Backend | 'auto' } {
  const settings = readSettings(uri);
  return {
    backend: backend === undefined || backend === 'auto' ? settings.backend : backend,
    tools: {
      driver: context.asAbsolutePath('dist/driver/build_engine.py'),
      python: settings.pythonPath || undefined,
      trtexec: settings.trtexecPath || undefined,
      polygraphy: settings.polygraphyPath || undefined,
      launcher: launcherOf(settings.launchers, launcher ?? settings.launcher),
      confirm: (text) => mayDownload('tensorrt-rtx', text, context.globalState),
    },
  };
}

/**
 * The nsys of the settings.
 * @throws {UserError} where no program may run
 */
export function nsysToRun(): string {
  if (!mayRun()) throw new UserError('Reading a .nsys-rep file runs nsys, so it needs a trusted workspace.');
  return readSettings().nsysPath || 'nsys';
}

/** `none` stands for no launcher, where the settings name one for every build. */
function launcherOf(launchers: Record<string, unknown>, name: string): Launcher | undefined {
  if (name === '' || name === 'none') return undefined;
  if (!Object.hasOwn(launchers, name)) {
    const names = Object.keys(launchers).join(', ') || 'none';
    throw new UserError(`Unknown launcher "${name}". Launchers in the setting tensorrtLens.launchers: ${names}.`);
  }
  const read = readLauncher(launchers[name]);
  if (typeof read === 'string') throw new UserError(`Launcher "${name}": ${read}`);
  return read;
}
