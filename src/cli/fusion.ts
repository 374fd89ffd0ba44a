import { readReport } from '../builder/store/readBuild.ts';
import { formatReport } from '../core/fusion/reportText.ts';
import { readArguments } from './arguments.ts';
import { type Command, exitCodes, Usage } from './command.ts';
import { printJson } from './terminal.ts';

/** The files of a build, as options of several commands. */
export const buildFileOptions = {
  onnx: { type: 'string' },
  layers: { type: 'string' },
  log: { type: 'string' },
  profile: { type: 'string' },
} as const;

/** Checks that there is enough to report on. */
export function requireBuildFiles(files: {
  onnx?: string | undefined;
  layers?: string | undefined;
  log?: string | undefined;
}): string {
  if (files.onnx === undefined) throw new Usage('--onnx MODEL.onnx is missing');
  if (files.layers === undefined && files.log === undefined)
    throw new Usage(
      'at least one of --layers LAYERS.json (from --exportLayerInfo) and --log BUILD.log (verbose) is needed',
    );
  return files.onnx;
}

export const fusion: Command = {
  name: 'fusion',
  summary: 'which nodes of a model TensorRT fused into which layers',
  help: `trtlens fusion --onnx MODEL.onnx [--layers LAYERS.json] [--log BUILD.log] [--profile PROFILE.json] [--json]

Joins what a build left behind with its model and says for every node what became of it.
At least one of --layers and --log is needed; each file may be gzip-compressed.

  --onnx FILE      the model that was built; its weights are not needed
  --layers FILE    layer info: trtexec --exportLayerInfo, or the engine inspector's JSON
  --log FILE       verbose build log of trtexec, Polygraphy, Python or trtlens
  --profile FILE   times of the layers: trtexec --exportProfile
  --json           the whole report as one JSON document
`,
  run: async (args, terminal) => {
    const { values } = readArguments(args, { ...buildFileOptions, json: { type: 'boolean' } });
    const onnx = requireBuildFiles(values);
    const { report } = await readReport({ ...values, onnx });
    if (values.json) await printJson(terminal, report);
    else await terminal.out(formatReport(report));
    return exitCodes.done;
  },
};
