import { stat } from 'node:fs/promises';
import type { BuildFigures } from '../../read/tensorrt/buildOutput.ts';
import type { FusionReport } from '../../fusion/fusionReport.ts';
import type { LoadedBuild } from './loadBuild.ts';

/** What a build's log, manifest and engine say about memory, sizes and times. */
export async function buildFigures(
  { log, manifest }: Pick<LoadedBuild, 'log' | 'manifest'>,
  enginePath: string | null = null,
): Promise<BuildFigures> {
  const engineSize = enginePath === null ? null : await sizeOf(enginePath);
  return {
    gpu: manifest?.gpu ?? log?.gpu ?? null,
    activationMemory: log?.memory.activation ?? null,
    weightsMemory: log?.memory.weights ?? null,
    engineSize: engineSize ?? log?.memory.engine ?? null,
    buildSeconds: manifest?.seconds ?? log?.seconds.build ?? null,
    warnings: log?.messages.filter(({ severity }) => severity === 'warning').length ?? null,
  };
}

/** A report with the figures that comparisons and gates need, for a file that outlives the build. */
export const withFigures = async (build: LoadedBuild, enginePath: string | null = null): Promise<FusionReport> => ({
  ...build.report,
  figures: await buildFigures(build, enginePath),
});

/** What a report's file says; undefined: it has no figures. */
export function readFigures({ figures }: Partial<FusionReport>): BuildFigures | undefined {
  if (typeof figures !== 'object' || figures === null) return undefined;
  const number = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : null);
  return {
    gpu: typeof figures.gpu === 'string' ? figures.gpu : null,
    activationMemory: number(figures.activationMemory),
    weightsMemory: number(figures.weightsMemory),
    engineSize: number(figures.engineSize),
    buildSeconds: number(figures.buildSeconds),
    warnings: number(figures.warnings),
  };
}

const sizeOf = (path: string): Promise<number | null> =>
  stat(path).then(
    ({ size }) => size,
    () => null,
  );
