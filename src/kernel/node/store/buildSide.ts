import type { GateSide } from '../../rules/gateSide.ts';
import { basename, resolve } from 'node:path';
import { stat } from 'node:fs/promises';
import { markedTensors, nodesToMatch } from '../../report/buildDiff.ts';
import type { BuildManifest } from '../../build/buildManifest.ts';
import type { FusionReport } from '../../fusion/fusionReport.ts';
import type { OnnxModel } from '../../read/onnx/onnxModel.ts';
import { builtNetworkOf } from '../../network/network.ts';
import { buildFacts } from '../../rules/buildFacts.ts';
import { decodeUtf8 } from '../../base/text.ts';
import { readWhole } from '../files/fileSource.ts';
import { ParsedFiles } from '../files/parsedFiles.ts';
import { UserError } from '../files/userError.ts';
import { buildFigures, readFigures } from './buildFigures.ts';
import { type Build, requireBuild } from './buildFolder.ts';
import { buildFactsOf } from './buildFactsOf.ts';
import { loadBuild, type LoadedBuild } from './loadBuild.ts';
import { modelChanged } from './modelChanged.ts';
import { requestedPrecision } from './realizedPrecision.ts';

/** One side of a comparison, and where its files are. */
export interface BuildSide extends GateSide {
  /** Path of the build log; null: a report alone, or a build without one. */
  logPath: string | null;
  /** What the build was made from; absent for a report alone. */
  made?: { model: string; rules: string | undefined };
  /** null: a report alone, without its model. */
  model: OnnxModel | null;
  /** Path of the model; null: a report alone. */
  modelPath: string | null;
  /** null: a report alone. */
  manifest: BuildManifest | null;
}

/**
 * Reads one side of a comparison.
 * @param path a build folder, or a report (`trtlens show --json`, also gzip-compressed)
 * @param onnx the model; by default where the build's manifest says it is. Without it, nodes are known by name only.
 * @param optimizationProfile of an engine with several, from 0; by default the first of a build folder, and that of a report
 * @throws {UserError} if it is neither, or the model is another one or has changed since
 */
export async function readBuildSide(
  path: string,
  onnx?: string,
  files = new ParsedFiles(),
  optimizationProfile?: number,
): Promise<BuildSide> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (isFolder) return ofBuild(await requireBuild(path), { onnx, files, optimizationProfile });
  const side = await ofReport(path, onnx, files);
  const shown = side.report.optimizationProfile?.shown ?? 0;
  if (optimizationProfile !== undefined && optimizationProfile !== shown)
    throw new UserError(
      `${path} is a report on optimization profile ${shown}. Pass the build folder, or write a report on profile ${optimizationProfile} with trtlens show --optimization-profile ${optimizationProfile} --json`,
    );
  return side;
}

async function ofBuild(
  build: Build,
  {
    onnx: given,
    files,
    optimizationProfile,
  }: { onnx: string | undefined; files: ParsedFiles; optimizationProfile: number | undefined },
): Promise<BuildSide> {
  const { folder, manifest } = build;
  const own = resolve(folder, manifest.model.file);
  const onnx = given ?? own;
  if (resolve(onnx) === own && (await modelChanged(own, manifest, files)))
    throw new UserError(
      `${onnx} has changed since it was built in ${folder}. Build it again, or pass the file that was built with --onnx`,
    );
  const loaded = await loadBuild(build, { onnx, files, optimizationProfile });
  const missing = loaded.report.problems.find(
    ({ code, severity }) => code === 'several-profiles' && severity === 'error',
  );
  if (missing) throw new UserError(`${folder}: ${missing.message}`);
  const { index } = await files.indexed(onnx);
  const { log, engine } = manifest.files;
  return {
    source: folder,
    report: loaded.report,
    network: nodesToMatch(loaded.model),
    types: { facts: buildFactsOf(loaded), index },
    figures: await buildFigures(loaded, engine === null ? null : resolve(folder, engine)),
    marked: markedTensors(loaded.model, bindingsOf(loaded), manifest.options),
    logPath: log === null ? null : resolve(folder, log),
    failed: whyFailed(manifest),
    requested: requestedPrecision(loaded),
    made: { model: onnx, rules: loaded.overrides?.rules },
    model: loaded.model,
    modelPath: onnx,
    manifest,
  };
}

function whyFailed({ result, error }: BuildManifest): string | undefined {
  if (result === 'passed') return undefined;
  return `the build ${result === 'running' ? 'is still running' : result === 'failed' ? 'failed' : 'was cancelled'}${error ? `: ${error}` : ''}`;
}

const bindingsOf = ({ layers, log }: LoadedBuild): string[] =>
  layers && layers.bindings.length > 0 ? layers.bindings : (log?.bindings ?? []);

async function ofReport(path: string, onnx: string | undefined, files: ParsedFiles): Promise<BuildSide> {
  const report = readReport(path, decodeUtf8(await readWhole(path)));
  const side = {
    source: path,
    report,
    figures: readFigures(report),
    logPath: null,
    model: null,
    modelPath: null,
    manifest: null,
  };
  if (onnx === undefined) return side;
  const { model, index } = await files.indexed(onnx);
  if (!reportsOn(report, model))
    throw new UserError(`${path} reports on another model than ${basename(onnx)}: their nodes differ`);
  return {
    ...side,
    model,
    modelPath: onnx,
    network: nodesToMatch(model),
    types: { facts: buildFacts(report, null, null, null, model.nodes), index },
  };
}

/** A report counts the nodes of local functions, too. */
function reportsOn({ nodes }: FusionReport, model: OnnxModel): boolean {
  const own = builtNetworkOf(model).nodes;
  return nodes.length === own.length && nodes.every(({ op }, index) => own[index]!.op === op);
}

/**
 * The report in a file that trtlens wrote, by itself or inside the output of another command.
 * @throws {UserError} if the text is not a fusion report
 */
function readReport(path: string, text: string): FusionReport {
  let value: unknown;
  try {
    const parsed = JSON.parse(text) as { fusion?: unknown; report?: unknown } | null;
    // What `trtlens build --json` and `trtlens show -o x.json` write holds the report, too.
    value = parsed?.fusion ?? parsed?.report ?? parsed;
  } catch {
    throw new UserError(`${path} is not JSON: pass a build folder, or what \`trtlens show --json\` wrote`);
  }
  if (!isReport(value))
    throw new UserError(`${path} is not a fusion report: pass a build folder, or what \`trtlens show --json\` wrote`);
  return value;
}

/** Whether a value has all lists and objects that its users walk through. */
function isReport(value: unknown): value is FusionReport {
  const { schema, model, tensorrt, accounting, nodes, layers, foreignNodes, problems } = fields(value);
  const has = (list: unknown, texts: readonly string[], lists: readonly string[]) =>
    Array.isArray(list) &&
    list.every((one) => {
      const own = fields(one);
      return texts.every((key) => typeof own[key] === 'string') && lists.every((key) => Array.isArray(own[key]));
    });
  return (
    schema === 1 &&
    typeof fields(model)['file'] === 'string' &&
    [tensorrt, accounting].every((one) => typeof one === 'object' && one !== null) &&
    has(nodes, ['id', 'name', 'op', 'fate'], ['layers']) &&
    has(layers, ['name', 'kind'], ['nodes', 'evidence', 'inputs', 'outputs']) &&
    has(foreignNodes, ['name'], ['nodes', 'layers']) &&
    has(problems, ['code'], [])
  );
}

const fields = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
