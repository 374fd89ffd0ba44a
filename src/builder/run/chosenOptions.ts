import type { BuildManifest } from '../../core/build/buildManifest.ts';
import type { EngineOptions } from '../../core/build/engineOptions.ts';
import type { Launcher } from '../../core/build/launcher.ts';

/**
 * The options that the user chose, for comparing two builds: neither tools nor what has its own place in the manifest.
 */
export function chosenOptions(options: EngineOptions & { launcher?: Launcher | undefined }): BuildManifest['options'] {
  const left = new Set([
    'model',
    'backend',
    'driver',
    'python',
    'trtexec',
    'polygraphy',
    'launcher',
    'cache',
    'folder',
    'environment',
    'signal',
  ]);
  const chosen: BuildManifest['options'] = {};
  if (options.launcher) chosen['launcher'] = options.launcher.command;
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    if (left.has(name) || value === undefined || typeof value === 'function') continue;
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') chosen[name] = value;
    else if (Array.isArray(value) && value.every((one) => typeof one === 'string')) chosen[name] = value;
    else chosen[name] = JSON.stringify(value);
  }
  return chosen;
}
