import * as vscode from 'vscode';
import type { BuildTools } from '../../builder/run/buildPlan.ts';
import { packageSets } from '../../builder/tools/packageSets.ts';
import { UserError } from '../../builder/userError.ts';
import type { Backend } from '../../core/build/buildOptions.ts';
import { type Launcher, readLauncher } from '../../core/build/launcher.ts';
import { showInformation } from '../platform/messages.ts';
import { readSettings } from '../platform/settings.ts';
import { mayRun } from '../platform/trust.ts';
import type { TaskOptions } from './taskProperties.ts';

/** NVIDIA's pages; the license is in their section "Reference", and as LICENSE.txt in the package. */
const documentation = 'https://docs.nvidia.com/deeplearning/tensorrt-rtx/latest/';
const key = 'tensorrtLens.rtxConsent';
const { version } = packageSets['tensorrt-rtx'];

/**
 * Asks before TensorRT-RTX is downloaded: it is NVIDIA's, and nothing reaches this machine without a yes. `text` says
 * what, how much, from where, under which license and where to. A yes is remembered for this version, so that a
 * download that failed can be tried again without a second question.
 */
export async function mayDownload(text: string, memory: vscode.Memento): Promise<boolean> {
  if (memory.get(key) === version) return true;
  const yes = 'Download and Build';
  const read = 'About TensorRT-RTX';
  const question = 'Download NVIDIA TensorRT-RTX?';
  const detail = [
    text,
    'By downloading it you accept NVIDIA’s license. Nothing else is sent or downloaded. You are asked only once.',
  ].join('\n\n');
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one question after the other
    const answer = await showInformation(question, { modal: true, detail }, yes, read);
    if (answer === yes) {
      // oxlint-disable-next-line no-await-in-loop -- the loop ends here
      await memory.update(key, version);
      return true;
    }
    if (answer !== read) return false;
    // oxlint-disable-next-line no-await-in-loop -- afterwards the question comes again
    await vscode.env.openExternal(vscode.Uri.parse(documentation));
  }
}

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
      confirm: (text) => mayDownload(text, context.globalState),
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
