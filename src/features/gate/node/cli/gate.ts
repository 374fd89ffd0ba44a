import type { AccuracyReport } from '../../../../kernel/simulation/simulated.ts';
import { createHash } from 'node:crypto';
import { basename, dirname, isAbsolute, relative, resolve } from 'node:path';
import { gateAccuracy, largestError } from '../gateAccuracy.ts';
import {
  checkOutput,
  checkEachOutput,
  filesOfModel,
  type OutputKind,
  writeResult,
} from '../../../../kernel/node/files/writeResult.ts';
import { realFolder } from '../../../../kernel/node/files/persist.ts';
import { pathBeside } from '../../../../kernel/node/files/pathBeside.ts';
import { readWhole } from '../../../../kernel/node/files/fileSource.ts';
import { type BuildSide, readBuildSide } from '../../../../kernel/node/store/buildSide.ts';
import { newGate, reportText } from '../newGate.ts';
import { UserError } from '../../../../kernel/node/files/userError.ts';
import {
  gateCodeQuality,
  gateDocument,
  type GateFile,
  gateJunit,
  type GateResult,
  gateSarif,
  matrixDocument,
  type SarifPaths,
  type Unbuilt,
} from '../../gateFile.ts';
import { readGate } from '../../readGate.ts';
import { evaluateGate } from '../../evaluateGate.ts';
import { sharedNodes } from '../../../diff/diffReports.ts';
import type { Document } from '../../../../kernel/document/document.ts';
import { renderMarkdown, renderText } from '../../../../kernel/document/render.ts';
import { decodeUtf8 } from '../../../../kernel/base/text.ts';
import { runtimeFor } from '../../../../kernel/node/cli/runtimeFor.ts';
import { allBut, forceOption, readArguments, wholeNumber } from '../../../../kernel/node/cli/arguments.ts';
import { type Command, exitCodes, Usage } from '../../../../kernel/node/cli/command.ts';
import { docsUrl } from '../../../../kernel/node/cli/command.ts';
import { printJson, type Terminal } from '../../../../kernel/node/cli/terminal.ts';
import { version } from '../../../../kernel/node/cli/version.ts';
import { exists } from '../../../../kernel/node/files/exists.ts';
import { findSources } from '../../../../kernel/node/files/findSources.ts';
import { driverScript } from '../../../../kernel/node/cli/driverScript.ts';

const options = {
  build: { type: 'string', multiple: true },
  onnx: { type: 'string' },
  'optimization-profile': { type: 'string' },
  baseline: { type: 'string' },
  accuracy: { type: 'string' },
  matrix: { type: 'string' },
  sarif: { type: 'string' },
  junit: { type: 'string' },
  markdown: { type: 'string' },
  gitlab: { type: 'string' },
  python: { type: 'string' },
  yes: { type: 'boolean', short: 'y' },
  json: { type: 'boolean' },
  init: { type: 'boolean' },
  update: { type: 'boolean' },
  ...forceOption,
} as const;

export const gate: Command = {
  help: `trtlens gate FILE --build FOLDER [--optimization-profile N] [--baseline F] [--sarif F] [--junit F] [--markdown F] [--gitlab F] [--json]
trtlens gate FILE --matrix RESULT.json [the same outputs]
trtlens gate FILE --init --build FOLDER
trtlens gate FILE --update --build FOLDER

Checks a build against the rules of a YAML file (${docsUrl}/compare-and-gate.md). Percentages need a baseline: the report of the last
good build by 'trtlens show --json'.

  --build FOLDER   the build, or a report by 'trtlens show --json' (with --onnx for rules on attention and types); repeat it
                   for more profiles of the same build, whose median counts
  --onnx FILE      the model (default: the one in the build folder's manifest)
  --optimization-profile N  the profile of the engine that is checked, from 0; default: 0
  --baseline F     a report or build folder instead of the baseline in FILE
  --accuracy F     the output of 'trtlens accuracy --json', instead of running the model for the rule accuracy
  --matrix F       the output of 'trtlens build --json': checks every build that passed
  --sarif F, --junit F, --markdown F, --gitlab F   also write the result in that format
  --json           the result as one JSON document
  --python PROGRAM, -y, --yes   for the rule accuracy: the interpreter; download ONNX Runtime without asking
  --init           write FILE and its baseline from a good build
  --update         write the baseline from a build
  --force          overwrite files that trtlens did not write

Exit status: 0 every check passed, 1 a check failed, 2 nothing could be checked, for example because of a mistake in FILE.
`,
  options,
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(args, options, ['FILE'], {
      without: {
        init: allBut(options, 'init', 'build', 'onnx', 'optimization-profile'),
        update: allBut(options, 'update', 'build', 'onnx', 'optimization-profile'),
        matrix: ['build'],
      },
    });
    const path = positionals[0]!;
    const sources = values.build ?? [];
    const given = { onnx: values.onnx, profile: wholeNumber('--optimization-profile', values['optimization-profile']) };
    if (values.init) return init(path, onlySource(sources), given, terminal);
    const file = await readGateFile(path);
    if (values.update) return update(path, file, onlySource(sources), given, terminal);
    checkSources(sources, values.matrix);

    const baselinePath = values.baseline ?? (file.baseline === null ? undefined : pathBeside(path, file.baseline));
    const model = values.onnx ?? (await modelBeside(path, file));
    const used = [path, ...sources, baselinePath, values.accuracy, values.matrix];
    await checkEachOutput(outputsOf(values), [...used, ...(await filesOf(model))]);
    const baseline =
      baselinePath === undefined
        ? null
        : await sideOf(baselinePath, { ...given, onnx: await fitting(baselinePath, model) });
    const { builds, unbuilt } = await buildsOf(values.matrix, sources, { ...given, onnx: model });
    for (const build of builds) requireNetwork(path, file, build, baseline, model);
    const sides = await withAccuracy(
      builds,
      path,
      file,
      values.matrix === undefined ? model : undefined,
      values,
      terminal,
    );
    const judged = sides.map((side) => ({
      result: evaluateGate(path, file, side, baseline),
      paths: pathsOf(path, side),
    }));
    const files = values.sarif === undefined ? undefined : await programFiles(judged, terminal);
    const placed = judged.map(({ result, paths }) => ({
      result,
      paths: { ...paths, ...(files && { sources: files }) },
    }));
    await writeOutputs(placed, unbuilt, values);
    const results = judged.map(({ result }) => result);
    const [only] = values.matrix === undefined ? results : [];
    if (values.json) await printJson(terminal, only ?? { results, unbuilt });
    else await terminal.out(renderText(only ? gateDocument(only) : matrixDocument(results, unbuilt)));
    return unbuilt.length === 0 && results.every(({ passed }) => passed) ? exitCodes.done : exitCodes.checkFailed;
  },
};

function checkSources(sources: readonly string[], matrix: string | undefined): void {
  if (sources.length === 0 && matrix === undefined) throw new Usage('--build FOLDER or --report FILE is missing');
}

/** @throws {UserError} with file:line:column of the first mistake, and how many more there are */
async function readGateFile(path: string): Promise<GateFile> {
  const { value, problems } = readGate(decodeUtf8(await readWhole(path)));
  const [first] = problems;
  if (value && !first) return value;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  throw new UserError(`${path}:${first?.line ?? 1}:${first?.column ?? 1}: ${first?.message ?? 'no rules'}${more}`);
}

function onlySource(sources: readonly string[]): string {
  const [source] = sources;
  if (source === undefined || sources.length > 1) throw new Usage('pass exactly one --build FOLDER or --report FILE');
  return source;
}

/** The model that the gate file names, where it is there: a gate on reports alone works without. */
async function modelBeside(gatePath: string, { model }: GateFile): Promise<string | undefined> {
  if (model === null) return undefined;
  const path = pathBeside(gatePath, model);
  return (await exists(path)) ? path : undefined;
}

/** A baseline of an older export is still a baseline: its nodes are known by name. */
const fitting = (path: string, model: string | undefined): Promise<string | undefined> =>
  model === undefined
    ? Promise.resolve(undefined)
    : readBuildSide(path, model).then(
        () => model,
        () => undefined,
      );

/** Less is another network: unrelated models of the captures share up to a fifth of their nodes, copies in another precision all. */
const leastShared = 1 / 3;

/**
 * Rejects a build of another network than the gate's, which could pass every check.
 * @param model path of the model that was compared with the build's nodes
 * @throws {UserError} which names both networks
 */
function requireNetwork(
  gatePath: string,
  file: GateFile,
  build: BuildSide,
  baseline: BuildSide | null,
  model: string | undefined,
): void {
  const { source, report } = build;
  const foreign = report.problems.find(({ code }) => code === 'other-model');
  if (foreign)
    throw new UserError(`${source} is a build of another model than ${report.model.file}: ${foreign.message}`);
  const shared = baseline === null ? null : sharedNodes(baseline, build);
  if (baseline !== null && shared !== null && shared < leastShared)
    throw new UserError(
      `${source} is a build of another network than the baseline ${baseline.source}: ${report.model.file} and ` +
        `${baseline.report.model.file} have only ${Math.round(shared * 100)}% of their nodes in common. ` +
        `Pass a build of the same network, or write a new baseline with --update`,
    );
  if (shared === null && model === undefined && file.model !== null && basename(file.model) !== report.model.file)
    throw new UserError(
      `${source} is a build of ${report.model.file}, but ${gatePath} is for ${file.model}, which was not found for a ` +
        `comparison. Pass a build of that model, or its model with --onnx`,
    );
}

/** What is asked of every build: the model, and the number of the optimization profile. */
interface Asked {
  onnx: string | undefined;
  profile: number | undefined;
}

const sideOf = (source: string, { onnx, profile }: Asked): Promise<BuildSide> =>
  readBuildSide(source, onnx, undefined, profile);

async function readSides(sources: readonly string[], asked: Asked): Promise<BuildSide> {
  const [first, ...others] = await Promise.all(sources.map((source) => sideOf(source, asked)));
  for (const { source, report } of others)
    if (report.nodes.length !== first!.report.nodes.length)
      throw new UserError(`${source} is a build of another model than ${first!.source}`);
  return { ...first!, repeats: others.map(({ report }) => report) };
}

/** What is to be judged: one build with its profiles, or those of a matrix. */
async function buildsOf(
  matrix: string | undefined,
  sources: readonly string[],
  asked: Asked,
): Promise<{ builds: BuildSide[]; unbuilt: Unbuilt[] }> {
  if (matrix === undefined) return { builds: [await readSides(sources, asked)], unbuilt: [] };
  const { folders, unbuilt } = await readMatrix(matrix);
  return { builds: await Promise.all(folders.map((folder) => sideOf(folder, { ...asked, onnx: undefined }))), unbuilt };
}

/** The builds of a matrix that passed, and the jobs that have none: what was not built cannot pass. */
async function readMatrix(path: string): Promise<{ folders: string[]; unbuilt: Unbuilt[] }> {
  let jobs: { name?: unknown; folder?: unknown; result?: unknown; error?: unknown }[] | undefined;
  try {
    jobs = (JSON.parse(decodeUtf8(await readWhole(path))) as { jobs?: typeof jobs }).jobs;
  } catch {
    throw new UserError(`${path} is not JSON: pass the output of \`trtlens build --json\``);
  }
  const all = Array.isArray(jobs) ? jobs : [];
  const isBuilt = ({ folder, result }: (typeof all)[number]) => typeof folder === 'string' && result === 'passed';
  const folders = all.filter(isBuilt).map(({ folder }) => folder as string);
  if (folders.length === 0)
    throw new UserError(`${path} contains no build that passed: pass the output of \`trtlens build --json\``);
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);
  const unbuilt = all
    .filter((job) => !isBuilt(job))
    .map(({ name, result, error }) => ({
      name: text(name) ?? 'a build',
      result: text(result) ?? 'missing',
      error: text(error),
    }));
  return { folders, unbuilt };
}

async function readAccuracy(path: string): Promise<{ error: number | null }> {
  try {
    const { outputs, kernel } = JSON.parse(decodeUtf8(await readWhole(path))) as AccuracyReport;
    // What kernels hold unrounded is a hypothesis.
    return largestError((kernel?.outputs ?? outputs).filter(({ judged }) => judged));
  } catch {
    throw new UserError(`${path} is not the output of \`trtlens accuracy --json\``);
  }
}

/** Builds with the error that the rule `accuracy` limits, where the gate has such a rule. */
async function withAccuracy(
  builds: readonly BuildSide[],
  gatePath: string,
  { checks }: GateFile,
  model: string | undefined,
  values: { accuracy?: string; python?: string; yes?: boolean },
  terminal: Terminal,
): Promise<BuildSide[]> {
  const limit = checks.map((check) => check.limit).find(({ kind }) => kind === 'accuracy');
  if (limit?.kind !== 'accuracy') return [...builds];
  const given = values.accuracy === undefined ? undefined : await readAccuracy(values.accuracy);
  const script = driverScript('simulate.py');
  const runtime = () => runtimeFor(values, terminal);
  const request = { gate: gatePath, limit, model, runtime, script, signal: terminal.signal };
  const found: BuildSide[] = [];
  for (const build of builds)
    // oxlint-disable-next-line no-await-in-loop -- one model at a time: each takes all cores
    found.push({ ...build, accuracy: given ?? (await gateAccuracy({ ...request, build })) });
  return found;
}

/** Code hosts want paths from the repository's root, which is where CI runs. */
function pathsOf(gatePath: string, { logPath }: BuildSide): SarifPaths {
  const inside = (path: string) => {
    const found = relative(process.cwd(), resolve(path)).replaceAll('\\', '/');
    // On Windows a path on another drive has no relative form.
    return found.startsWith('../') || isAbsolute(found) ? null : found;
  };
  return { gate: inside(gatePath) ?? basename(gatePath), log: logPath === null ? null : inside(logPath) };
}

/** The files of the repository that the lines of Python of the failed checks are in, and a note of what was matched. */
async function programFiles(
  judged: readonly { result: GateResult }[],
  terminal: Terminal,
): Promise<ReadonlyMap<string, string>> {
  const failed = judged.flatMap(({ result }) => result.checks.filter(({ verdict }) => verdict !== 'passed'));
  const sources = failed.flatMap((check) => check.sources?.filter((source) => source !== null) ?? []);
  const files = await findSources(process.cwd(), sources);
  for (const [path, file] of files) if (path !== file) terminal.note(`${path} is taken to be ${file}`);
  return files;
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

const toDocument = (results: readonly GateResult[], unbuilt: readonly Unbuilt[]): Document =>
  results.length === 1 && unbuilt.length === 0 ? gateDocument(results[0]!) : matrixDocument(results, unbuilt);

const filesOf = async (model: string | undefined): Promise<string[]> =>
  model === undefined ? [] : filesOfModel(model);

/** The results that are written, with their kinds. */
const outputsOf = ({ sarif, junit, markdown, gitlab }: Outputs): [string | undefined, OutputKind][] => [
  [sarif, 'sarif'],
  [junit, 'junit'],
  [markdown, 'markdown'],
  [gitlab, 'code-quality'],
];
type Outputs = Partial<Record<'sarif' | 'junit' | 'markdown' | 'gitlab', string>>;

async function writeOutputs(
  judged: readonly { result: GateResult; paths: SarifPaths }[],
  unbuilt: readonly Unbuilt[],
  outputs: Outputs,
): Promise<void> {
  const results = judged.map(({ result }) => result);
  const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`;
  const texts = [
    () => json(gateSarif(judged, version, hash, unbuilt)),
    () => gateJunit(results, unbuilt),
    () => renderMarkdown(toDocument(results, unbuilt)),
    () => json(gateCodeQuality(judged, hash, judged[0]?.paths.gate, unbuilt)),
  ];
  for (const [at, [path, kind]] of outputsOf(outputs).entries())
    // oxlint-disable-next-line no-await-in-loop -- four files at most
    if (path !== undefined) await writeResult(path, texts[at]!(), kind);
}

async function init(path: string, source: string, { onnx, profile }: Asked, terminal: Terminal): Promise<number> {
  const baseline = await newGate(path, source, onnx, profile);
  terminal.note(`Written: ${path} and ${baseline}`);
  return exitCodes.done;
}

async function update(path: string, file: GateFile, source: string, asked: Asked, terminal: Terminal): Promise<number> {
  const { baseline } = file;
  if (baseline === null) throw new UserError(`${path} has no baseline: add \`baseline: NAME.report.json\``);
  const target = pathBeside(path, baseline);
  // A gate comes with a repository: its links must not lead to the user's files.
  const folders = [dirname(resolve(path)), dirname(resolve(target))] as const;
  const [from, to] = await Promise.all(folders.map(realFolder));
  if (!isAbsolute(baseline) && relative(from!, to!) !== relative(...folders))
    throw new UserError(`${path}: the baseline ${baseline} leads through a link. Name a file without links`);
  const model = asked.onnx ?? (await modelBeside(path, file));
  await checkOutput(target, [path, source, ...(await filesOf(model))], 'report');
  await writeResult(target, reportText(await sideOf(source, asked)), 'report');
  terminal.note(`Written: ${target}`);
  return exitCodes.done;
}
