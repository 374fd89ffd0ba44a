import { stat } from 'node:fs/promises';
import type { CalibrationCache } from '../../core/quantisation/calibrationCache.ts';
import { fileTrouble } from '../userError.ts';
import { readCache } from './readScales.ts';

/**
 * The calibration cache at a path; null: it is samples, of which the scales are measured.
 * @throws {UserError} if there is no such file, or it is neither
 */
export async function namedScales(path: string): Promise<CalibrationCache | null> {
  try {
    if ((await stat(path)).isDirectory() || /\.(?:npz|npy|json|raw)$/i.test(path)) return null;
  } catch (error) {
    throw fileTrouble(path, error);
  }
  return readCache(path);
}
