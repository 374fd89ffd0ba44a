import { basename, dirname, join, relative, resolve } from 'node:path';
import { initGate } from '../../core/gate/readGate.ts';
import { exists } from '../files/exists.ts';
import { writeWhole } from '../files/writeWhole.ts';
import { UserError } from '../userError.ts';
import { type BuildSide, readBuildSide } from './buildSide.ts';

/**
 * Writes a gate file and its baseline from a good build; gives the baseline's path.
 * @param profile number of the engine's optimization profile, from 0; by default the first
 * @throws {UserError} if the gate file already exists, or the build cannot be read
 */
export async function newGate(path: string, source: string, onnx?: string, profile?: number): Promise<string> {
  const baseline = join(dirname(path), `${basename(path).replace(/(\.gate)?\.ya?ml$/i, '')}.report.json`);
  if (await exists(path))
    throw new UserError(`${path} already exists. Remove it first, or write its baseline with --update`);
  const side = await readBuildSide(source, onnx, undefined, profile);
  const model = onnx === undefined ? side.report.model.file : relative(dirname(resolve(path)), resolve(onnx));
  await writeWhole(baseline, reportText(side));
  await writeWhole(path, initGate(model.replaceAll('\\', '/'), basename(baseline), side));
  return baseline;
}

/** A baseline: a report with its figures. */
export const reportText = ({ report, figures }: BuildSide): string =>
  `${JSON.stringify({ ...report, ...(figures && { figures }) })}\n`;
