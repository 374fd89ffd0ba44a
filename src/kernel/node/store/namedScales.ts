import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { KnownScales } from '../../rules/precisionPlan.ts';
import type { CalibrationCache } from '../../quantization/quantization.ts';
import { fileTrouble } from '../files/userError.ts';
import { readCache } from './readScales.ts';

/**
 * The calibration cache at a path; null: it is samples, of which the scales are measured.
 * @throws {UserError} if the file does not exist, or is not a calibration cache either
 */
export async function namedScales(path: string): Promise<CalibrationCache | null> {
  try {
    if ((await stat(path)).isDirectory() || /\.(?:npz|npy|json|raw)$/i.test(path)) return null;
  } catch (error) {
    throw fileTrouble(path, error);
  }
  return readCache(path);
}

/**
 * What the file of a `scales` line has scales for; null without such a line.
 * @param rules path of the override file, which `named` is relative to
 * @throws {UserError} like `namedScales`
 */
export async function knownScales(
  rules: string,
  named: string | null,
): Promise<(KnownScales & { path: string }) | null> {
  if (named === null) return null;
  const path = resolve(dirname(rules), named);
  const cache = await namedScales(path);
  return { path, tensors: cache && new Set(cache.scales.keys()) };
}
