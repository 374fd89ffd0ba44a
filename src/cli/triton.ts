import { basename, resolve } from 'node:path';
import { checkOutput, filesOfModel } from '../builder/files/checkOutput.ts';
import { UserError } from '../builder/userError.ts';
import { readTextBytes } from '../builder/files/readTextBytes.ts';
import { writeWhole } from '../builder/files/writeWhole.ts';
import { filesOfBuild, requireBuild } from '../builder/store/buildFolder.ts';
import { loadBuild } from '../builder/store/loadBuild.ts';
import { toGraphData } from '../core/picture/graph/viewData.ts';
import { checkTritonConfig, tritonModel, whyNotServed, writeTritonConfig } from '../core/triton/tritonConfig.ts';
import { readArguments } from './arguments.ts';
import { type Command, exitCodes, Usage } from './command.ts';
import { printJson } from './terminal.ts';
import { hasErrors } from './problemLines.ts';

export const triton: Command = {
  help: `trtlens triton BUILD -o config.pbtxt [--name NAME]
trtlens triton BUILD --check config.pbtxt [--json]

Writes Triton's configuration of the engine of a build folder: inputs and outputs with types and
sizes, the largest batch, dynamic batching, and the names of the optimization profiles. --check
compares an existing configuration with the engine and exits with 1 if they contradict each other.
Builds that failed and engines of TensorRT-RTX are refused: Triton cannot serve them.

  -o, --output FILE   the file to write
  --name NAME         name of the model in Triton; default: that of the ONNX file
  --check FILE        the configuration to compare
  --json              the problems as one JSON document
`,
  run: async (args, terminal) => {
    const options = {
      output: { type: 'string', short: 'o' },
      name: { type: 'string' },
      check: { type: 'string' },
      json: { type: 'boolean' },
    } as const;
    const { values, positionals } = readArguments(args, options, ['BUILD']);
    const { output, check } = values;
    if ((output === undefined) === (check === undefined))
      throw new Usage('pass -o config.pbtxt or --check config.pbtxt');
    const build = await requireBuild(positionals[0]!);
    const why = whyNotServed(build.manifest);
    if (why !== null) throw new UserError(`Triton can't serve ${positionals[0]!}: ${why}.`);
    const onnx = resolve(build.folder, build.manifest.model.file);
    const { model, report } = await loadBuild(build);
    const name = values.name ?? basename(onnx).replace(/\.onnx$/i, '');
    const engine = tritonModel(name, toGraphData(model), report);
    if (check === undefined) {
      await checkOutput(output!, [...(await filesOfModel(onnx)), ...filesOfBuild(build)]);
      await writeWhole(output!, writeTritonConfig(engine));
      terminal.note(`Written: ${output!}`);
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
