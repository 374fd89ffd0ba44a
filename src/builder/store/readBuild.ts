import { basename, join, resolve } from 'node:path';
import { decodeUtf8, Utf8Decoder } from '../../core/text/utf8Decoder.ts';
import { buildHints } from '../../core/build/buildHints.ts';
import type { BuildManifest } from '../../core/build/buildManifest.ts';
import type { BuildLog } from '../../core/engine/buildLog.ts';
import type { LayerInfo } from '../../core/engine/layerInfo.ts';
import type { Profile } from '../../core/engine/profile.ts';
import { BuildLogReader } from '../../core/engine/readBuildLog.ts';
import { readLayerInfo } from '../../core/engine/readLayerInfo.ts';
import { readProfile } from '../../core/engine/readProfile.ts';
import { createReport } from '../../core/fusion/createReport.ts';
import type { FusionReport } from '../../core/fusion/fusionReport.ts';
import type { OnnxModel } from '../../core/onnx/onnxModel.ts';
import { readModel } from '../../core/onnx/readModel.ts';
import { toGraphData } from '../../core/scene/graph/graphData.ts';
import type { ViewData } from '../../core/scene/panel/viewData.ts';
import type { Problem, Read } from '../../core/text/problem.ts';
import type { Build } from './buildFolder.ts';
import { openFile, readWhole } from '../files/fileSource.ts';
import { readBuildOverrides } from './overridesRecord.ts';
import { UserError } from '../userError.ts';

/** Paths of the files that one build left, each gzip-compressed or not. */
export interface ReportFiles {
  onnx: string;
  layers?: string | undefined;
  log?: string | undefined;
  profile?: string | undefined;
  /** Names of nodes that were added to the model for this build. */
  added?: readonly string[] | undefined;
}

/** What the files hold, read. */
export interface ReportRead {
  report: FusionReport;
  model: OnnxModel;
  log: BuildLog | undefined;
  layers: LayerInfo | undefined;
  profile: Profile | undefined;
}

/**
 * Reads the files of a build and joins them to a report. What is wrong inside a file is in `report.problems`, with the
 * file's name.
 * @throws {UserError} when a file cannot be opened, or the model cannot be read at all
 */
export async function readReport(files: ReportFiles): Promise<ReportRead> {
  const [model, log, layers, profile] = await Promise.all([
    readModelFile(files.onnx),
    files.log === undefined ? undefined : readLogFile(files.log),
    files.layers === undefined ? undefined : readTextFile(files.layers, readLayerInfo),
    files.profile === undefined ? undefined : readTextFile(files.profile, readProfile),
  ]);
  const report = createReport({
    model: model.value,
    modelFile: basename(files.onnx),
    modelProblems: model.problems,
    log: log?.value,
    layerInfo: layers?.value,
    profile: profile?.value,
    added: files.added,
    problems: [log, layers, profile].flatMap((read) => read?.problems ?? []),
  });
  return { report, model: model.value, log: log?.value, layers: layers?.value, profile: profile?.value };
}

/** The same for a build folder: its own files, and the model where the manifest says it is (relative: to the folder). */
export async function readBuildReport(
  { folder, manifest }: Build,
  onnx = resolve(folder, manifest.model.file),
): Promise<ReportRead> {
  const { log, layers, profile } = manifest.files;
  const inside = (name: string | null) => (name === null ? undefined : join(folder, name));
  const added = (await readBuildOverrides(folder))?.added;
  return readReport({ onnx, log: inside(log), layers: inside(layers), profile: inside(profile), added });
}

/** Everything a view needs, from what was read. */
export function toViewData({ report, model }: ReportRead, build: BuildManifest | null): ViewData {
  return {
    title: report.model.file,
    graph: toGraphData(model),
    report,
    build,
    hints: build ? buildHints(build) : [],
  };
}

/**
 * Reads an ONNX file's structure.
 * @throws {UserError} when nothing in it can be read
 */
export async function readModelFile(path: string): Promise<{ value: OnnxModel; problems: Problem[] }> {
  const source = await openFile(path);
  try {
    const { value, problems } = await readModel(source);
    if (!value) throw new UserError(`${path}: ${problems[0]?.message ?? 'cannot be read as an ONNX model'}`);
    return { value, problems: named(path, problems) };
  } finally {
    await source.close();
  }
}

/** Bytes of a log that are read at a time. */
const chunkBytes = 1 << 22;

/**
 * Reads a build log of any size, a piece at a time.
 * @throws {UserError} when it cannot be opened
 */
export async function readLogFile(path: string): Promise<{ value: BuildLog; problems: Problem[] }> {
  const source = await openFile(path);
  try {
    const reader = new BuildLogReader();
    const decoder = new Utf8Decoder();
    for (let offset = 0; offset < source.size; offset += chunkBytes)
      reader.push(decoder.push(await source.read(offset, chunkBytes)));
    reader.push(decoder.end());
    const { value, problems } = reader.end();
    return { value, problems: named(path, problems) };
  } finally {
    await source.close();
  }
}

async function readTextFile<T>(path: string, read: (text: string) => Read<T>): Promise<Read<T>> {
  const { value, problems } = read(decodeUtf8(await readWhole(path)));
  return { value, problems: named(path, problems) };
}

const named = (path: string, problems: Problem[]): Problem[] =>
  problems.map((problem) => ({ file: basename(path), ...problem }));
