import { dynamicShapesCost } from '../../../kernel/report/dynamicShapes.ts';
import { join, resolve } from 'node:path';
import { shapesText, type ShapeRange, usualShapes } from '../../../kernel/build/buildManifest.ts';
import type { DynamicShapesCost } from '../../../kernel/fusion/fusionReport.ts';
import { writeWhole } from '../../../kernel/node/files/writeWhole.ts';
import { dynamicShapesFile } from '../../../kernel/node/store/loadBuild.ts';
import { requireBuild } from '../../../kernel/node/store/buildFolder.ts';
import { UserError } from '../../../kernel/node/files/userError.ts';
import type { BuildEvents, BuildOptions } from '../../../kernel/node/run/runBuild.ts';
import { whatIf, type WhatIfResult } from './whatIf.ts';

/** Of a build's own options, those that a build with TensorRT-RTX takes. */
const taken = ['profiles', 'outputs', 'overrides', 'computeCapability', 'randomWeights'] as const;

/**
 * Builds a model for the usual shapes of a build's first optimization profile, with TensorRT-RTX, and with its open
 * dimensions too if that build is one of another product; keeps in the build's folder what they cost.
 * @param how where TensorRT-RTX is
 * @throws {UserError} if the build has no open dimensions, or one of the two cannot be built
 */
export async function findDynamicShapesCost(
  folder: string,
  how: Omit<BuildOptions, 'model' | 'backend'>,
  events: BuildEvents = {},
  signal?: AbortSignal,
): Promise<DynamicShapesCost> {
  const { manifest } = await requireBuild(folder);
  if (manifest.result !== 'passed') throw new UserError(`${folder} has no engine: its build ${manifest.result}`);
  const fixed = usualShapes(manifest);
  if (fixed === null)
    throw new UserError(
      `${folder} was built for fixed shapes, so they cost nothing. Build for a range with --min-shapes and --max-shapes`,
    );
  const own = Object.fromEntries(
    taken.flatMap((name) => (manifest.options[name] === undefined ? [] : [[name, manifest.options[name]]])),
  );
  const options: BuildOptions = {
    ...how,
    ...own,
    backend: 'rtx',
    model: resolve(folder, manifest.model.file),
  };
  const isRtx = manifest.tensorrt.product === 'tensorrt-rtx';
  const request = { options, changed: { profiles: [fixed] }, change: null, base: isRtx ? folder : undefined };
  const { sides } = await whatIf(request, events, signal);
  return keepDynamicShapesCost(folder, sides, fixed);
}

/** Keeps in a build's folder what a build for fixed shapes shows. */
export async function keepDynamicShapesCost(
  folder: string,
  { a, b }: WhatIfResult['sides'],
  fixed: Readonly<Record<string, ShapeRange>>,
): Promise<DynamicShapesCost> {
  const shapes = Object.entries(fixed).map(([input, { opt }]) => ({ input, min: opt, opt, max: opt, defaulted: [] }));
  const cost = dynamicShapesCost(a.report, b.report, shapesText([shapes]));
  await writeWhole(join(folder, dynamicShapesFile), JSON.stringify({ version: 1, cost }));
  return cost;
}
