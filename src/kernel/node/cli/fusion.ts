import { commandSteps } from './commandSteps.ts';
import { join } from 'node:path';
import { foreignTitle } from '../../report/words.ts';
import { ParsedFiles } from '../files/parsedFiles.ts';
import { withMarkedTimes } from '../../fusion/createReport.ts';
import { exportingWith } from '../tools/exportTrace.ts';
import { withFigures } from '../store/buildFigures.ts';
import { loadEngine } from '../store/loadEngine.ts';
import { readBuildSide } from '../store/buildSide.ts';
import { requireBuild } from '../store/buildFolder.ts';
import { loadFiles } from '../store/loadBuild.ts';
import type { BuildLog } from '../../read/tensorrt/buildOutput.ts';
import { renderText } from '../../document/render.ts';
import { explainTactics } from '../../read/replay/readChoices.ts';
import type { FusionReport, ReportForeignNode, ReportLayer, ReportNode } from '../../fusion/fusionReport.ts';
import { similarText } from '../../base/text.ts';
import {
  findNodes,
  formatMembers,
  formatNode,
  formatReport,
  memoryDocument,
  nodeFacts,
} from '../../report/reportText.ts';
import { formatWhy, whyNotFused } from '../../report/whyNotFused.ts';
import { UserError } from '../files/userError.ts';
import { allBut, readArguments, wholeNumber } from './arguments.ts';
import { type Command, exitCodes, Usage } from './command.ts';
import { confirmDownload, printJson, type Terminal } from './terminal.ts';
import { driverScript } from './driverScript.ts';

/** The files of a build, as options of several commands. */
export const buildFileOptions = {
  onnx: { type: 'string' },
  layers: { type: 'string' },
  log: { type: 'string' },
  profile: { type: 'string' },
  ncu: { type: 'string' },
  nsys: { type: 'string' },
  'ort-log': { type: 'string' },
  'build-number': { type: 'string' },
  'optimization-profile': { type: 'string' },
} as const;

/** What a build folder has itself, and what only files need. */
export const buildFileForms = {
  needs: { nsys: ['profile', 'marked'], 'build-number': ['log'], 'ort-log': ['onnx'] },
  without: { build: allBut(buildFileOptions, 'onnx', 'nsys', 'optimization-profile') },
} as const;

/** The number of a build in a log, from 1. */
export function buildNumberOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Usage(`--build-number '${text}' is not a positive integer`);
  return Number(text);
}

/** Values of `buildFileOptions`. */
export type BuildFileValues = { [Name in keyof typeof buildFileOptions]?: string | undefined };

/** The number of an optimization profile, from 0. */
export const profileNumberOf = (values: BuildFileValues): number | undefined =>
  wholeNumber('--optimization-profile', values['optimization-profile']);

/** Reads the files of a build with the programs that the options name; with none for an empty name. */
export const filesWith = ({ nsys }: BuildFileValues): ParsedFiles =>
  nsys === '' ? new ParsedFiles() : new ParsedFiles({ exportTrace: exportingWith(() => nsys ?? 'nsys') });

/** Checks that there is a file that lists layers, where there is no model. */
export function requireEngineFiles({ layers, log, profile }: BuildFileValues): void {
  if (layers === undefined && log === undefined && profile === undefined)
    throw new Usage('pass --onnx MODEL.onnx with --layers or --log, or without the model --layers, --log or --profile');
}

/** Checks that there is enough to report on. */
export function requireBuildFiles(files: BuildFileValues): string {
  if (files.onnx === undefined) throw new Usage('--onnx MODEL.onnx is missing');
  if (files.layers === undefined && files.log === undefined && files['ort-log'] === undefined)
    throw new Usage('pass --layers LAYERS.json (from --exportLayerInfo), --log BUILD.log (verbose), or both');
  return files.onnx;
}

const options = {
  ...buildFileOptions,
  build: { type: 'string' },
  json: { type: 'boolean' },
  nodes: { type: 'string' },
  group: { type: 'string' },
  why: { type: 'string' },
  tactics: { type: 'string' },
  memory: { type: 'boolean' },
  'fixed-shapes': { type: 'boolean' },
  marked: { type: 'string' },
  yes: { type: 'boolean', short: 'y' },
} as const;

/** Its options, in the help of what takes them. */
export const fusionHelp = `  --build FOLDER   a build folder of trtlens instead of its files
  --onnx FILE      the model that was built; its weights are not needed
  --layers FILE    layer info: trtexec --exportLayerInfo, or the engine inspector's JSON
  --log FILE       verbose build log of trtexec, Polygraphy, Python or trtlens
  --profile FILE   layer times: trtexec --exportProfile, or a trace of Nsight Systems (.nsys-rep or SQLite)
  --ncu FILE       counters of kernels: what ncu --csv --page raw prints
  --nsys PROGRAM   the nsys that reads a .nsys-rep file; default: the one on the PATH
  --ort-log FILE   verbose log of ONNX Runtime (log_severity_level=0), or the EPContext model that it wrote: which
                   execution provider runs each node
  --build-number N the N-th build in the log, from 1; default: the last that fits the model
  --optimization-profile N  the engine's optimization profile, from 0; default: 0
  --nodes NAME     only the nodes of this name, or the node of this id: fate, evidence, layers, neighbors
  --group N        only ForeignNode N: its kernels in order with the nodes that each computes
  --why NAME       why a node (name or id), or the nodes of a layer or of "ForeignNode N", are not computed together with
                   their neighbors: what other layers compute around them, the condition that fails, and what to try
  --tactics NAME   of a node or layer: the tactics that the log timed, and why TensorRT took this one
  --memory         where the engine's memory goes: what the log records, and what is alive at the peak (estimated)
  --fixed-shapes   with --build: also builds the model for the usual shapes with TensorRT-RTX, once, and says what the
                   open dimensions cost; the answer stays in FOLDER
  --marked BUILD   a build folder, or a report of --json, with a profile, of the same model in more kernels, such as
                   with --all-outputs: what the fusion in each layer saved, in time, launches and bytes
  -y, --yes        agree to the download of TensorRT-RTX
  --json           the report, or what --nodes, --group or --why selects, as one JSON document
`;

export const fusion: Command = {
  help: `trtlens fusion --onnx MODEL.onnx [--layers LAYERS.json] [--log BUILD.log] [--profile PROFILE.json] [--ort-log ORT.log]
               [--json] [--nodes NAME | --group N | --why NAME | --tactics NAME | --memory]
trtlens fusion [--layers LAYERS.json] [--log BUILD.log] [--profile PROFILE.json] [--json]
trtlens fusion --build FOLDER [--onnx MODEL.onnx] [--optimization-profile N] [--json] [--nodes NAME | --group N | --why NAME | --tactics NAME | --memory | --fixed-shapes [--yes]]

Joins the output of a build with its model and reports what happened to every node.
Needs --layers, --log or both; each file may be gzip-compressed. Without --onnx, one of
the three is enough: the report covers the engine's layers, and its nodes are unknown.

${fusionHelp}
Exit status 1: the files say nothing about the build, because they are something else or damaged. 2: they are of
another model.
`,
  options,
  run: async (args, terminal) => {
    const { values } = readArguments(args, options, [], {
      needs: { ...buildFileForms.needs, nsys: ['profile'], 'fixed-shapes': ['build'] },
      without: { ...buildFileForms.without, marked: ['memory', 'tactics'] },
    });
    if (
      [values.nodes, values.group, values.why, values.tactics, values.memory].filter((part) => part !== undefined)
        .length > 1
    )
      throw new Usage('pass only one of --nodes, --group, --why, --tactics and --memory');
    if (values.nsys && !values.profile?.endsWith('.nsys-rep'))
      throw new Usage('--nsys needs --profile TRACE.nsys-rep: nothing else is read with it');
    if (values['fixed-shapes']) await findCost(values.build!, values.yes === true, terminal);
    const files = filesWith(values);
    const plain = await reportOf(values, files);
    const foreign = plain.problems.find(({ code }) => code === 'other-model');
    if (foreign) throw new UserError(foreign.message);
    const report = values.marked === undefined ? plain : await withMarkedBuild(plain, values.marked, files);
    const members = wholeNumber('--group', values.group);
    if (values.tactics !== undefined) {
      const log = await logOf(values, report, files);
      const documents = layersNamed(report, values.tactics).map((layer) => explainTactics(report, layer, log));
      if (values.json) await printJson(terminal, { tactics: documents });
      else await terminal.out(documents.map((one) => renderText(one)).join('\n'));
    } else if (values.memory) {
      const document = memoryDocument(report, await logOf(values, report, files));
      if (values.json) await printJson(terminal, document);
      else await terminal.out(renderText(document));
    } else if (values.nodes !== undefined) {
      const nodes = nodesOf(report, values.nodes);
      if (values.json) await printJson(terminal, { nodes: nodes.map((node) => nodeFacts(report, node)) });
      else await terminal.out(nodes.map((node) => formatNode(report, node)).join('\n'));
    } else if (values.why !== undefined) {
      const parts = askedFor(report, values.why);
      if (values.json) await printJson(terminal, { why: parts.map(({ nodes }) => whyNotFused(report, nodes)) });
      else await terminal.out(parts.map(({ nodes, title }) => formatWhy(report, nodes, title)).join('\n'));
    } else if (members !== undefined) {
      const foreign = foreignOf(report, members);
      const layers = foreign.layers.flatMap((id) => report.layers[id] ?? []);
      const ids = new Set(foreign.nodes);
      const nodes = report.nodes.filter(({ id }) => ids.has(id));
      if (values.json) await printJson(terminal, { foreignNode: foreign, layers, nodes });
      else await terminal.out(formatMembers(report, foreign));
    } else if (values.json) await printJson(terminal, report);
    else await terminal.out(formatReport(report));
    return saysNothing(report) ? exitCodes.checkFailed : exitCodes.done;
  },
};

/** Finds out what the open dimensions of a build cost, and keeps it there. */
async function findCost(build: string | undefined, yes: boolean, terminal: Terminal): Promise<void> {
  if (build === undefined) throw new Usage('--fixed-shapes needs --build FOLDER');
  const how = {
    driver: driverScript('build_engine.py'),
    confirm: (text: string) => confirmDownload(terminal, yes, text),
    setUpProgress: (line: string) => terminal.note(line),
  };
  terminal.status('Building for fixed shapes');
  await commandSteps.dynamicShapesCost(build, how, {}, terminal.signal).finally(() => terminal.status(null));
}

/** @throws {UserError} where one of the two has no times */
export async function withMarkedBuild(report: FusionReport, path: string, files: ParsedFiles): Promise<FusionReport> {
  const { report: marked } = await readBuildSide(path, undefined, files);
  const untimed = [report, marked].find(({ layers }) => layers.every(({ averageMs }) => averageMs === null));
  if (untimed !== undefined)
    throw new UserError(
      `${untimed === marked ? path : 'The build'} has no times of layers. Pass --profile, or build it with --profile-run`,
    );
  const joined = withMarkedTimes(report, marked);
  if (joined.layers.some(({ saved }) => saved !== undefined && saved.ms !== null)) return joined;
  throw new UserError(`${path} has no times for the nodes of this model. Pass a build of the same model`);
}

/** No given file contains anything on the build. */
const saysNothing = ({ layers, foreignNodes, placement, accounting }: FusionReport): boolean =>
  layers.length + foreignNodes.length === 0 && placement === undefined && accounting.unknown === accounting.total;

/** The report on a build, or without `--onnx` on its engine alone. */
async function reportOf(
  values: BuildFileValues & { nodes?: string | undefined; why?: string | undefined; build?: string | undefined },
  files: ParsedFiles,
): Promise<FusionReport> {
  if (values.build !== undefined) return reportOfBuild(values.build, values, files);
  const given = {
    ...values,
    ortLog: values['ort-log'],
    buildNumber: buildNumberOf(values['build-number']),
    optimizationProfile: profileNumberOf(values),
  };
  if (values.onnx !== undefined)
    return withFigures(await loadFiles({ ...given, onnx: requireBuildFiles(values) }, files));
  requireEngineFiles(values);
  if (values['ort-log'] !== undefined) throw new Usage('--ort-log needs --onnx MODEL.onnx: it names nodes');
  if (values.nodes !== undefined)
    throw new Usage('--nodes needs --onnx MODEL.onnx: without the model there are no nodes');
  if (values.why !== undefined) throw new Usage('--why needs --onnx MODEL.onnx: without the model there are no nodes');
  return (await loadEngine(given, files)).report;
}

async function reportOfBuild(folder: string, values: BuildFileValues, files: ParsedFiles): Promise<FusionReport> {
  const { report, figures } = await readBuildSide(folder, values.onnx, files, profileNumberOf(values));
  return { ...report, ...(figures && { figures }) };
}

/** The log that the report was made from; null: none was given. */
async function logOf(
  { log, build }: BuildFileValues & { build?: string | undefined },
  report: FusionReport,
  files: ParsedFiles,
): Promise<BuildLog | null> {
  const own = build === undefined ? undefined : await requireBuild(build);
  const path = own?.manifest.files.log ? join(own.folder, own.manifest.files.log) : log;
  if (path === undefined) return null;
  const { value } = await files.log(path);
  const part = report.build === undefined ? undefined : value.builds?.[report.build.number - 1];
  return part === undefined ? value : (await files.log(path, { only: part })).value;
}

/**
 * The layers of a name, or those that compute the node of a name or id; of a ForeignNode without kernels its layer.
 * @throws {UserError} where there is none
 */
function layersNamed(report: FusionReport, name: string): ReportLayer[] {
  const layers = report.layers.filter((layer) => layer.name === name);
  if (layers.length > 0) return layers;
  const nodes = findNodes(report, name);
  if (nodes.length === 0) {
    const names = [...report.layers, ...report.nodes].map((one) => one.name).filter((one) => one !== '');
    throw new UserError(
      `The build has no layer, and the model no node, with the name ${JSON.stringify(name)}${similarText(name, [...new Set(names)])}.`,
    );
  }
  const ids = new Set(nodes.flatMap((node) => node.layers));
  const found = report.layers.filter(({ id }) => ids.has(id));
  if (found.length > 0) return found;
  throw new UserError(`No layer of the engine is known to compute ${JSON.stringify(name)}: ${nodes[0]!.reason}`);
}

/** @throws {UserError} where the model has no such node, with the nearest names */
function nodesOf(report: FusionReport, name: string): ReportNode[] {
  const found = findNodes(report, name);
  if (found.length > 0) return found;
  const names = [...new Set(report.nodes.map((node) => node.name).filter((one) => one !== ''))];
  throw new UserError(`The model has no node with the name or id ${JSON.stringify(name)}${similarText(name, names)}.`);
}

/**
 * What `--why` asks about: nodes one by one, or those of a layer or of `ForeignNode 3` as a whole.
 * @throws {UserError} where there is neither
 */
function askedFor(report: FusionReport, name: string): { nodes: ReportNode[]; title?: string }[] {
  const number = /^(?:ForeignNode|DLA loadable) (\d{1,9})$/i.exec(name)?.[1];
  const group =
    number === undefined
      ? (report.foreignNodes.find((one) => one.name === name) ?? report.layers.find((one) => one.name === name))
      : foreignOf(report, Number(number));
  const named = findNodes(report, name);
  if (group === undefined || named.length > 0) return nodesOf(report, name).map((node) => ({ nodes: [node] }));
  const ids = new Set(group.nodes);
  return [{ nodes: report.nodes.filter(({ id }) => ids.has(id)), title: name }];
}

/** @throws {UserError} where the engine has no such ForeignNode */
function foreignOf({ foreignNodes }: FusionReport, id: number): ReportForeignNode {
  const found = foreignNodes.find((one) => one.id === id);
  if (found !== undefined) return found;
  const known =
    foreignNodes.length === 0
      ? 'the inputs list none'
      : foreignNodes.length === 1
        ? 'the only one is 0'
        : `pass a number from 0 to ${foreignNodes.length - 1}, such as ${foreignNodes[0]!.id} for ${foreignTitle({ foreignNodes }, foreignNodes[0]!.id)}`;
  throw new UserError(`There is no ForeignNode ${id}: ${known}.`);
}
