import type { TaskOptions } from './taskProperties.ts';

/** A usual way to build. `asks`: what the user must choose first. `typed`: what a typed copy of the model can do instead. */
export interface Preset {
  id: 'default' | 'fp16' | 'bf16' | 'fp32' | 'unfused' | 'int8' | 'typed' | 'shapes';
  options: Partial<TaskOptions>;
  asks?: 'calibration cache' | 'shapes';
  typed?: 'fp16' | 'bf16';
}

/** The ways that the build command offers; their names and what they are for are in `buildAs.ts`. */
export const presets: readonly Preset[] = [
  { id: 'default', options: {} },
  { id: 'fp16', options: { precision: 'fp16' }, typed: 'fp16' },
  { id: 'bf16', options: { precision: 'bf16' }, typed: 'bf16' },
  // TF32 would make the reference as inexact as what it is compared with.
  { id: 'fp32', options: { precision: 'fp32', noTF32: true } },
  { id: 'unfused', options: { outputs: 'all' } },
  { id: 'int8', options: { precision: 'int8' }, asks: 'calibration cache' },
  { id: 'typed', options: { stronglyTyped: true } },
  { id: 'shapes', options: {}, asks: 'shapes' },
];

/** A preset as a back-end can do it. */
export interface OfferedPreset {
  preset: Preset;
  way: 'options' | 'typed copy';
}

/**
 * The presets that a back-end can build, each in the way that works there.
 * @param refuses what the back-end would refuse of options, one sentence each
 */
export function offeredPresets(refuses: (options: Partial<TaskOptions>) => string[]): OfferedPreset[] {
  return presets.flatMap((preset): OfferedPreset[] => {
    if (refuses(preset.options).length === 0) return [{ preset, way: 'options' }];
    return preset.typed ? [{ preset, way: 'typed copy' }] : [];
  });
}
