import { dynamicShapesRemark } from '../../report/dynamicShapes.ts';
import type { Parsed } from '../files/parsedModel.ts';
import { readFile, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { fingerprint } from '../files/fingerprint.ts';
import { type BuildManifest, sizesOf } from '../../build/buildManifest.ts';
import type { BuildLog, LayerInfo, Profile } from '../../read/tensorrt/buildOutput.ts';
import { readPlacement } from '../../read/tensorrt/readLayerLine.ts';
import { createReport, placeByContext, placeNodes } from '../../fusion/createReport.ts';
import { isRecord } from '../../base/json.ts';
import {
  type DynamicShapesCost,
  fitsInputs,
  type FusionReport,
  type ReportBuild,
  type ReportInput,
} from '../../fusion/fusionReport.ts';
import { sniffModel } from '../../read/onnx/readModel.ts';
import type { OnnxModel } from '../../read/onnx/onnxModel.ts';
import { withFile } from '../files/fileSource.ts';
import { refuseErrors } from '../files/refuseErrors.ts';
import { ParsedFiles } from '../files/parsedFiles.ts';
import { counted, decodeUtf8 } from '../../base/text.ts';
import { readTextBytes } from '../files/readTextBytes.ts';
import { UserError } from '../files/userError.ts';
import type { Build } from './buildFolder.ts';
import { type BuildOverrides, readBuildOverrides } from './overridesRecord.ts';

/** Paths of the files that one build left, each gzip-compressed or not. */
export interface BuildFilesGiven {
  onnx: string;
  layers?: string | undefined;
  log?: string | undefined;
  profile?: string | undefined;
  /** Verbose log of ONNX Runtime, which says where nodes run. */
  ortLog?: string | undefined;
  /** The output of `ncu --csv`. */
  ncu?: string | undefined;
  /** Which of several builds in the log, from 1; omitted: the last that fits the model and the layer info. */
  buildNumber?: number | undefined;
  /** Which optimization profile of the engine, from 0; omitted: the first. */
  optimizationProfile?: number | undefined;
}

/** A build, read and joined: everything that anyone may want to know of it. Shared by its users: not to be changed. */
export interface LoadedBuild {
  model: OnnxModel;
  /** null: the build left none. */
  log: BuildLog | null;
  layers: LayerInfo | null;
  profile: Profile | null;
  /** What happened to each node; what is wrong in a file is in its `problems`, with the file's name. */
  report: FusionReport;
  /** The override rules that it was made with; null: none, or not known. */
  overrides: BuildOverrides | null;
  /** What its folder says; null if only files were given. */
  manifest: BuildManifest | null;
}

/**
 * Reads a build folder: its own files, and the model where the manifest says it is (relative: to the folder), or
 * `onnx`; of an engine with several optimization profiles the one of that number, or the first.
 * @throws {UserError} if a file cannot be opened, or the model cannot be read at all
 */
export async function loadBuild(
  { folder, manifest }: Build,
  {
    onnx = resolve(folder, manifest.model.file),
    files = new ParsedFiles(),
    optimizationProfile,
  }: { onnx?: string | undefined; files?: ParsedFiles; optimizationProfile?: number | undefined } = {},
): Promise<LoadedBuild> {
  const { log, layers, profile, counters = null } = manifest.files;
  const inside = (name: string | null) => (name === null ? undefined : join(folder, name));
  const overrides = await readBuildOverrides(folder);
  const given = {
    onnx,
    log: inside(log),
    layers: inside(layers),
    profile: inside(profile),
    ncu: inside(counters),
    optimizationProfile,
  };
  const own = {
    added: overrides?.added,
    removed: overrides?.removed,
    builtShapes: manifest.shapes && sizesOf(manifest.shapes),
  };
  let read = await joined(given, own, files);
  // Names with line breaks or marks of log lines look like those of another model in the log.
  if (read.report.problems.some(({ code }) => code === 'other-model') && (await isOf(onnx, manifest)))
    read = await joined(given, { ...own, sameModel: true }, files);
  const loaded = { ...read, overrides, manifest };
  return { ...loaded, report: await withDynamicShapes(await placed(loaded, given), folder) };
}

/** Whether the build is of that very file. */
const isOf = async (onnx: string, { model }: BuildManifest): Promise<boolean> =>
  model.sha256 !== null && (await fingerprint(onnx)).sha256 === model.sha256;

/**
 * The same from files alone.
 * @throws {UserError} if a file cannot be opened, or the model cannot be read at all
 */
export async function loadFiles(given: BuildFilesGiven, files = new ParsedFiles()): Promise<LoadedBuild> {
  const loaded = { ...(await joined(given, {}, files)), overrides: null, manifest: null };
  return { ...loaded, report: await placed(loaded, given) };
}

/** What the open dimensions cost, in a build folder. */
export const dynamicShapesFile = 'dynamic-shapes.json';

/** The report with what the open dimensions cost, where that was found out. */
async function withDynamicShapes(report: FusionReport, folder: string): Promise<FusionReport> {
  let kept: unknown;
  try {
    kept = JSON.parse(await readFile(join(folder, dynamicShapesFile), 'utf8'));
  } catch {
    return report;
  }
  if (!isRecord(kept) || kept['version'] !== 1) return report;
  const dynamicShapes = kept['cost'] as DynamicShapesCost;
  return { ...report, dynamicShapes, remarks: [dynamicShapesRemark(report, dynamicShapes), ...report.remarks] };
}

/** An EPContext model in place of a log; null: it is something else. */
async function contextModel(path: string): Promise<OnnxModel | null> {
  const isModel = await withFile(path, async (source) => sniffModel(await source.read(0, 4096)));
  if (!isModel) return null;
  const { value, problems } = await new ParsedFiles().model(path);
  refuseErrors(path, problems);
  return value;
}

/** The report with where ONNX Runtime runs each node, by the log that is given for it, or by a build log of its own. */
async function placed({ report, model, log }: LoadedBuild, given: BuildFilesGiven): Promise<FusionReport> {
  const path = given.ortLog ?? (log?.writer === 'onnxruntime' ? given.log : undefined);
  if (path === undefined) return report;
  const context = await contextModel(path);
  if (context !== null) return placeByContext(report, model, context);
  const { value, problems } = readPlacement(decodeUtf8(await readTextBytes(path, 'the verbose log of ONNX Runtime')));
  if (value) return placeNodes(report, model, value);
  // A log of its engine alone says nothing of the other nodes.
  if (given.ortLog === undefined) return report;
  return { ...report, problems: [...report.problems, ...problems.map((one) => ({ ...one, file: basename(path) }))] };
}

/** One report for the same files, however often it is requested. */
function joined(
  given: BuildFilesGiven,
  own: Pick<ReportInput, 'added' | 'removed' | 'builtShapes' | 'sameModel'>,
  files: ParsedFiles,
): Promise<Pick<LoadedBuild, 'model' | 'log' | 'layers' | 'profile' | 'report'>> {
  const paths = [given.onnx, given.log, given.layers, given.profile, given.ncu];
  const what = JSON.stringify([
    'report',
    paths.map((path) => path !== undefined),
    own,
    given.buildNumber,
    given.optimizationProfile,
  ]);
  const make = async () => {
    const model = await files.model(given.onnx);
    const { whole, layers, profile, inputOf } = await readBuildFiles(given, files);
    const reportOn = (log: Parsed<BuildLog> | undefined, build?: ReportBuild) =>
      createReport({
        model: model.value,
        modelFile: basename(given.onnx),
        modelProblems: model.problems,
        ...inputOf(log, build),
        ...own,
      });
    const { log, report } = whole
      ? await chosenBuild(given, whole, files, reportOn, fitsInputs)
      : { log: undefined, report: reportOn(undefined) };
    return {
      model: model.value,
      log: log?.value ?? null,
      layers: layers?.value ?? null,
      profile: profile?.value ?? null,
      report,
    };
  };
  return files.once(
    what,
    paths.filter((path) => path !== undefined),
    make,
  );
}

/**
 * Reads what is given of a build next to its model, one file after the other: all of them are read in one thread, and
 * what reading a file leaves behind can go before the next. `inputOf`: what a report on one build of the log is made of.
 */
export async function readBuildFiles(given: Omit<BuildFilesGiven, 'onnx'>, files: ParsedFiles) {
  const whole = given.log === undefined ? undefined : await files.log(given.log);
  const layers = given.layers === undefined ? undefined : await files.layers(given.layers);
  const profile = given.profile === undefined ? undefined : await files.profile(given.profile);
  const counters = given.ncu === undefined ? undefined : await files.counters(given.ncu);
  const inputOf = (log: Parsed<BuildLog> | undefined, build?: ReportBuild) => ({
    log: log?.value,
    build,
    layerInfo: layers?.value,
    profile: profile?.value,
    counters: counters?.value,
    problems: [log, layers, profile, counters].flatMap((read) => read?.problems ?? []),
    optimizationProfile: given.optimizationProfile,
  });
  return { whole, layers, profile, inputOf };
}

/**
 * The build of a log that is requested, or of several the last whose report fits the other inputs; if none does, the
 * last.
 * @throws {UserError} if the log has no build of that number
 */
export async function chosenBuild<Report>(
  { log: path = '', buildNumber }: Pick<BuildFilesGiven, 'log' | 'buildNumber'>,
  whole: Parsed<BuildLog>,
  files: ParsedFiles,
  reportOn: (log: Parsed<BuildLog>, build?: ReportBuild) => Report,
  fits: (report: Report) => boolean,
): Promise<{ log: Parsed<BuildLog>; report: Report }> {
  const { builds = [] } = whole.value;
  const count = Math.max(1, builds.length);
  if (buildNumber !== undefined && buildNumber > count)
    throw new UserError(`${path} contains ${counted(count, 'build')}, so there is no build number ${buildNumber}`);
  if (builds.length === 0) return { log: whole, report: reportOn(whole) };
  if (!(await stat(path)).isFile())
    throw new UserError(`${path} contains ${count} builds and can be read only once. Save it to a file first`);
  const read = async (number: number) => {
    const part = builds[number - 1]!;
    const log = await files.log(path, part && { only: part });
    return { log, report: reportOn(log, { number, of: count, line: part.line }) };
  };
  if (buildNumber !== undefined) return read(buildNumber);
  for (let number = count; number > 0; number--) {
    // oxlint-disable-next-line no-await-in-loop -- the first that fits ends it
    const found = await read(number);
    if (fits(found.report)) return found;
  }
  return read(count);
}
