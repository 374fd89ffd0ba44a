import { forceOption } from '../../../../kernel/node/cli/arguments.ts';
import type { TensorrtPlace } from '../../../../kernel/node/run/tensorrtJob.ts';
import { enginePlatforms, engineRuntimes, type EngineTarget } from '../../../../kernel/inspect/inspection.ts';
import type { readArguments } from '../../../../kernel/node/cli/arguments.ts';
import { Usage } from '../../../../kernel/node/cli/command.ts';
import type { Terminal } from '../../../../kernel/node/cli/terminal.ts';
import { driverFolder } from '../../../../kernel/node/cli/driverScript.ts';

export const inspectOptions = {
  json: { type: 'boolean' },
  tensorrt: { type: 'string' },
  'compute-capability': { type: 'string' },
  runtime: { type: 'string' },
  platform: { type: 'string' },
  read: { type: 'boolean' },
  layers: { type: 'string' },
  ...forceOption,
  plugin: { type: 'string', multiple: true },
  'allow-host-code': { type: 'boolean' },
  python: { type: 'string' },
  launcher: { type: 'string' },
} as const;

export type InspectValues = ReturnType<typeof readArguments<typeof inspectOptions>>['values'];

/** Where the engine is to run. */
export async function inspectTarget(values: InspectValues): Promise<EngineTarget> {
  const computeCapability = values['compute-capability'] ?? null;
  if (computeCapability !== null && !/^\d+\.\d$/.test(computeCapability))
    throw new Usage(`--compute-capability: '${computeCapability}' does not have the form 8.9`);
  const runtime = oneOf('runtime', values.runtime, engineRuntimes);
  const platform = oneOf('platform', values.platform, enginePlatforms);
  const product = values.tensorrt === undefined ? null : await productOf(values.tensorrt);
  const version = /\d+(?:\.\d+)*$/.exec(values.tensorrt ?? '')?.[0] ?? null;
  return { product, version, computeCapability, runtime, platform };
}

function oneOf<T extends string>(option: string, text: string | undefined, known: readonly T[]): T | null {
  if (text === undefined) return null;
  const found = known.find((one) => one === text);
  if (found === undefined) throw new Usage(`--${option}: unknown value '${text}'; values are ${known.join(', ')}`);
  return found;
}

/** Loaded only for a comparison. */
const productOf = async (version: string) =>
  (await import('../../../../kernel/node/cli/readTarget.ts')).readTarget(version).product;

/** Where TensorRT's Python module runs. */
export async function tensorrtPlace({ python, launcher }: InspectValues, terminal: Terminal): Promise<TensorrtPlace> {
  return {
    scripts: driverFolder,
    python,
    launcher:
      launcher === undefined
        ? undefined
        : await (await import('../../../../kernel/node/cli/launcherFile.ts')).readLauncherFile(launcher),
    signal: terminal.signal,
    output: (line) => terminal.note(line),
  };
}
