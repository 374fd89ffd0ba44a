import type { Parsed, IndexedModel } from '../parsedModel.ts';
import { basename } from 'node:path';
import type { BuildLog, LayerInfo, LoggedBuild, Profile } from '../../../read/tensorrt/buildOutput.ts';
import { BuildLogReader } from '../../../read/tensorrt/readBuildLog.ts';
import { type KernelCounters, readLayerInfo, readNcu, readProfile } from '../../../read/tensorrt/readLayerInfo.ts';
import { readNsysTrace, SqliteFile } from '../../../read/tensorrt/readTrace.ts';
import type { OnnxModel } from '../../../read/onnx/onnxModel.ts';
import { readModel } from '../../../read/onnx/readModel.ts';
import { NodeIndex } from '../../../rules/resolveOverrides.ts';
import { modelFacts } from '../../../rules/buildFacts.ts';
import type { ByteSource, Problem, Read } from '../../../base/problem.ts';
import { decodeUtf8 } from '../../../base/text.ts';
import { isJson, readTorchGraph } from '../../../read/tensorrt/readLayerLine.ts';
import { piecesOf } from '../fileSource.ts';

/**
 * An ONNX file, or the graph that the hook for Torch-TensorRT wrote, which can be read but not edited.
 * @param spans keep where in the file its parts are, as editing needs
 */
export async function parseModel(source: ByteSource, spans: boolean): Promise<Read<OnnxModel>> {
  if (spans) return readModel(source, { spans });
  if (!isJson(await source.read(0, Math.min(64, source.size)))) return readModel(source);
  return readTorchGraph(decodeUtf8(await source.read(0, source.size)));
}

/** A model with its facts and its index of nodes. */
export function indexModel(path: string, model: OnnxModel, problems: Problem[]): IndexedModel {
  const facts = modelFacts(model, basename(path));
  return { path, model, problems, facts, index: new NodeIndex(facts) };
}

/**
 * @param only one build of several in the log
 * @param kept what of it is needed, as for `BuildLogReader`
 */
export async function parseLog(
  source: ByteSource,
  path: string,
  only: LoggedBuild | undefined,
  kept: { times: boolean; registered: boolean },
): Promise<Parsed<BuildLog>> {
  const reader = new BuildLogReader({ ...kept, ...(only && { only }) });
  for await (const piece of piecesOf(source, path)) reader.pushBytes(piece);
  const { value, problems } = reader.end();
  return { value, problems: named(path, problems) };
}

/** Layer info. */
export const parseLayers = (source: ByteSource, path: string): Promise<Read<LayerInfo>> =>
  parseText(source, path, readLayerInfo);

/** Layer times: a profile, or a trace of Nsight Systems as SQLite. */
export async function parseProfile(source: ByteSource, path: string): Promise<Read<Profile>> {
  if (!SqliteFile.sniff(await source.read(0, 16))) return parseText(source, path, readProfile);
  const { value, problems } = await readNsysTrace(source);
  return { value, problems: named(path, problems) };
}

/** What Nsight Compute printed with --csv. */
export const parseCounters = (source: ByteSource, path: string): Promise<Read<KernelCounters[]>> =>
  parseText(source, path, readNcu);

async function parseText<T>(source: ByteSource, path: string, read: (text: string) => Read<T>): Promise<Read<T>> {
  const { value, problems } = read(decodeUtf8(await source.read(0, source.size)));
  return { value, problems: named(path, problems) };
}

/** The problems with the name of their file. */
export const named = (path: string, problems: Problem[]): Problem[] =>
  problems.map((problem) => ({ file: basename(path), ...problem }));
