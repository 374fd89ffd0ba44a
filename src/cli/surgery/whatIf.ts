import { join } from 'node:path';
import { whatIf, type WhatIfRequest } from '../../builder/run/whatIf.ts';
import { requireBuild } from '../../builder/store/buildFolder.ts';
import { diffText } from '../../core/diff/output/diffText.ts';
import { readArguments, wholeNumber } from '../arguments.ts';
import { buildArguments, type BuildValues, readBuildOptions, textOf } from '../build/buildOptions.ts';
import { type Command, exitCodes, Usage } from '../command.ts';
import { confirmDownload } from '../confirmDownload.ts';
import { printJson } from '../terminal.ts';

const own = {
  cut: { type: 'string' },
  remove: { type: 'string' },
  rules: { type: 'string' },
  opset: { type: 'string' },
  base: { type: 'string' },
} as const;

/** Options of a build that are a change here. */
const changes = ['output', 'shapes', 'compute-capability'];

export const whatIfCommand: Command = {
  name: 'what-if',
  summary: 'try a change and see what it does to fusion',
  help: `trtlens what-if MODEL.onnx --output T | --cut T | --remove ID | --rules F | --opset N | --shapes S | --compute-capability C
                [--base FOLDER] [build options] [--json]

Builds the model as it is and with the change, and shows what changed, node by node. Without an NVIDIA GPU it builds with
TensorRT-RTX on the CPU. The result applies to this TensorRT version; another one may fuse differently.

  --output T              make tensor T an output
  --cut T                 end the network at tensor T and continue after it with a new input
  --remove ID             remove a node whose output has the type and shape of its input
  --rules F               apply the rules of a .trtprec file
  --opset N               convert to another version of ONNX's operators, with Python's package onnx
  --shapes S              build for these shapes, for example x:1x3x224x224
  --compute-capability C  build for another GPU, for example 12.0 (TensorRT-RTX)
  --base FOLDER           an existing build of the unchanged model with the same options
  --json                  the JSON of 'trtlens diff --json', with "tensorrt" and "change"

Other options of trtlens build apply to both builds.
`,
  run: async (args, terminal) => {
    const read = readArguments(args, { ...buildArguments, ...own }, ['MODEL.onnx']);
    const values: BuildValues = read.values;
    const { positionals } = read;
    const model = positionals[0]!;
    const [cut, remove, rules, opset, base] = Object.keys(own).map((flag) => textOf(values, flag));
    const asked = [...changes, 'cut', 'remove', 'rules', 'opset'].filter((flag) => values[flag] !== undefined);
    if (asked.length !== 1)
      throw new Usage('pass one change: --output, --cut, --remove, --rules, --opset, --shapes or --compute-capability');
    const both = Object.fromEntries(Object.entries(values).filter(([flag]) => !changes.includes(flag)));
    const request: WhatIfRequest = {
      options: {
        backend: 'auto',
        ...readBuildOptions(both),
        model,
        driver: join(import.meta.dirname, 'driver', 'build_engine.py'),
        confirm: (text) => confirmDownload(terminal, values['yes'] === true, text),
        setUpProgress: (line) => terminal.note(line),
      },
      changed: {
        ...readBuildOptions(Object.fromEntries(Object.entries(values).filter(([flag]) => changes.includes(flag)))),
        ...(rules !== undefined && { overrides: rules }),
      },
      change: changeOf({ cut, remove, opset, python: textOf(values, 'python') }),
      base,
    };
    if (base !== undefined) await requireBuild(base);
    const { diff } = await whatIf(request, {}, terminal.signal);
    const { product, version } = diff.b;
    const change = `--${asked[0]} ${String(values[asked[0]!])}`;
    if (values['json']) await printJson(terminal, { tensorrt: { product, version }, change, ...diff });
    else {
      const name = `${product === 'tensorrt-rtx' ? 'TensorRT-RTX' : 'TensorRT'} ${version ?? ''}`.trim();
      await terminal.out(`${diffText(diff)}This is the result of ${name}; another version may fuse differently.\n`);
    }
    return exitCodes.done;
  },
};

/** A change of the model itself; null: only options change. */
function changeOf({ cut, remove, opset, python }: Record<string, string | undefined>): WhatIfRequest['change'] {
  if (cut !== undefined) return { cut };
  if (remove !== undefined) return { remove };
  const version = wholeNumber('--opset', opset);
  if (version === undefined) return null;
  return { opset: version, python, script: join(import.meta.dirname, 'driver', 'convert_opset.py') };
}
