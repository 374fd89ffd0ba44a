import { loadFiles } from '../builder/store/loadBuild.ts';
import { readArguments } from './arguments.ts';
import { type Command, exitCodes, Usage } from './command.ts';
import { printJson } from './terminal.ts';
import { formatReport } from '../core/report/reportText.ts';

/** The files of a build, as options of several commands. */
export const buildFileOptions = {
  onnx: { type: 'string' },
  layers: { type: 'string' },
  log: { type: 'string' },
  profile: { type: 'string' },
  'build-number': { type: 'string' },
} as const;

/** The number of a build in a log, from 1. */
export function buildNumberOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Usage(`--build-number '${text}' is not a positive integer`);
  return Number(text);
}

/** Checks that there is enough to report on. */
export function requireBuildFiles(files: {
  onnx?: string | undefined;
  layers?: string | undefined;
  log?: string | undefined;
}): string {
  if (files.onnx === undefined) throw new Usage('--onnx MODEL.onnx is missing');
  if (files.layers === undefined && files.log === undefined)
    throw new Usage('pass --layers LAYERS.json (from --exportLayerInfo), --log BUILD.log (verbose), or both');
  return files.onnx;
}

export const fusion: Command = {
  name: 'fusion',
  summary: 'show which nodes TensorRT fused into which layers',
  help: `trtlens fusion --onnx MODEL.onnx [--layers LAYERS.json] [--log BUILD.log] [--profile PROFILE.json] [--json]

Joins the output of a build with its model and reports what happened to every node.
Needs --layers, --log or both; each file may be gzip-compressed.

  --onnx FILE      the model that was built; its weights are not needed
  --layers FILE    layer info: trtexec --exportLayerInfo, or the engine inspector's JSON
  --log FILE       verbose build log of trtexec, Polygraphy, Python or trtlens
  --profile FILE   layer times: trtexec --exportProfile
  --build-number N the N-th build in the log, from 1; default: the last that fits the model
  --json           the report as one JSON document
`,
  run: async (args, terminal) => {
    const { values } = readArguments(args, { ...buildFileOptions, json: { type: 'boolean' } });
    const onnx = requireBuildFiles(values);
    const { report } = await loadFiles({ ...values, onnx, buildNumber: buildNumberOf(values['build-number']) });
    if (values.json) await printJson(terminal, report);
    else await terminal.out(formatReport(report));
    return exitCodes.done;
  },
};
