import { basename } from 'node:path';
import { migrateCalibration } from '../migrateCalibration.ts';
import { withObservedValues } from '../../../../kernel/node/simulation/observeValues.ts';
import { readBuildSide } from '../../../../kernel/node/store/buildSide.ts';
import { loadFiles } from '../../../../kernel/node/store/loadBuild.ts';
import { readQuantization } from '../readQuantization.ts';
import type { FusionReport } from '../../../../kernel/fusion/fusionReport.ts';
import type { Document } from '../../../../kernel/document/document.ts';
import { renderText } from '../../../../kernel/document/render.ts';
import { type Quantization } from '../../../../kernel/quantization/quantization.ts';
import { quantizationDocument } from '../../../../kernel/quantization/calibration.ts';
import { counted, oneLine } from '../../../../kernel/base/text.ts';
import { runtimeFor } from '../../../../kernel/node/cli/runtimeFor.ts';
import { forceOption, readArguments } from '../../../../kernel/node/cli/arguments.ts';
import { type Command, exitCodes, Usage } from '../../../../kernel/node/cli/command.ts';
import { printJson, type Terminal } from '../../../../kernel/node/cli/terminal.ts';
import { driverScript } from '../../../../kernel/node/cli/driverScript.ts';

const options = {
  'calibration-cache': { type: 'string' },
  build: { type: 'string' },
  layers: { type: 'string' },
  inputs: { type: 'string', multiple: true },
  python: { type: 'string' },
  yes: { type: 'boolean', short: 'y' },
  out: { type: 'string', short: 'o' },
  ...forceOption,
  json: { type: 'boolean' },
} as const;

export const quantization: Command = {
  help: `trtlens quantize MODEL.onnx [--calibration-cache F] [--build FOLDER] [--inputs F]… [--json]
trtlens quantize migrate MODEL.onnx --calibration-cache F [--layers F | --build FOLDER] -o OUT.onnx [--json]

Lists the scale of each tensor, what a build made of each Q/DQ pair (fused, moved, a kernel of its own, a reformat),
placements that can prevent quantized kernels with their fix, and parts that stay in floating point between quantized nodes. With
--inputs, ONNX Runtime runs the model and counts the values of each tensor that are beyond the range of its scale. migrate
writes a model with Q/DQ nodes that have the scales of a calibration cache, which TensorRT 11 does not read; with the
layer info of an engine that was built with the cache, exactly where that engine computes in INT8.

  --calibration-cache F   a calibration cache of TensorRT 10 or earlier
  --build FOLDER   a build of the model; for migrate one with --int8
  --layers F       for migrate: layer info of an engine that was built with --int8 and --profilingVerbosity=detailed
  --inputs F       samples: .npz, .npy, JSON of Polygraphy or trtexec, or a folder of them; can be repeated
  --python PATH    the Python interpreter for ONNX Runtime
  -y, --yes        agree to the download of ONNX Runtime
  -o OUT.onnx      the model with Q/DQ nodes
  --force          overwrite OUT.onnx even if trtlens did not write it
  --json           { "tensors": [ { tensor, scale, count, source, nodes, type, range,
                   observed: { values, clipped, clippedShare, largest } (with --inputs) } ], "pairs": [ { tensor,
                   constant, quantize, dequantize, fate, why, fix } ], "misplaced": [ { code, nodes, message, fix } ],
                   "islands": [ { nodes, first, bytes, ms } ], "samples": with --inputs,
                   "notes": of the cache };
                   migrate: { "activations", "weights", "skipped": [ {
                   node, name, reason } ], "unused", "notes", "floating" (with an engine), "model" }
`,
  options,
  subcommands: ['migrate'],
  run: async (args, terminal) => {
    if (args[0] === 'migrate') return migrate(args.slice(1), terminal);
    const { values, positionals } = readArguments(args, options, ['MODEL.onnx']);
    if (values.out !== undefined) throw new Usage('-o belongs to quantize migrate');
    if (values.layers !== undefined) throw new Usage('--layers belongs to quantize migrate');
    const { 'calibration-cache': cache, build, inputs = [] } = values;
    const path = positionals[0]!;
    const read = await readQuantization({ path, cache, build });
    const found =
      inputs.length === 0
        ? read
        : await withObservedValues(
            read,
            {
              model: path,
              inputs,
              runtime: await runtimeFor(values, terminal),
              script: driverScript('simulate.py'),
              signal: terminal.signal,
            },
            cache ?? null,
          );
    if (values.json) await printJson(terminal, found);
    else await terminal.out(renderText(toDocument(found, path, build, cache)));
    return exitCodes.done;
  },
};

async function migrate(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments(args, options, ['MODEL.onnx']);
  const { 'calibration-cache': cache, out } = values;
  for (const name of ['inputs', 'python', 'yes'] as const)
    if (values[name] !== undefined) throw new Usage(`--${name} cannot be combined with migrate`);
  if (values.build !== undefined && values.layers !== undefined)
    throw new Usage('pass only one of --build and --layers');
  if (cache === undefined) throw new Usage('--calibration-cache F is missing');
  if (out === undefined) throw new Usage('-o OUT.onnx is missing');
  const engine = await engineOf(positionals[0]!, values);
  const made = await migrateCalibration({ path: positionals[0]!, cache, out, engine }, terminal.signal);
  if (values.json) await printJson(terminal, made);
  else {
    const { activations, weights, skipped, unused, notes, floating, model } = made;
    await terminal.out(
      [
        `${counted(activations.length, 'activation')} and ${counted(weights.length, 'weight tensor')} have Q/DQ nodes now.\n`,
        ...skipped.map(
          ({ node, name, reason }) => `${oneLine(name) || `node ${node}`} stays in floating point: ${reason}.\n`,
        ),
        ...(floating === undefined ? [] : [`${asEngine(floating)}\n`]),
        ...(unused.length > 0
          ? [`Without effect: the scales of ${counted(unused.length, 'tensor')} (--json lists them).\n`]
          : []),
        ...notes.map((note) => `${note}\n`),
        `Written: ${model}\n`,
      ].join(''),
    );
  }
  return exitCodes.done;
}

/** An implicit INT8 build of the model; null: none is given. */
async function engineOf(
  onnx: string,
  { build, layers }: { build?: string | undefined; layers?: string | undefined },
): Promise<FusionReport | null> {
  if (build !== undefined) return (await readBuildSide(build, onnx)).report;
  return layers === undefined ? null : (await loadFiles({ onnx, layers })).report;
}

/** Which nodes an engine left in floating point. */
const asEngine = (floating: readonly string[]): string =>
  floating.length === 0
    ? 'The engine computes every node in INT8 that the cache has scales for.'
    : `In floating point, as in the engine: ${floating
        .slice(0, 5)
        .map((name) => oneLine(name))
        .join(', ')}${floating.length > 5 ? `, and ${counted(floating.length - 5, 'more node')}` : ''}.`;

function toDocument(found: Quantization, path: string, build?: string, cache?: string): Document {
  return quantizationDocument(found, {
    title: basename(path),
    build: build ?? null,
    cache: cache ?? null,
    nameOf: (id) => `node ${id}`,
    actions:
      build === undefined && found.pairs.length > 0
        ? [{ label: 'See what TensorRT made of them', command: 'trtlens quantize MODEL.onnx --build FOLDER' }]
        : [],
  });
}
