import { join } from 'node:path';
import { ParsedFiles, isTraceReport } from '../files/parsedFiles.ts';
import type { Build } from './buildFolder.ts';

/**
 * Milliseconds of all layers of a build's engine in its profile, without reading anything else of the build; null: it has
 * none that can be read at once. Never rejects.
 */
export async function engineTime({ folder, manifest }: Build): Promise<number | null> {
  const { profile } = manifest.files;
  if (profile === null || isTraceReport(profile)) return null;
  try {
    const { value } = await new ParsedFiles({ keep: 1 }).profile(join(folder, profile));
    if (value === undefined) return null;
    const { rows, trace } = value;
    if (trace !== undefined) return trace.passes > 0 ? trace.ms / trace.passes : null;
    return rows.length === 0 ? null : rows.reduce((sum, { averageMs }) => sum + averageMs, 0);
  } catch {
    return null;
  }
}
