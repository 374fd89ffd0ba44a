import type * as vscode from 'vscode';
import type { Build } from '../../node/store/buildFolder.ts';
import type { BuildManifest } from '../../build/buildManifest.ts';
import type { ReplayFile } from '../../read/replay/replayFile.ts';
import type { EngineOptions } from '../../build/buildOptions.ts';
import { isSamePath } from '../../node/files/pathKey.ts';

/** Options that must be the same when a replay is loaded as when it was recorded: they decide what TensorRT offers. */
const decisive = [
  'precision',
  'stronglyTyped',
  'profiles',
  'workspace',
  'pools',
  'tacticSources',
  'optimizationLevel',
  'outputs',
] as const satisfies (keyof EngineOptions)[];

/** The options of the build that recorded a replay, as a task has them. */
export function optionsOfRecording({ options }: BuildManifest): Partial<EngineOptions> {
  const found: Record<string, unknown> = {};
  for (const name of decisive) {
    const value = options[name];
    // A manifest keeps what is neither a text nor a list as JSON.
    if (value !== undefined) found[name] = typeof value === 'string' && /^[[{]/.test(value) ? JSON.parse(value) : value;
  }
  return found;
}

/** The newest of the builds that recorded a replay, or loaded it. */
export const buildOfReplay = (
  builds: readonly Build[],
  flag: '--save-tactics' | '--load-tactics',
  { fsPath }: vscode.Uri,
): Build | undefined =>
  builds.find(({ manifest: { command } }) => {
    const path = command.includes(flag) ? command[command.indexOf(flag) + 1] : undefined;
    return path !== undefined && isSamePath(path, fsPath);
  });

/** The least precision that allows every type of a replay, if no one knows how it was recorded. */
export function precisionOf({ entries }: ReplayFile): Pick<EngineOptions, 'precision' | 'extraArguments'> {
  const types = new Set(
    entries.flatMap(({ algorithm: { inputs, outputs } }) => [...inputs, ...outputs].map(({ dtype }) => dtype)),
  );
  const half = types.has('HALF') ? 'fp16' : 'fp32';
  const precision = types.has('INT8') ? 'int8' : types.has('FP8') ? 'fp8' : half;
  if (!types.has('BF16')) return { precision };
  // No mode allows BF16 together with another type; its switch has the same name in every program.
  return precision === 'fp32' ? { precision: 'bf16' } : { precision, extraArguments: ['--bf16'] };
}
