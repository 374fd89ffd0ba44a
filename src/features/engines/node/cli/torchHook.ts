import { readFile } from 'node:fs/promises';
import { checkOutput, writeResult } from '../../../../kernel/node/files/writeResult.ts';
import { forceOption, readArguments } from '../../../../kernel/node/cli/arguments.ts';
import { type Command, exitCodes, docsUrl } from '../../../../kernel/node/cli/command.ts';
import { driverScript } from '../../../../kernel/node/cli/driverScript.ts';

const name = 'trtlens_torch.py';

const options = { out: { type: 'string', short: 'o' }, ...forceOption } as const;

export const torchHook: Command = {
  help: `trtlens setup torch-hook [-o ${name}]

Writes a Python file for programs that use Torch-TensorRT. It names the FX node of every layer and writes the graph with
its modules and source lines, which 'trtlens show --onnx GRAPH.fx.json' takes in place of an ONNX model
(${docsUrl}/fused-nodes.md).

  -o, --out FILE       the file to write (default: ${name} in the working folder)
  --force              overwrite FILE even if trtlens did not write it
`,
  options,
  run: async (args, terminal) => {
    const { values } = readArguments(args, options);
    const out = values.out ?? name;
    const source = driverScript(name);
    await checkOutput(out, [source], 'hook');
    await writeResult(out, await readFile(source, 'utf8'), 'hook');
    terminal.note(`Written: ${out}`);
    return exitCodes.done;
  },
};
