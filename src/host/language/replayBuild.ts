import type * as vscode from 'vscode';
import type { Build } from '../../builder/store/buildFolder.ts';
import type { BuildManifest } from '../../core/build/buildManifest.ts';
import type { ReplayFile } from '../../core/replay/replayFile.ts';
import type { EngineOptions } from '../../core/build/engineOptions.ts';

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
  builds.find(({ manifest: { command } }) => command.includes(flag) && command[command.indexOf(flag) + 1] === fsPath);

/** The least precision that allows every type of a replay, if no one knows how it was recorded. */
export function precisionOf({ entries }: ReplayFile): NonNullable<EngineOptions['precision']> {
  const types = new Set(
    entries.flatMap(({ algorithm: { inputs, outputs } }) => [...inputs, ...outputs].map(({ dtype }) => dtype)),
  );
  const half = types.has('HALF');
  if (types.has('INT8')) return 'int8';
  if (types.has('FP8')) return 'fp8';
  if (types.has('BF16')) return half ? 'best' : 'bf16';
  return half ? 'fp16' : 'fp32';
}
