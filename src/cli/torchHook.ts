import { readFile } from 'node:fs/promises';
import { checkOutput } from '../builder/files/checkOutput.ts';
import { writeWhole } from '../builder/files/writeWhole.ts';
import { readArguments } from './arguments.ts';
import { type Command, exitCodes } from './command.ts';
import { driverScript } from './driverScript.ts';

const name = 'trtlens_torch.py';

export const torchHook: Command = {
  help: `trtlens torch-hook [-o ${name}]

Writes a Python file for programs that use Torch-TensorRT. It names the FX node of every layer and writes the graph with
its modules and source lines, which 'trtlens fusion --onnx GRAPH.fx.json' takes in place of an ONNX model
(docs/interop.md).

  -o, --output FILE    the file to write (default: ${name} in the working folder)
`,
  run: async (args, terminal) => {
    const { values } = readArguments(args, { output: { type: 'string', short: 'o' } });
    const output = values.output ?? name;
    const source = driverScript(name);
    await checkOutput(output, [source]);
    await writeWhole(output, await readFile(source, 'utf8'));
    terminal.note(`Written: ${output}`);
    return exitCodes.done;
  },
};
