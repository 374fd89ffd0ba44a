import type { Parsed } from '../files/parsedModel.ts';
import { basename } from 'node:path';
import type { BuildLog } from '../../read/tensorrt/buildOutput.ts';
import { createEngineReport, type EngineReport } from '../../fusion/createReport.ts';
import { fitsInputs, type ReportBuild } from '../../fusion/fusionReport.ts';
import { engineGraph } from '../../picture/graph/fusionGroups.ts';
import type { ViewData } from '../../picture/graph/viewData.ts';
import { ParsedFiles } from '../files/parsedFiles.ts';
import { UserError } from '../files/userError.ts';
import { type BuildFilesGiven, chosenBuild, readBuildFiles } from './loadBuild.ts';

/** Paths of the files of a build whose ONNX file is missing. */
export type EngineFilesGiven = Omit<BuildFilesGiven, 'onnx'>;

/**
 * Reads layer info, log and profile of an engine without its model.
 * @throws {UserError} if none is given, or a file cannot be opened
 */
export async function loadEngine(given: EngineFilesGiven, files = new ParsedFiles()): Promise<EngineReport> {
  const file = given.layers ?? given.log ?? given.profile;
  if (file === undefined) throw new UserError('Pass layer info, a build log or a profile.');
  const { whole, inputOf } = await readBuildFiles(given, files);
  const reportOn = (log: Parsed<BuildLog> | undefined, build?: ReportBuild) =>
    createEngineReport({ file: basename(file), ...inputOf(log, build) });
  if (whole === undefined) return reportOn(undefined);
  const fits = ({ report: made }: EngineReport) => made.layers.length > 0 && fitsInputs(made);
  return (await chosenBuild(given, whole, files, reportOn, fits)).report;
}

/** Everything that a view of an engine needs. */
export function toEngineView(engine: EngineReport): ViewData {
  const { graph, report } = engineGraph(engine);
  return { title: report.model.file, graph, report, build: null, hints: [] };
}
