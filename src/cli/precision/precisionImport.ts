import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileTrouble, UserError } from '../../builder/userError.ts';
import { importCommand } from '../../core/precision/importPrecision.ts';
import { dialectOf } from '../../core/build/trtexecFlags.ts';
import { readArguments } from '../arguments.ts';
import { readTarget } from '../readTarget.ts';
import { exitCodes, Usage } from '../command.ts';
import { hasErrors } from '../problemLines.ts';
import type { Terminal } from '../terminal.ts';

/** `trtlens precision import … -- COMMAND`: override rules from another program's command line. */
export async function importRules(args: string[], terminal: Terminal): Promise<number> {
  const end = args.indexOf('--');
  if (end < 0 || end === args.length - 1)
    throw new Usage('the command line to import is missing: trtlens precision import -- trtexec --layerPrecisions=…');
  const options = { tensorrt: { type: 'string' }, out: { type: 'string', short: 'o' } } as const;
  const { values } = readArguments(args.slice(0, end), options);
  const version = values.tensorrt === undefined ? null : readTarget(values.tensorrt).version;
  const command = args.slice(end + 1);
  if (command.length === 1 && /\s-/.test(command[0]!))
    throw new Usage('pass the command line after -- as it is, not in one pair of quotes');
  const imported = importCommand(command, dialectOf(version));
  if (!imported)
    throw new UserError(
      'the command line sets no layer precisions (--layerPrecisions, --layerOutputTypes, --layer-precisions or the lists of AutoCast)',
    );
  for (const { severity, code, message } of imported.problems) terminal.note(`${severity} ${code}: ${message}`);
  if (values.out === undefined) await terminal.out(imported.text, 'data');
  else await writeNew(values.out, imported.text);
  return hasErrors(imported.problems) ? exitCodes.checkFailed : exitCodes.done;
}

async function writeNew(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new UserError(`${path} already exists. Choose another file`);
    throw fileTrouble(path, error);
  }
}
