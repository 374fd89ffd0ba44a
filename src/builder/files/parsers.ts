import { basename } from 'node:path';
import type { BuildLog, LoggedBuild } from '../../core/engine/buildLog.ts';
import type { LayerInfo } from '../../core/engine/layerInfo.ts';
import type { Profile } from '../../core/engine/profile.ts';
import { BuildLogReader } from '../../core/engine/readBuildLog.ts';
import { readLayerInfo } from '../../core/engine/readLayerInfo.ts';
import { type KernelCounters, readNcu } from '../../core/engine/readNcu.ts';
import { readProfile } from '../../core/engine/readProfile.ts';
import { readNsysTrace } from '../../core/engine/trace/readNsysTrace.ts';
import { SqliteFile } from '../../core/engine/trace/sqliteFile.ts';
import { inferTypes } from '../../core/model/tensorTypes.ts';
import type { OnnxModel } from '../../core/onnx/onnxModel.ts';
import { readModel } from '../../core/onnx/readModel.ts';
import { NodeIndex } from '../../core/precision/language/nodeIndex.ts';
import { modelFacts } from '../../core/precision/plan/modelFacts.ts';
import type { ByteSource } from '../../core/text/byteSource.ts';
import type { Problem, Read } from '../../core/text/problem.ts';
import { decodeUtf8, Utf8Decoder } from '../../core/text/utf8Decoder.ts';
import { isJson, readTorchGraph } from '../../core/torch/readTorchGraph.ts';
import { piecesOf } from './fileSource.ts';
import type { IndexedModel, Parsed } from './parsedFiles.ts';

/**
 * An ONNX file, or the graph that the hook for Torch-TensorRT wrote, which can be read but not edited.
 * @param spans keep where in the file its parts are, as editing needs
 */
export async function parseModel(source: ByteSource, spans: boolean): Promise<Read<OnnxModel>> {
  if (spans) return readModel(source, { spans });
  if (!isJson(await source.read(0, Math.min(64, source.size)))) return readModel(source);
  return readTorchGraph(decodeUtf8(await source.read(0, source.size)));
}

/** A model with its types and its index of nodes. */
export function indexModel(path: string, model: OnnxModel, problems: Problem[]): IndexedModel {
  const types = inferTypes(model);
  const facts = modelFacts(model, basename(path), types);
  return { path, model, problems, types, facts, index: new NodeIndex(facts) };
}

/** @param only one build of several in the log */
export async function parseLog(
  source: ByteSource,
  path: string,
  only: LoggedBuild | undefined,
): Promise<Parsed<BuildLog>> {
  const reader = new BuildLogReader(only && { only });
  const decoder = new Utf8Decoder();
  for await (const piece of piecesOf(source, path)) reader.push(decoder.push(piece));
  reader.push(decoder.end());
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
