import { basename, dirname, join, relative, resolve } from 'node:path';
import { initGate } from '../readGate.ts';
import { exists } from '../../../kernel/node/files/exists.ts';
import { checkOutput, writeResult } from '../../../kernel/node/files/writeResult.ts';
import { mayReplace } from '../../../kernel/node/files/replacing.ts';
import { UserError } from '../../../kernel/node/files/userError.ts';
import { type BuildSide, readBuildSide } from '../../../kernel/node/store/buildSide.ts';

/**
 * Writes a gate file and its baseline from a good build; gives the baseline's path.
 * @param profile number of the engine's optimization profile, from 0; by default the first
 * @throws {UserError} if the gate file already exists, or the build cannot be read
 */
export async function newGate(path: string, source: string, onnx?: string, profile?: number): Promise<string> {
  const baseline = join(dirname(path), `${basename(path).replace(/(\.gate)?\.ya?ml$/i, '')}.report.json`);
  if (!mayReplace(path) && (await exists(path)))
    throw new UserError(`${path} already exists. Remove it first, or write its baseline with --update`);
  const side = await readBuildSide(source, onnx, undefined, profile);
  const model = onnx === undefined ? side.report.model.file : relative(dirname(resolve(path)), resolve(onnx));
  await checkOutput(path, [source, onnx], 'new');
  await checkOutput(baseline, [path, source, onnx], 'report');
  await writeResult(baseline, reportText(side), 'report');
  await writeResult(path, initGate(model.replaceAll('\\', '/'), basename(baseline), side), 'new');
  return baseline;
}

/** A baseline: a report with its figures. */
export const reportText = ({ report, figures }: BuildSide): string =>
  `${JSON.stringify({ ...report, ...(figures && { figures }) })}\n`;
