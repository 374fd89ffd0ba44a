import { ensurePackages } from '../../kernel/node/tools/ensurePackages.ts';
import { packageSets, type PackageSetName } from '../../kernel/node/tools/packageSets.ts';
import { readArguments } from '../../kernel/node/cli/arguments.ts';
import { confirmDownload } from '../../kernel/node/cli/terminal.ts';
import { type Command, exitCodes, Usage } from '../../kernel/node/cli/command.ts';

const names = Object.keys(packageSets) as PackageSetName[];

const options = { python: { type: 'string' }, yes: { type: 'boolean', short: 'y' } } as const;

export const setup: Command = {
  help: `trtlens setup [${names.join('|')}] [--python PROGRAM] [--yes]

Downloads TensorRT-RTX, ONNX Runtime, or ONNX Runtime with its quantizer (calibration), into a private environment in
your cache, after asking.
An existing installation is checked and repaired if it is damaged. Prints where it is.

  --python PROGRAM  the Python interpreter to use
  -y, --yes         download without asking
`,
  options,
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(args, options, ['[PACKAGE]']);
    const [asked = names[0]] = positionals;
    const name = names.find((one) => one === asked);
    if (name === undefined) throw new Usage(`unknown package '${asked}'; packages are ${names.join(', ')}`);
    const { folder, version } = await ensurePackages(name, {
      confirm: (text) => confirmDownload(terminal, values.yes ?? false, text),
      progress: (line) => terminal.note(line),
      signal: terminal.signal,
      python: values.python,
      tryImport: true,
    });
    terminal.note(`${packageSets[name].title} ${version}: ${folder}`);
    return exitCodes.done;
  },
};
