import { resolve } from 'node:path';
import { checkOutput, filesOfModel, writeResult } from '../../../../kernel/node/files/writeResult.ts';
import { readTextBytes } from '../../../../kernel/node/files/readTextBytes.ts';
import { filesOfBuild, requireBuild } from '../../../../kernel/node/store/buildFolder.ts';
import { tritonEngine } from '../tritonEngine.ts';
import { checkTritonConfig, writeTritonConfig } from '../../triton/tritonConfig.ts';
import { forceOption, readArguments } from '../../../../kernel/node/cli/arguments.ts';
import { type Command, exitCodes, Usage } from '../../../../kernel/node/cli/command.ts';
import { printJson } from '../../../../kernel/node/cli/terminal.ts';
import { hasErrors } from '../../../../kernel/node/cli/problemLines.ts';

const options = {
  out: { type: 'string', short: 'o' },
  name: { type: 'string' },
  check: { type: 'string' },
  ...forceOption,
  json: { type: 'boolean' },
} as const;

export const triton: Command = {
  help: `trtlens setup triton BUILD -o config.pbtxt [--name NAME] [--force]
trtlens setup triton BUILD --check config.pbtxt [--json]

Writes Triton's configuration of the engine of a build folder: inputs and outputs with types and
sizes, the largest batch, dynamic batching, and the names of the optimization profiles. --check
compares an existing configuration with the engine and exits with 1 if they contradict each other.
Builds that failed and engines of TensorRT-RTX are refused: Triton cannot serve them.

  -o, --out FILE      the file to write
  --name NAME         name of the model in Triton; default: that of the ONNX file
  --force             overwrite a FILE with other content, such as one that you edited
  --check FILE        the configuration to compare
  --json              the problems as one JSON document
`,
  options,
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(args, options, ['BUILD'], {
      needs: { json: ['check'] },
      without: { check: ['out', 'name'] },
    });
    const { out, check } = values;
    if ((out === undefined) === (check === undefined)) throw new Usage('pass -o config.pbtxt or --check config.pbtxt');
    const build = await requireBuild(positionals[0]!);
    const engine = await tritonEngine(build, values.name);
    if (check === undefined) {
      const onnx = resolve(build.folder, build.manifest.model.file);
      await checkOutput(out!, [...(await filesOfModel(onnx)), ...filesOfBuild(build)], 'text');
      const config = writeTritonConfig(engine);
      await writeResult(out!, config, 'text');
      terminal.note(`Written: ${out!}`);
      return exitCodes.done;
    }
    const text = new TextDecoder().decode(await readTextBytes(check, 'a config.pbtxt'));
    const problems = checkTritonConfig(text, engine);
    if (values.json) await printJson(terminal, { problems });
    else
      await terminal.out(
        problems.length === 0
          ? `${check} fits the engine.\n`
          : problems.map(({ severity, line, message }) => `${check}:${line ?? 1}: ${severity}: ${message}\n`).join(''),
      );
    return hasErrors(problems) ? exitCodes.checkFailed : exitCodes.done;
  },
};
