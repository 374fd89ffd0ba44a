import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { filesOfBuild, requireBuild } from '../store/buildFolder.ts';
import { checkEachOutput, filesOfModel, writeResult } from '../files/writeResult.ts';
import { loadBuild, loadFiles } from '../store/loadBuild.ts';
import { loadEngine, toEngineView } from '../store/loadEngine.ts';
import { toViewData } from '../store/viewData.ts';
import { fileTrouble, UserError } from '../files/userError.ts';
import { chromeTrace, modelExplorerData, modelExplorerSets } from '../../picture/page/fusionTimeline.ts';
import type { ViewData } from '../../picture/graph/viewData.ts';
import { forceOption, readArguments } from './arguments.ts';
import { type Command, exitCodes, Usage } from './command.ts';
import {
  buildFileOptions,
  buildNumberOf,
  filesWith,
  profileNumberOf,
  requireBuildFiles,
  requireEngineFiles,
  withMarkedBuild,
} from './fusion.ts';
import { buildFileForms } from './fusion.ts';

const options = {
  ...buildFileOptions,
  build: { type: 'string' },
  marked: { type: 'string' },
  out: { type: 'string', short: 'o' },
  'model-explorer': { type: 'string' },
  perfetto: { type: 'string' },
  ...forceOption,
} as const;

/** What it writes, in the help of what takes these options. */
export const reportHelp = `  -o, --out FILE       the file to write; only the page's data if the name ends in .json
  --model-explorer DIR write fate, kernel, type and time of each node as custom node data for Model Explorer
  --force              overwrite files that trtlens did not write
  --perfetto FILE      write layers, kernels and the stages of the build as a trace for Perfetto or chrome://tracing
`;

export const report: Command = {
  help: `trtlens report --onnx MODEL.onnx [--layers F] [--log F] [--profile F] -o report.html
trtlens report [--layers F] [--log F] [--profile F] -o report.html
trtlens report --build FOLDER [--onnx MODEL.onnx] -o report.html
trtlens report … [--model-explorer DIR] [--perfetto FILE] [-o report.html]

Writes one self-contained page with the graph and the fusion view. The page loads nothing.
Without --onnx, the graph is that of the engine: its layers, kernels and tensors.

  --ncu FILE           counters of kernels: what ncu --csv --page raw prints
  --nsys PROGRAM       the nsys that reads a .nsys-rep file as --profile
  --build-number N     the N-th build in the log, from 1
  --optimization-profile N  the engine's optimization profile, from 0
  --ort-log FILE       verbose log of ONNX Runtime: which execution provider runs each node
  --build FOLDER       a build folder of trtlens instead of the files
  --marked BUILD       what the fusion in each layer saved, as for trtlens show: columns of the table of layers
${reportHelp}`,
  options,
  run: async (args, terminal) => {
    const { values } = readArguments(args, options, [], buildFileForms);
    const { out: output, perfetto, 'model-explorer': folder } = values;
    if (output === undefined && perfetto === undefined && folder === undefined)
      throw new Usage('-o report.html is missing');
    const sets = folder === undefined ? [] : modelExplorerSets.map((name) => join(folder, `${name}.json`));
    const outputs: Results = [
      [output, pageKind(output)],
      [perfetto, 'trace'],
      ...sets.map((path) => [path, 'node-data'] as const),
    ];
    const data =
      values.build === undefined ? await ofFiles(values, outputs) : await ofBuild(values.build, values, outputs);
    if (values.marked !== undefined) {
      if (data.report === null) throw new Usage('--marked needs the layers of a build');
      data.report = await withMarkedBuild(data.report, values.marked, filesWith(values));
    }
    // Before anything is written: a command that fails leaves nothing.
    const trace = perfetto === undefined ? undefined : traceOf(data);
    const written: string[] = [];
    if (output !== undefined) written.push(await writeReport(output, data));
    if (perfetto !== undefined) written.push(await writeTrace(perfetto, trace!));
    if (folder !== undefined) written.push(...(await writeNodeData(folder, data)));
    terminal.note(`Written: ${written.join(', ')}`);
    return exitCodes.done;
  },
};

type Results = Parameters<typeof checkEachOutput>[0];

/** What `writeReport` writes to a file of this name. */
export const pageKind = (output = ''): 'page' | 'data' => (output.endsWith('.json') ? 'data' : 'page');

/** Writes the page, or its data alone where the name ends in `.json`. */
export async function writeReport(output: string, data: ViewData): Promise<string> {
  const kind = pageKind(output);
  await writeResult(output, kind === 'data' ? JSON.stringify(data) : await page(data), kind);
  return output;
}

/** @throws {UserError} if no time is known */
function traceOf({ report, build }: ViewData): object {
  const trace = report && chromeTrace(report, build);
  if (!trace) throw new UserError('There are no times for a trace: pass --profile, or build with --profile-run');
  return trace;
}

async function writeTrace(output: string, trace: object): Promise<string> {
  await writeResult(output, JSON.stringify(trace), 'trace');
  return output;
}

/** Each set of values in a file of its own, as Model Explorer loads them. */
async function writeNodeData(folder: string, { graph, report }: ViewData): Promise<string[]> {
  const sets = graph && report ? modelExplorerData(graph, report) : [];
  const paths = sets.map(({ name }) => join(folder, `${name}.json`));
  for (const [at, { data }] of sets.entries())
    // oxlint-disable-next-line no-await-in-loop -- four files
    await writeResult(paths[at]!, JSON.stringify(data), 'node-data');
  return paths;
}

interface Values {
  onnx?: string;
  layers?: string;
  log?: string;
  profile?: string;
  ncu?: string;
  nsys?: string;
  'ort-log'?: string;
  'build-number'?: string;
  'optimization-profile'?: string;
}

async function ofFiles(values: Values, outputs: Results): Promise<ViewData> {
  const { log, layers, profile } = values;
  const buildNumber = buildNumberOf(values['build-number']);
  const optimizationProfile = profileNumberOf(values);
  if (values.onnx === undefined) {
    requireEngineFiles(values);
    await checkEachOutput(outputs, [log, layers, profile]);
    return toEngineView(await loadEngine({ ...values, buildNumber, optimizationProfile }, filesWith(values)));
  }
  const onnx = requireBuildFiles(values);
  await checkEachOutput(outputs, [...(await filesOfModel(onnx)), log, layers, profile]);
  const given = { ...values, ortLog: values['ort-log'], onnx, buildNumber, optimizationProfile };
  return toViewData(await loadFiles(given, filesWith(values)));
}

async function ofBuild(folder: string, values: Values, outputs: Results): Promise<ViewData> {
  const { onnx } = values;
  const build = await requireBuild(folder);
  const model = onnx ?? resolve(folder, build.manifest.model.file);
  await checkEachOutput(outputs, [...(await filesOfModel(model)), ...filesOfBuild(build)]);
  return toViewData(await loadBuild(build, { onnx: model, optimizationProfile: profileNumberOf(values) }));
}

/** The page of some data: its code and style are next to this bundle. */
async function page(data: ViewData): Promise<string> {
  const folder = join(import.meta.dirname, 'webview');
  const read = (name: string) =>
    readFile(join(folder, name), 'utf8').catch((error: unknown) => {
      throw fileTrouble(join(folder, name), error);
    });
  return reportPage(data, await read('report.css'), await read('report.js'));
}

/** A page that loads nothing: its policy allows this style and this script alone, by their hashes. */
export function reportPage(data: ViewData, style: string, script: string): string {
  // In code, `<\/script` means the same; in JSON, `\u003c` does.
  const code = script.replaceAll(/<\/(script)/gi, '<\\/$1');
  const json = JSON.stringify(data).replaceAll('<', '\\u003c');
  const policy = `default-src 'none'; script-src ${hash(code)}; style-src ${hash(style)}; worker-src blob:; img-src data: blob:; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta http-equiv="Content-Security-Policy" content="${policy}" />
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>TensorRT Lens</title>
    <link rel="icon" href="data:," />
    <style id="style">${style}</style>
  </head>
  <body>
    <div id="root"></div>
    <script type="application/json" id="view-data">${json}</script>
    <script id="script">${code}</script>
  </body>
</html>
`;
}

const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
