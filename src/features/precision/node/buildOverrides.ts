import { type AppliedOverrides, typedCopyFolder } from '../../../kernel/node/run/buildSteps.ts';
import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import type { CommandNote, EngineOptions } from '../../../kernel/build/buildOptions.ts';
import { precisionModes } from '../../../kernel/build/buildManifest.ts';
import {
  type BuildFacts,
  hasLayerFlags,
  noLayerFlags,
  targetOf,
  type TensorrtTarget,
} from '../../../kernel/rules/buildFacts.ts';
import { checkOverrides } from '../checkOverrides.ts';
import { type OverrideFile, precisionType } from '../../../kernel/rules/overrideFile.ts';
import { readOverrides } from '../../../kernel/rules/readOverrides.ts';
import { layerRequests, sharedNames } from '../importPrecision.ts';
import { planPrecision, type PrecisionPlan, scalesOf } from '../../../kernel/rules/precisionPlan.ts';
import { listBuilds } from '../../../kernel/node/store/buildHistory.ts';
import { type BuildOverrides, writeBuildOverrides } from '../../../kernel/node/store/overridesRecord.ts';
import { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import { buildFactsOf } from '../../../kernel/node/store/buildFactsOf.ts';
import { loadBuild } from '../../../kernel/node/store/loadBuild.ts';
import { readRules } from '../../../kernel/node/files/readRules.ts';
import { rewriteModel, type RewrittenModel } from './rewriteModel.ts';
import { knownScales } from '../../../kernel/node/store/namedScales.ts';
import { UserError } from '../../../kernel/node/files/userError.ts';
import { networkOf } from '../../../kernel/network/network.ts';
import { linesOfRemoved } from '../planRewrite.ts';
import { counted, typeName } from '../../../kernel/base/text.ts';

/**
 * Makes the rules of `options.overrides` part of a build: as layer precisions where TensorRT takes them, else (and
 * where the build is strongly typed) as a typed copy of the model in the build's folder.
 * @param model the file that would be parsed without rules
 * @throws {UserError} if the rules cannot be read, have errors, or cannot be met by this TensorRT
 */
export async function applyOverrides(
  options: EngineOptions & { folder?: string; cache?: string | undefined },
  built: { product: 'tensorrt' | 'tensorrt-rtx'; version: string | null },
  model: string,
  folder: string,
  signal?: AbortSignal,
): Promise<AppliedOverrides> {
  const path = options.overrides;
  if (path === undefined) return { model, options: {}, notes: [], rulesSha256: null };
  const rules = await readRules(path);
  const file = readOverrides(rules);
  const files = new ParsedFiles();
  const read = await files.indexed(model, { spans: true });
  const { index } = read;
  const earlier = usesGroups(file) ? await newestFacts(options, files) : null;
  const target = targetOf(built.product, built.version, null);
  const scales = await knownScales(path, scalesOf(file));
  const { problems, resolution } = checkOverrides(file, index, earlier, target, scales);
  const error = problems.find(({ severity }) => severity === 'error');
  if (error) throw new UserError(`${path}:${error.line}:${error.column}: ${error.message}`);

  const plan = planPrecision(file, index, resolution!);
  // Q/DQ nodes are part of the model.
  const quantizes = scales !== null && plan.nodes.some(({ compute }) => compute === 'int8');
  const way = quantizes ? 'model' : wayOf(options, target);
  refuseOtherPrecision(path, options, plan, way);
  const ignored = (message: string): CommandNote => ({ kind: 'ignored', flag: 'overrides', message });
  const idle = problems
    .filter(({ severity }) => severity === 'warning')
    .map(({ line, message }) => ignored(`${path}:${line}: ${message}`));
  const rulesSha256 = createHash('sha256').update(rules).digest('hex');
  const record: BuildOverrides = { schema: 1, rules, way };
  const applied: AppliedOverrides = record.way === 'flags' ? withFlags() : await typedCopy();
  await writeBuildOverrides(folder, record);
  return applied;

  function withFlags(): AppliedOverrides {
    const notes = [...idle, ...sharedNames(plan).map(({ message }) => ignored(message))];
    return { model, options: flagOptions(options, plan), notes, rulesSha256 };
  }

  async function typedCopy(): Promise<AppliedOverrides> {
    const out = join(folder, typedCopyFolder, basename(model));
    const made = await rewriteModel({
      model: read,
      plan,
      out,
      grow: false,
      scales: scales === null ? undefined : { path: scales.path },
      signal,
    });
    const types = new Map(made.rewrite.nodes.map(({ id, type }) => [id, precisionType(type)]));
    for (const id of made.quantized) types.set(id, 'int8');
    record.added = made.added;
    const lines = new Map(plan.nodes.map(({ id, line }) => [id, line]));
    record.removed = linesOfRemoved(networkOf(read.model), made.rewrite.remove, lines);
    record.changed = Object.fromEntries(
      made.rewrite.nodes.flatMap(({ id, asked }) => (asked && lines.has(id) ? [[id, lines.get(id)!]] : [])),
    );
    record.declared = index.nodes.map(({ id }) => types.get(id) ?? null);
    return { model: out, options: { stronglyTyped: true }, notes: [...idle, ...copyNotes(path!, made)], rulesSha256 };
  }
}

/**
 * A precision that was requested by name stays that precision: rules may keep nodes out of it, not replace it.
 * @throws {UserError} if the rules would build another engine
 */
function refuseOtherPrecision(
  path: string,
  { precision }: EngineOptions,
  { base, nodes }: PrecisionPlan,
  way: BuildOverrides['way'],
): void {
  if (precision === undefined || precision === 'best') return;
  const allowed: readonly string[] = [precision, ...precisionModes[precision]];
  if (base !== 'keep' && !allowed.includes(base))
    throw new UserError(
      `${path}: "base ${base}" builds an engine in ${base}, but the precision ${precision} was requested. Remove the line, or build with the precision ${base}.`,
    );
  const other = nodes.find(({ compute }) => (compute === 'fp16' || compute === 'bf16') && !allowed.includes(compute));
  // A typed copy has that type at these nodes only.
  if (other && way === 'flags')
    throw new UserError(
      `${path}:${other.line}: ${other.compute} for single nodes allows TensorRT ${other.compute} in every layer, but the precision ${precision} was requested. Build with the precision ${other.compute} or with --strongly-typed.`,
    );
}

const usesGroups = (file: OverrideFile): boolean =>
  file.rules.some(({ selectors }) => selectors.some(({ kind }) => kind === 'group'));

/** `group:` names a ForeignNode of the newest build that passed. */
async function newestFacts(
  options: EngineOptions & { folder?: string; cache?: string | undefined },
  files: ParsedFiles,
): Promise<BuildFacts | null> {
  const { folder, cache } = options;
  const builds = await listBuilds(options.model, { ...(folder && { folder }), ...(cache && { cache }) });
  const newest = builds.find(({ manifest }) => manifest.result === 'passed');
  if (!newest) return null;
  return buildFactsOf(await loadBuild(newest, { onnx: options.model, files }));
}

function wayOf({ stronglyTyped }: EngineOptions, target: TensorrtTarget): BuildOverrides['way'] {
  if (stronglyTyped) return 'model';
  if (hasLayerFlags(target) !== false) return 'flags';
  const old = target.product !== 'tensorrt-rtx' && (target.version?.[0] ?? 11) < 11;
  if (old) throw new UserError(noLayerFlags(target));
  return 'model';
}

function flagOptions(options: EngineOptions, plan: PrecisionPlan): Partial<EngineOptions> {
  const { allow, constraints, layerPrecisions, layerOutputTypes } = layerRequests(plan);
  const modes = ['fp16', 'bf16'] as const;
  // The mode allows the type of all other layers; the types of single layers are allowed by their requests.
  const mode = modes.find((one) => one === plan.base) ?? modes.find((one) => allow.includes(one)) ?? 'fp32';
  return {
    precision: options.precision ?? mode,
    layerPrecisions,
    layerOutputTypes,
    precisionConstraints: options.precisionConstraints ?? constraints,
  };
}

function copyNotes(path: string, { rewrite, lossNotes, quantized }: RewrittenModel): CommandNote[] {
  const types = (['float', 'float16', 'bfloat16'] as const)
    .filter((type) => rewrite.counts.byType[type] > 0)
    .map((type) => `${counted(rewrite.counts.byType[type], 'node')} in ${typeName(type)}`);
  const casts = `${counted(rewrite.counts.casts, 'Cast')} added`;
  const pairs = quantized.size === 0 ? [] : [`${counted(quantized.size, 'node')} in INT8`];
  const applied = `Applied ${basename(path)} to a copy of the model: ${[...types, ...pairs, casts].join(', ')}.`;
  const around = rewrite.problems.filter(({ code }) => /^(?:leaves|weights-stay)-quantized$/.test(code));
  const losses = [...lossNotes, ...rewrite.problems].filter(({ severity }) => severity === 'warning');
  return [
    ...[applied, ...around.map(({ message }) => message)].map((message): CommandNote => ({
      kind: 'translated',
      flag: 'overrides',
      message,
    })),
    ...losses.map(({ message }): CommandNote => ({ kind: 'ignored', flag: 'overrides', message })),
  ];
}
