import {
  migrateCalibration,
  type Quantisation,
  readQuantisation,
  type TensorScale,
} from '../builder/quantisation/quantisation.ts';
import { counted, sizeText } from '../core/text/numbers.ts';
import { readArguments } from './arguments.ts';
import { type Command, exitCodes, Usage } from './command.ts';
import { printJson, type Terminal } from './terminal.ts';

const options = {
  cache: { type: 'string' },
  build: { type: 'string' },
  output: { type: 'string', short: 'o' },
  json: { type: 'boolean' },
} as const;

export const quantisation: Command = {
  name: 'quantisation',
  summary: 'show scales and what became of Q/DQ nodes; turn a calibration cache into Q/DQ nodes',
  help: `trtlens quantisation MODEL.onnx [--cache F] [--build FOLDER] [--json]
trtlens quantisation migrate MODEL.onnx --cache F -o OUT.onnx [--json]

Lists the scale of each tensor, what a build made of each Q/DQ pair (fused, moved, a kernel of its own, a reformat),
placements that can prevent INT8 kernels with their fix, and parts that stay in floating point between INT8 nodes. migrate
writes a model with Q/DQ nodes that have the scales of a calibration cache, which TensorRT 11 does not read.

  --cache F        a calibration cache of TensorRT 10 or earlier
  --build FOLDER   a build of the model
  -o OUT.onnx      the model with Q/DQ nodes
  --json           { "tensors": [ { tensor, scale, count, source } ], "pairs": [ { tensor, constant, quantize, dequantize,
                   fate, why, fix } ], "misplaced": [ { code, nodes, message, fix } ], "islands": [ { nodes, bytes } ] };
                   migrate: { "activations", "weights", "skipped": [ { node, name, reason } ], "unused", "model" }
`,
  run: async (args, terminal) => {
    if (args[0] === 'migrate') return migrate(args.slice(1), terminal);
    const { values, positionals } = readArguments(args, options, ['MODEL.onnx']);
    if (values.output !== undefined) throw new Usage('-o belongs to quantisation migrate');
    const { cache, build } = values;
    const found = await readQuantisation({ path: positionals[0]!, cache, build });
    if (values.json) await printJson(terminal, found);
    else await terminal.out(text(found));
    return exitCodes.done;
  },
};

async function migrate(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments(args, options, ['MODEL.onnx']);
  const { cache, output, build } = values;
  if (build !== undefined) throw new Usage('--build cannot be combined with migrate');
  if (cache === undefined) throw new Usage('--cache F is missing');
  if (output === undefined) throw new Usage('-o OUT.onnx is missing');
  const made = await migrateCalibration({ path: positionals[0]!, cache, out: output }, terminal.signal);
  if (values.json) await printJson(terminal, made);
  else {
    const { activations, weights, skipped, unused, model } = made;
    await terminal.out(
      [
        `${counted(activations.length, 'activation')} and ${counted(weights.length, 'weight tensor')} have Q/DQ nodes now.\n`,
        ...skipped.map(({ node, name, reason }) => `${name || `node ${node}`} stays in floating point: ${reason}.\n`),
        ...(unused.length > 0
          ? [`Without effect: the scales of ${counted(unused.length, 'tensor')} (--json lists them).\n`]
          : []),
        `Written: ${model}\n`,
      ].join(''),
    );
  }
  return exitCodes.done;
}

function text({ tensors, pairs, misplaced, islands }: Quantisation): string {
  if (tensors.length === 0) return 'The model has no Q/DQ nodes, and no calibration cache was given.\n';
  const fates = new Map<string, number>();
  for (const { fate, constant } of pairs) if (!constant) fates.set(fate, (fates.get(fate) ?? 0) + 1);
  const counts = [...fates].map(([fate, count]) => `${count} ${fate}`).join(', ');
  const own = pairs.filter(({ fate }) => fate === 'kernel' || fate === 'reformat');
  return [
    ...tensors.map(scaleLine),
    ...(counts === '' ? [] : [`Pairs of activations: ${counts}\n`]),
    ...own.map(({ tensor, fate, why, fix }) => `${tensor}: ${fate}. ${why}${fix === null ? '' : ` ${fix}`}\n`),
    ...misplaced.map(({ code, message, fix }) => `${code}: ${message} ${fix}\n`),
    ...islands.map(
      ({ nodes, bytes }) =>
        `In floating point between INT8 nodes: ${nodes.slice(0, 8).join(', ')}${nodes.length > 8 ? ` and ${nodes.length - 8} more` : ''}${bytes === null ? '' : `; ${sizeText(bytes)} go in and out`}\n`,
    ),
  ].join('');
}

const scaleLine = ({ tensor, scale, count, source }: TensorScale): string => {
  const several = count !== null && count > 1 ? `${count} scales, largest ` : 'scale ';
  const range = scale === null ? 'of unknown value' : `${scale.toPrecision(6)} (±${(scale * 127).toPrecision(4)})`;
  return `${tensor}: ${several}${range}${source === 'cache' ? ', calibrated' : ''}\n`;
};
