import { searchDocument, versionNote } from '../../searchChange.ts';
import { checkOutput, filesOfModel } from '../../../../kernel/node/files/writeResult.ts';
import { whatIf, type WhatIfRequest } from '../whatIf.ts';
import { requireBuild } from '../../../../kernel/node/store/buildFolder.ts';
import { toComparison } from '../../../diff/node/toComparison.ts';
import { note } from '../../../../kernel/document/document.ts';
import { renderText } from '../../../../kernel/document/render.ts';
import { diffDocument } from '../../../diff/diffReports.ts';
import { diffLength } from '../../../diff/node/cli/diff.ts';
import { forceOption, readArguments, wholeNumber } from '../../../../kernel/node/cli/arguments.ts';
import {
  type BuildValues,
  maxSecondsOf,
  readBuildOptions,
  textOf,
  trialArguments,
} from '../../../../kernel/node/cli/buildOptions.ts';
import { type Command, exitCodes, Usage } from '../../../../kernel/node/cli/command.ts';
import { pageKind, writeReport } from '../../../../kernel/node/cli/report.ts';
import { printJson, type Terminal } from '../../../../kernel/node/cli/terminal.ts';
import { buildRequest } from '../../../../kernel/node/cli/buildRequest.ts';
import { driverScript } from '../../../../kernel/node/cli/driverScript.ts';
import { searchChange, type SearchRequest } from '../searchChange.ts';

const searchKinds = ['break', 'separate', 'fuse'] as const;

/** As many changes are tried where the user does not say. */
const defaultBuilds = 24;

const searchArguments = {
  break: { type: 'string', multiple: true },
  separate: { type: 'string', multiple: true },
  fuse: { type: 'string', multiple: true },
  'max-builds': { type: 'string' },
  'max-seconds': { type: 'string' },
} as const;

const own = {
  unmark: { type: 'string' },
  cut: { type: 'string', multiple: true },
  add: { type: 'string' },
  remove: { type: 'string' },
  rules: { type: 'string' },
  opset: { type: 'string' },
  base: { type: 'string' },
  html: { type: 'string' },
  ...forceOption,
  ...searchArguments,
} as const;

const whatIfOptions = { ...trialArguments, ...own };

/** Options of a build that are a change here. */
const changedOptions = ['shapes', 'compute-capability'];
const changes = ['output', 'unmark', 'cut', 'add', 'remove', 'rules', 'opset', ...changedOptions];

export const whatIfCommand: Command = {
  help: `trtlens what-if MODEL.onnx --output T | --unmark T | --cut T | --add OP:T | --remove ID | --rules F | --opset N | --shapes S
                | --compute-capability C  [--base FOLDER] [build options] [--html FILE] [--json]
trtlens what-if MODEL.onnx --break NODES | --separate NODES | --fuse NODES
                [--max-builds N] [--max-seconds N] [--base FOLDER] [build options] [--json]

Builds the model as it is and with the change, and shows what changed, node by node. Without an NVIDIA GPU it builds with
TensorRT-RTX on the CPU. The result applies to this TensorRT version; another one may fuse differently.

  --output T              make tensor T an output; may be repeated
  --unmark T              make output T an inner tensor
  --cut T                 end the network at tensor T and continue after it with a new input; may be repeated
  --add OP:T              add nodes behind tensor T: Identity, Neg (twice) or Cast (to another type and back)
  --remove ID             remove a node whose output has the type and shape of its input
  --rules F               apply the rules of a .trtprec file
  --opset N               convert to another version of ONNX's operators, with Python's package onnx
  --shapes S              build for these shapes, for example x:1x3x224x224
  --compute-capability C  build for another GPU, for example 12.0 (TensorRT-RTX)
  --base FOLDER           an existing build of the unchanged model with the same options
  --html FILE             also write the comparison as one page, as 'trtlens diff --html' does
  --force                 overwrite FILE even if trtlens did not write it
  --json                  the JSON of 'trtlens diff --json', with "tensorrt" and "change"

The second form searches: it tries changes, two builds at a time, and ranks those that work by what they cost. NODES are
ids with commas, or a pattern of names such as '/layers.1/attn/**'; each option may be repeated.

  --break NODES           compute the nodes of a kernel, such as a fused attention, in several kernels
  --separate NODES        keep nodes out of the ForeignNode that they are in
  --fuse NODES            compute nodes of several kernels in one
  --max-builds N          try at most N changes (default: ${defaultBuilds})
  --max-seconds N         stop after N seconds with what was found so far
  --json                  { "tensorrt", "goal", "tried": [ { "option", "values", "results", "reached", "why", "kernels",
                          "reformats", "ms" } ], "left", "builds", "seconds" }

Other options of trtlens build apply to both builds.
`,
  options: whatIfOptions,
  run: async (args, terminal) => {
    const read = readArguments(args, whatIfOptions, ['MODEL.onnx'], {
      needs: { 'max-builds': searchKinds, 'max-seconds': searchKinds },
      without: Object.fromEntries(searchKinds.map((kind) => [kind, ['html']])),
    });
    const values: BuildValues = read.values;
    const { positionals } = read;
    const model = positionals[0]!;
    const asked = changes.filter((flag) => values[flag] !== undefined);
    const goals = searchKinds.filter((flag) => values[flag] !== undefined);
    if (asked.length + goals.length !== 1)
      throw new Usage(
        `pass one change (${changes.map((flag) => `--${flag}`).join(', ')}) or one goal (${searchKinds.map((flag) => `--${flag}`).join(', ')})`,
      );
    const base = textOf(values, 'base');
    const both = Object.fromEntries(Object.entries(values).filter(([flag]) => !changes.includes(flag)));
    const options = await buildRequest(model, both, terminal);
    const [goal] = goals;
    if (goal) return searchAndPrint({ options, kind: goal, base }, values, terminal);
    const rules = textOf(values, 'rules');
    const request: WhatIfRequest = {
      options,
      changed: {
        ...readBuildOptions(Object.fromEntries(changedOptions.map((flag) => [flag, values[flag]]))),
        ...(rules !== undefined && { overrides: rules }),
      },
      change: changeOf(values),
      base,
    };
    if (base !== undefined) await requireBuild(base);
    const html = textOf(values, 'html');
    if (html !== undefined) {
      await checkOutput(html, [...(await filesOfModel(model)), base, rules], pageKind(html));
    }
    const { diff, sides } = await whatIf(request, {}, terminal.signal);
    const { product, version } = diff.b;
    const change = `--${asked[0]} ${[values[asked[0]!]].flat().join(' ')}`;
    if (html !== undefined) await writeReport(html, toComparison(sides.a, sides.b, { a: sides.a.source, b: change }));
    if (values['json']) await printJson(terminal, { tensorrt: { product, version }, change, ...diff });
    else {
      const { title, blocks } = diffDocument(diff);
      const about = note(versionNote({ product, version }));
      await terminal.out(renderText({ title, blocks: [...blocks, about] }, diffLength));
    }
    return exitCodes.done;
  },
};

/** A change of the model itself; null: only options change. */
function changeOf(values: BuildValues): WhatIfRequest['change'] {
  const { cut, output } = values;
  const [unmark, add, remove, opset] = ['unmark', 'add', 'remove', 'opset'].map((flag) => textOf(values, flag));
  if (output !== undefined) return { outputs: [output].flat() as string[] };
  if (cut !== undefined) return { cuts: [cut].flat() as string[] };
  if (unmark !== undefined) return { unmark };
  if (remove !== undefined) return { remove };
  if (add !== undefined) {
    const colon = add.indexOf(':');
    if (colon < 1) throw new Usage(`--add: '${add}' does not have the form OP:TENSOR`);
    return { add: add.slice(0, colon), at: add.slice(colon + 1) };
  }
  const version = wholeNumber('--opset', opset);
  if (version === undefined) return null;
  const script = driverScript('convert_opset.py');
  return { opset: version, python: textOf(values, 'python'), script };
}

/** Searches for a change and prints what was found. Exit status 1: no change reaches the goal. */
async function searchAndPrint(
  request: Pick<SearchRequest, 'options' | 'kind' | 'base'>,
  values: BuildValues,
  terminal: Terminal,
): Promise<number> {
  const result = await searchChange(
    {
      ...request,
      nodes: [values[request.kind]].flat() as string[],
      maxBuilds: wholeNumber('--max-builds', textOf(values, 'max-builds')) ?? defaultBuilds,
      maxSeconds: maxSecondsOf(values),
    },
    (done, of, reached) => terminal.status(`${done} of ${of} changes tried, ${reached} work`),
    terminal.signal,
  ).finally(() => terminal.status(null));
  const { candidates: _, ...printed } = result;
  if (values['json']) await printJson(terminal, printed);
  else await terminal.out(renderText(searchDocument(result)));
  return result.tried.some(({ reached }) => reached) ? exitCodes.done : exitCodes.checkFailed;
}
