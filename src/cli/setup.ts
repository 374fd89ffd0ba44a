import { setUpRtx } from '../builder/tools/setUpRtx.ts';
import { readArguments } from './arguments.ts';
import { confirmDownload } from './confirmDownload.ts';
import { type Command, exitCodes } from './command.ts';

export const setup: Command = {
  name: 'setup',
  summary: 'set TensorRT-RTX up, which builds engines without a GPU',
  help: `trtlens setup [--python PROGRAM] [--yes]

Downloads TensorRT-RTX into a private environment in the user's cache, after asking. Done already: says where it is.

  --python PROGRAM  the interpreter to use
  -y, --yes         download without asking
`,
  run: async (args, terminal) => {
    const { values } = readArguments(args, { python: { type: 'string' }, yes: { type: 'boolean', short: 'y' } });
    const { folder, version } = await setUpRtx({
      confirm: (text) => confirmDownload(terminal, values.yes ?? false, text),
      progress: (line) => terminal.note(line),
      signal: terminal.signal,
      python: values.python,
    });
    terminal.note(`TensorRT-RTX ${version}: ${folder}`);
    return exitCodes.done;
  },
};
