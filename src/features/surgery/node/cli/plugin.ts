import { writePlugin } from '../writePlugin.ts';
import { counted } from '../../../../kernel/base/text.ts';
import { forceOption, readArguments } from '../../../../kernel/node/cli/arguments.ts';
import { type Command, exitCodes, Usage } from '../../../../kernel/node/cli/command.ts';
import { printJson } from '../../../../kernel/node/cli/terminal.ts';

const options = {
  nodes: { type: 'string' },
  name: { type: 'string' },
  domain: { type: 'string' },
  'like-input': { type: 'boolean' },
  out: { type: 'string', short: 'o' },
  ...forceOption,
  json: { type: 'boolean' },
} as const;

export const plugin: Command = {
  help: `trtlens cut plugin MODEL.onnx --nodes ID,… --name NAME [--domain DOMAIN] [--like-input] -o DIR [--force] [--json]

Writes model.onnx, in which the nodes are one custom node, and a plugin that computes it: an IPluginV3 in C++ with CMake.
A chain of elementwise operators gets a CUDA kernel; for other nodes the
kernel is left to you, and the plugin refuses to run until then. test_NAME.py compares the plugin with the nodes under
ONNX Runtime.

  --nodes ID,…     node ids from 'trtlens show --json', for example 12,13
  --name NAME      operator and plugin name: letters, digits and _
  --domain DOMAIN  of the node, and the plugin's namespace (default: custom)
  --like-input     outputs of unknown type have type and shape of the first input
  -o DIR           folder for the result
  --force          overwrite files with other content, such as a kernel that you wrote
  --json           { "nodes", "inputs": [ { name, type, shape } ], "outputs", "attributes", "missing", "files" }
`,
  options,
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(args, options, ['MODEL.onnx']);
    const { nodes, name, domain = 'custom', out } = values;
    if (nodes === undefined) throw new Usage('--nodes ID,… is missing');
    if (name === undefined) throw new Usage('--name NAME is missing');
    if (out === undefined) throw new Usage('-o DIR is missing');
    const written = await writePlugin({
      path: positionals[0]!,
      nodes: nodes.split(',').flatMap((id) => id.trim() || []),
      name,
      domain,
      out,
      ...(values['like-input'] && { isLike: () => Promise.resolve(true) }),
      signal: terminal.signal,
    });
    if (values.json) await printJson(terminal, written);
    else {
      const { nodes: replaced, inputs, outputs, attributes, missing, files } = written;
      const border = `${counted(inputs.length, 'input')}, ${counted(outputs.length, 'output')}, ${counted(attributes.length, 'attribute')}`;
      const kernel =
        missing === null ? 'The CUDA kernel is complete.' : `The CUDA kernel is yours to write, because ${missing}.`;
      await terminal.out(
        `${counted(replaced.length, 'node')} → ${name}: ${border}\n${kernel}\n${files.map((file) => `Written: ${file}\n`).join('')}`,
      );
    }
    return exitCodes.done;
  },
};
