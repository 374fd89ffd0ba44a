import { runEngine } from '../runEngine.ts';
import { requireBuild } from '../../../../kernel/node/store/buildFolder.ts';
import { counted, shapeText, timeText } from '../../../../kernel/base/text.ts';
import { forceOption, readArguments } from '../../../../kernel/node/cli/arguments.ts';
import { type Command, exitCodes, Usage } from '../../../../kernel/node/cli/command.ts';
import { printJson } from '../../../../kernel/node/cli/terminal.ts';
import { readLauncherFile } from '../../../../kernel/node/cli/launcherFile.ts';
import { driverFolder } from '../../../../kernel/node/cli/driverScript.ts';

const options = {
  inputs: { type: 'string', multiple: true },
  out: { type: 'string', short: 'o' },
  python: { type: 'string' },
  launcher: { type: 'string' },
  json: { type: 'boolean' },
  ...forceOption,
} as const;

export const run: Command = {
  help: `trtlens run BUILD --inputs FILE -o OUT.npz [--launcher FILE] [--json]

Runs the engine of a build folder with TensorRT's Python API, on a GPU, and writes its outputs.

  --inputs FILE      input values: .npz, .npy, Polygraphy's or trtexec's JSON, NAME:FILE for raw bytes, or a folder of
                     samples; may be repeated
  -o, --out FILE     the .npz to write; outputs of further samples are NAME#2, NAME#3, …
  --python PROGRAM   the Python interpreter that has TensorRT and NumPy
  --launcher FILE    run it in a container, over ssh or on a cluster, as for trtlens build
  --force            overwrite files that trtlens did not write
  --json             the result as one JSON document
`,
  options,
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(args, options, ['BUILD']);
    if (values.out === undefined) throw new Usage('-o OUT.npz (the file to write) is missing');
    if (!values.inputs?.length) throw new Usage('--inputs FILE (the input values) is missing');
    const result = await runEngine({
      build: await requireBuild(positionals[0]!),
      inputs: values.inputs,
      out: values.out,
      scripts: driverFolder,
      python: values.python,
      launcher: values.launcher === undefined ? undefined : await readLauncherFile(values.launcher),
      signal: terminal.signal,
      output: (line) => terminal.note(line),
    });
    if (values.json) await printJson(terminal, result);
    else {
      const time = result.milliseconds === null ? '' : `, ${timeText(result.milliseconds)} a run`;
      const head = `${result.gpu}, TensorRT ${result.version}: ${counted(result.samples, 'sample')}${time}`;
      const lines = result.outputs.map(({ name, shape, type }) => `  ${name}: ${shapeText(shape)} ${type}`);
      await terminal.out(`${[head, ...lines, `written to ${values.out}`].join('\n')}\n`);
    }
    return exitCodes.done;
  },
};
