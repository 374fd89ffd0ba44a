// oxlint-disable-next-line no-restricted-imports -- only into a folder that is new or empty
import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ensurePackages } from '../../kernel/node/tools/ensurePackages.ts';
import { packageSets, type PackageSetName } from '../../kernel/node/tools/packageSets.ts';
import { readArguments } from '../../kernel/node/cli/arguments.ts';
import { confirmDownload } from '../../kernel/node/cli/terminal.ts';
import { type Command, exitCodes, Usage } from '../../kernel/node/cli/command.ts';
import { UserError } from '../../kernel/node/files/userError.ts';

const names = Object.keys(packageSets) as PackageSetName[];

const options = { python: { type: 'string' }, yes: { type: 'boolean', short: 'y' } } as const;

export const setup: Command = {
  help: `trtlens setup [${names.join('|')}] [--python PROGRAM] [--yes]
trtlens setup samples [DIR]

Downloads TensorRT-RTX, ONNX Runtime, or ONNX Runtime with its quantizer (calibration), into a private environment in
your cache, after asking.
An existing installation is checked and repaired if it is damaged. Prints where it is.

samples copies the models and recorded builds of the documentation into a new folder (default: samples). It needs no
network.

  --python PROGRAM  the Python interpreter to use
  -y, --yes         download without asking
`,
  options,
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(args, options, ['[PACKAGE]', '[DIR]']);
    const [asked = names[0], folder] = positionals;
    if (asked === 'samples') {
      terminal.note(`Written: ${await copySamples(folder ?? 'samples')}`);
      return exitCodes.done;
    }
    if (folder !== undefined) throw new Usage(`unexpected argument '${folder}'`);
    const name = names.find((one) => one === asked);
    if (name === undefined) throw new Usage(`unknown package '${asked}'; packages are ${names.join(', ')}, samples`);
    const { folder: installed, version } = await ensurePackages(name, {
      confirm: (text) => confirmDownload(terminal, values.yes ?? false, text),
      progress: (line) => terminal.note(line),
      signal: terminal.signal,
      python: values.python,
      tryImport: true,
    });
    terminal.note(`${packageSets[name].title} ${version}: ${installed}`);
    return exitCodes.done;
  },
};

/**
 * Copies what ships next to the command line (`scripts/samples.mjs`) into a new or empty folder.
 * @throws {UserError} if the folder has other files
 */
async function copySamples(to: string): Promise<string> {
  const existing = await readdir(to).catch(({ code }: NodeJS.ErrnoException) => (code === 'ENOENT' ? [] : [to]));
  if (existing.length > 0) throw new UserError(`${to} already exists. Pass the name of a new folder`);
  await cp(join(import.meta.dirname, 'samples'), to, { recursive: true });
  return to;
}
