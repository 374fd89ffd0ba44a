import { exists } from '../../../../kernel/node/files/exists.ts';
import { writeResult } from '../../../../kernel/node/files/writeResult.ts';
import { removeTree } from '../../../../kernel/node/files/persist.ts';
import { resolve } from 'node:path';
import { shell } from '../../../../kernel/node/tools/shell.ts';
import { quoteCommand } from '../../../../kernel/base/text.ts';
import { newestTarget, typedCommand } from '../../../check/lint/lintSource.ts';
import { UserError } from '../../../../kernel/node/files/userError.ts';
import { importCommand, rulesOfCommand } from '../../importPrecision.ts';
import { dialectOf, modelOfCommand } from '../../../../kernel/build/trtexecFlags.ts';
import { forceOption, readArguments } from '../../../../kernel/node/cli/arguments.ts';
import { readTarget } from '../../../../kernel/node/cli/readTarget.ts';
import { exitCodes, Usage } from '../../../../kernel/node/cli/command.ts';
import { hasErrors } from '../../../../kernel/node/cli/problemLines.ts';
import type { Terminal } from '../../../../kernel/node/cli/terminal.ts';

/**
 * `trtlens precision import … -- COMMAND`: override rules from another program's command line, and with `--apply` the
 * typed model that they make and the command that builds it.
 */
export async function importRules(
  args: string[],
  terminal: Terminal,
  apply: (args: string[], terminal: Terminal) => Promise<number>,
): Promise<number> {
  const end = args.indexOf('--');
  if (end < 0 || end === args.length - 1)
    throw new Usage('the command line to import is missing: trtlens precision import -- trtexec --layerPrecisions=…');
  const options = {
    tensorrt: { type: 'string' },
    out: { type: 'string', short: 'o' },
    apply: { type: 'string' },
    ...forceOption,
  } as const;
  const { values } = readArguments(args.slice(0, end), options);
  const version = values.tensorrt === undefined ? null : readTarget(values.tensorrt).version;
  const command = args.slice(end + 1);
  if (command.length === 1 && /\s-/.test(command[0]!))
    throw new Usage('pass the command line after -- as it is, not in one pair of quotes');
  const dialect = dialectOf(version);
  const imported = values.apply === undefined ? importCommand(command, dialect) : rulesOfCommand(command, dialect);
  if (!imported)
    throw new UserError(
      values.apply === undefined
        ? 'the command line sets no layer precisions (--layerPrecisions, --layerOutputTypes, --layer-precisions or the lists of AutoCast)'
        : 'the command line asks for no type: no --fp16, --bf16, --best or --int8 with a calibration cache, and no precisions of layers',
    );
  for (const { severity, code, message } of imported.problems) terminal.note(`${severity} ${code}: ${message}`);
  const failed = hasErrors(imported.problems);
  if (values.apply !== undefined)
    return failed
      ? exitCodes.checkFailed
      : applyImported(command, imported.text, values.apply, values, { apply, terminal });
  if (values.out === undefined) await terminal.out(imported.text, 'data');
  else await writeResult(values.out, imported.text, 'rules');
  return failed ? exitCodes.checkFailed : exitCodes.done;
}

/** Writes the rules and the typed model, and prints the command without what TensorRT 11 does not have. */
async function applyImported(
  command: string[],
  text: string,
  out: string,
  { out: rules = out.replace(/(?:\.onnx)?$/i, '.trtprec'), force }: { out?: string; force?: boolean },
  { apply, terminal }: { apply: (args: string[], terminal: Terminal) => Promise<number>; terminal: Terminal },
): Promise<number> {
  const model = modelOfCommand(command);
  if (model === undefined)
    throw new UserError('the command line names no model: pass it with --onnx=MODEL.onnx, as trtexec does');
  // The paths of a command are those of the folder that it runs in, those of rules of the folder that they are in.
  const scales = /^scales (.+)$/m.exec(text)?.[1];
  const isNew = !(await exists(rules));
  await writeResult(rules, scales === undefined ? text : text.replace(scales, () => resolve(scales)), 'rules');
  terminal.note(`Rules: ${rules}`);
  let code: number = exitCodes.cannot;
  try {
    code = await apply([rules, '--onnx', model.path, '-o', out, ...(force ? ['--force'] : [])], terminal);
  } finally {
    // Without a model, they would stand in the way of the next try.
    if (isNew && code !== exitCodes.done) await removeTree(rules);
  }
  if (code !== exitCodes.done) return code;
  const { words, left } = typedCommand(command, out);
  await terminal.out(`Build it with:\n  ${quoteCommand(words, shell)}\n`);
  if (left.length > 0) terminal.note(`Left out, because TensorRT ${newestTarget} does not have it: ${left.join(', ')}`);
  terminal.note(
    `Try it without a GPU: ${quoteCommand(['trtlens', 'build', out, '--backend', 'rtx', '--strongly-typed'], shell)}`,
  );
  return exitCodes.done;
}
