import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/**
 * Where TensorRT Lens keeps what it can make again (TensorRT-RTX, build folders): `tensorrt-lens` in the user's cache
 * folder of the platform. `TENSORRT_LENS_CACHE` names another place.
 */
export function cacheFolder(
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  if (env['TENSORRT_LENS_CACHE']) return resolve(env['TENSORRT_LENS_CACHE']);
  const home = homedir();
  if (platform === 'win32') return join(env['LOCALAPPDATA'] || join(home, 'AppData', 'Local'), 'tensorrt-lens');
  if (platform === 'darwin') return join(home, 'Library', 'Caches', 'tensorrt-lens');
  // A relative XDG_CACHE_HOME is to be ignored, says its specification.
  const base = env['XDG_CACHE_HOME']?.startsWith('/') ? env['XDG_CACHE_HOME'] : join(home, '.cache');
  return join(base, 'tensorrt-lens');
}
