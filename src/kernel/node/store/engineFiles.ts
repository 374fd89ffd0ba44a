import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fitsInputs } from '../../fusion/fusionReport.ts';
import { openNsysTrace, SqliteFile } from '../../read/tensorrt/readTrace.ts';
import { inspectFile } from '../../inspect/inspectFile.ts';
import type { Inspection } from '../../inspect/inspection.ts';
import { withFile } from '../files/fileSource.ts';
import { isTraceReport, ParsedFiles } from '../files/parsedFiles.ts';
import { UserError } from '../files/userError.ts';
import { type LoadedBuild, loadFiles } from './loadBuild.ts';
import { type EngineFilesGiven, loadEngine } from './loadEngine.ts';

type Piece = 'layers' | 'log' | 'profile' | 'ncu';
const keys: Partial<Record<Inspection['kind'], Piece>> = {
  'layer-info': 'layers',
  'build-log': 'log',
  profile: 'profile',
  trace: 'profile',
  counters: 'ncu',
};

/** Names under which TensorRT's tools and their users save what a build leaves. */
const likely =
  /(?:layer|profile|engine_info|graph|build|trtexec|verbose|trace|log)[^/]*\.(?:json|log|txt)(?:\.gz)?$|\.log(?:\.gz)?$|\.sqlite$|ncu[^/]*\.csv$/i;
/** Larger or more files than these are not tried. */
const largest = 64 << 20;
const mostTried = 24;

/**
 * What a file of an engine is, with the files next to it that are of the same build: a profile whose rows are its
 * layers, layer info of the same layers, a log that lists them, counters of its kernels. Of several that fit, none is taken.
 * @throws {UserError} if the file is of another kind, or cannot be opened
 */
export async function engineFilesOf(path: string, files = new ParsedFiles()): Promise<EngineFilesGiven> {
  const { key, why } = await keyOf(path);
  if (key === undefined)
    throw new UserError(
      `${basename(path)}: ${why} Supported are the output of trtexec --verbose, the files of --exportLayerInfo and --exportProfile, traces of Nsight Systems, and the output of ncu --csv.`,
    );
  let given: EngineFilesGiven = { [key]: path };
  const found: Record<Piece, string[]> = { layers: [], profile: [], log: [], ncu: [] };
  for (const other of await filesNear(path, (name) => likely.test(name))) {
    // oxlint-disable-next-line no-await-in-loop -- small files, one after the other
    const { key: kind } = await keyOf(other).catch(() => ({ key: undefined }));
    if (kind !== undefined && kind !== key) found[kind].push(other);
  }
  // Layer info first: a profile alone has only names.
  for (const kind of ['layers', 'profile', 'log', 'ncu'] as const) {
    const fitting: string[] = [];
    for (const other of found[kind]) {
      // oxlint-disable-next-line no-await-in-loop -- what is found first decides what fits
      if (await isSameBuild({ ...given, [kind]: other }, files)) fitting.push(other);
    }
    if (fitting.length === 1) given = { ...given, [kind]: fitting[0]! };
  }
  return given;
}

/**
 * The files next to a model that a build of it left: layer info whose layers are placed in it, or else a log, the newest
 * of several, with what belongs to it; [] none.
 */
export async function filesNearModel(onnx: string, files = new ParsedFiles()): Promise<string[]> {
  const found: Partial<Record<Piece, string[]>> = {};
  for (const path of await newestFirst(await filesNear(onnx, (name) => likely.test(name)))) {
    // oxlint-disable-next-line no-await-in-loop -- small files, one after the other
    const { key } = await keyOf(path).catch(() => ({ key: undefined }));
    if (key !== undefined) (found[key] ??= []).push(path);
  }
  for (const kind of ['layers', 'log'] as const)
    for (const path of found[kind] ?? []) {
      // oxlint-disable-next-line no-await-in-loop -- the first that fits
      const read = await loadFiles({ [kind]: path, onnx }, files).catch(() => null);
      if (read === null || !describesNodes(read)) continue;
      // oxlint-disable-next-line no-await-in-loop -- as above
      const given = await engineFilesOf(path, files);
      return Object.values(given).filter((one): one is string => typeof one === 'string');
    }
  return [];
}

/**
 * Layer info next to an engine that is named as the engine is, or that is alone with it in the folder, with what belongs
 * to it; null: none.
 */
export async function filesNearEngine(engine: string, files = new ParsedFiles()): Promise<EngineFilesGiven | null> {
  const found: string[] = [];
  for (const path of await filesNear(engine, (name) => likely.test(name) && name.includes('.json'))) {
    // oxlint-disable-next-line no-await-in-loop -- small files, one after the other
    const { key } = await keyOf(path).catch(() => ({ key: undefined }));
    if (key === 'layers') found.push(path);
  }
  const stem = basename(engine).replace(/\.[^.]*$/, '');
  const named = found.filter((path) => basename(path).startsWith(stem));
  const isAlone = (await filesNear(engine, (name) => /\.(?:engine|plan|trt)$/i.test(name))).length === 0;
  const [only, ...more] = named.length > 0 || !isAlone ? named : found;
  return only === undefined || more.length > 0 ? null : engineFilesOf(only, files);
}

async function newestFirst(paths: readonly string[]): Promise<string[]> {
  const timed = await Promise.all(
    paths.map(async (path) => ({
      path,
      at: await stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    })),
  );
  return timed.toSorted((a, b) => b.at - a.at).map(({ path }) => path);
}

async function isSameBuild(given: EngineFilesGiven, files: ParsedFiles): Promise<boolean> {
  try {
    const { report, layers } = await loadEngine(given, files);
    const wrong = report.problems.some(({ code }) => /^(?:profile-mismatch|counters-mismatch|no-layers)$/.test(code));
    if (wrong || layers.length === 0 || !fitsInputs(report)) return false;
    if (given.log !== undefined && (await files.log(given.log)).value.engineLayers.length === 0) return false;
    // Not every layer launches kernels, but every kernel of the engine belongs to one.
    if (report.profile) return report.profile.attributed === report.profile.kernels;
    return given.profile === undefined || report.layers.every(({ averageMs }) => averageMs !== null);
  } catch {
    // What cannot be read is not taken.
    return false;
  }
}

/**
 * The model of an engine's files, an ONNX file or a graph of Torch-TensorRT: the one that the log names, else the only one
 * next to them that fits; null: none.
 */
export async function modelOfEngine(given: EngineFilesGiven, files = new ParsedFiles()): Promise<string | null> {
  const path = given.log ?? given.layers;
  // A profile's names alone prove nothing.
  if (path === undefined) return null;
  const named = given.log === undefined ? null : ((await files.log(given.log)).value.model?.file ?? null);
  const fitting = async (candidates: readonly string[]): Promise<string[]> => {
    const found: string[] = [];
    for (const onnx of new Set(candidates)) {
      // oxlint-disable-next-line no-await-in-loop -- models are read one after the other
      const read = await loadFiles({ ...given, onnx }, files).catch(() => null);
      if (read !== null && describesNodes(read)) found.push(onnx);
    }
    return found;
  };
  const places = named === null ? [] : [resolve(dirname(path), named), join(dirname(path), basename(named))];
  const [first] = await fitting(places);
  if (first !== undefined) return first;
  const near = await fitting(await filesNear(path, (name) => /\.(?:onnx|fx\.json)$/i.test(name)));
  return near.length === 1 ? near[0]! : null;
}

/**
 * Whether layers were placed in the model: a model without a common name fits by chance. A build that failed before there
 * were any has parsed the nodes of its model, and a log of ONNX Runtime lists them by provider.
 */
const describesNodes = ({ report, log, model }: LoadedBuild): boolean => {
  if (!fitsInputs(report)) return false;
  if (report.layers.length > 0) return report.layers.some(({ nodes }) => nodes.length > 0);
  if (report.placement !== undefined)
    return report.nodes.some(({ placement }) => placement?.exact === true && placement.provider !== null);
  const names = new Set(model.nodes.map(({ name }) => name));
  return log?.outcome === 'failed' && log.parsedNodes.some(({ name }) => name !== '' && names.has(name));
};

/** What a file of an engine is; `why`: it is none, in a sentence. */
async function keyOf(path: string): Promise<{ key: Piece; why?: never } | { key: undefined; why: string }> {
  if (isTraceReport(path)) return { key: 'profile' };
  return withFile(path, async (source) => {
    // Of a trace it is read only once what it is for is known: it may be larger than memory.
    if (SqliteFile.sniff(await source.read(0, 16))) {
      const { value, problems } = await openNsysTrace(source);
      return value === undefined ? { key: undefined, why: problems[0]!.message } : { key: 'profile' };
    }
    const { kind, summary, problems } = await inspectFile(source, { name: basename(path) });
    const key = keys[kind];
    return key === undefined ? { key, why: problems[0]?.message ?? `${summary}.` } : { key };
  });
}

async function filesNear(path: string, isWanted: (name: string) => boolean): Promise<string[]> {
  const folder = dirname(path);
  const names = await readdir(folder).catch(() => []);
  const wanted = names.filter((name) => isWanted(name) && name !== basename(path)).slice(0, mostTried);
  const sizes = await Promise.all(
    wanted.map(async (name) => {
      const status = await stat(join(folder, name)).catch(() => null);
      return status?.isFile() === true && (status.size <= largest || name.endsWith('.onnx'));
    }),
  );
  return wanted.filter((_, index) => sizes[index]).map((name) => join(folder, name));
}
