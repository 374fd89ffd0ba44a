import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import type { TraceExport } from '../files/parsedFiles.ts';
import { UserError } from '../files/userError.ts';
import { findInstalled } from './findProgram.ts';
import { runProcess } from './runProcess.ts';
import { isFile } from '../files/exists.ts';
import { temporaryFolder } from '../files/writeWhole.ts';
import { removeTree } from '../files/persist.ts';

/** Exports reports of Nsight Systems with an nsys, which is asked for only then. */
export const exportingWith =
  (nsys: () => string): TraceExport =>
  (path, read) =>
    exportTrace(path, nsys(), read);

/**
 * Exports a report of Nsight Systems to SQLite and gives the file to `read`; it is removed afterwards.
 * @param nsys a path, or a name on the PATH
 * @throws {UserError} if there is no such program, or it cannot export the report
 */
export async function exportTrace<T>(path: string, nsys: string, read: (sqlite: string) => Promise<T>): Promise<T> {
  const program = await findInstalled(nsys);
  if (program === undefined)
    throw new UserError(
      `${path}: only nsys of Nsight Systems can read this file, and ${nsys} was not found. Install Nsight Systems or name its nsys (--nsys, or the setting tensorrtLens.nsys.path), or run nsys export --type sqlite elsewhere and open the result.`,
    );
  const folder = await temporaryFolder(tmpdir(), 'tensorrt-lens-trace-');
  try {
    const output = join(folder, `${basename(path).replace(/\.nsys-rep$/i, '')}.sqlite`);
    const lines: string[] = [];
    const keep = (line: string) => line.trim() !== '' && lines.push(line.trim());
    const args = ['export', '--type=sqlite', '--force-overwrite=true', `--output=${output}`, resolve(path)];
    const { code } = await runProcess({ program, args, stdout: keep, stderr: keep, leftovers: [output] });
    if (code !== 0 || !(await isFile(output)))
      throw new UserError(
        `${path}: nsys export failed: ${lines.at(-1) ?? `exit status ${code}`}. A report opens with the version of nsys that recorded it, or a later one.`,
      );
    return await read(output);
  } finally {
    await removeTree(folder);
  }
}
