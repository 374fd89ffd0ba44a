import type { BuildManifest } from '../../build/buildManifest.ts';
import { taskProperties } from './taskProperties.ts';

/**
 * What a task must say to build again as this build was: the options that the user chose then. Environment variables
 * are not kept with a build, as they may hold secrets.
 */
export function rerunOptions(
  { backend, origin, options }: BuildManifest,
  launchers: Record<string, unknown> = {},
): Record<string, unknown> {
  const definition: Record<string, unknown> = {};
  // What ran on another machine may not be here.
  if (origin === 'built') definition['backend'] = backend;
  for (const [name, value] of Object.entries(options)) {
    if (!taskProperties.includes(name)) continue;
    // A build keeps the command of its launcher, a task names it.
    if (name === 'launcher') definition[name] = nameOf(value, launchers);
    else definition[name] = typeof value === 'string' ? unpacked(value) : value;
  }
  return definition;
}

function nameOf(command: unknown, launchers: Record<string, unknown>): string | undefined {
  const same = JSON.stringify(command);
  return Object.keys(launchers).find((name) => {
    const launcher = launchers[name];
    return (
      typeof launcher === 'object' &&
      launcher !== null &&
      'command' in launcher &&
      JSON.stringify(launcher.command) === same
    );
  });
}

/** Lists and objects are kept as their JSON text. */
function unpacked(text: string): unknown {
  if (!/^[[{]/.test(text)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
