import type { TaskOptions } from './taskProperties.ts';

/** A usual way to build. `asks`: what the user must choose first. */
export interface Preset {
  id: 'default' | 'fp16' | 'fp32' | 'unfused' | 'int8' | 'typed' | 'shapes';
  options: Partial<TaskOptions>;
  asks?: 'calibration cache' | 'shapes';
}

/** The ways that the build command offers; their names and what they are for are in `buildAs.ts`. */
export const presets: readonly Preset[] = [
  { id: 'default', options: {} },
  { id: 'fp16', options: { precision: 'fp16' } },
  // TF32 would make the reference as inexact as what it is compared with.
  { id: 'fp32', options: { precision: 'fp32', noTF32: true } },
  { id: 'unfused', options: { outputs: 'all' } },
  { id: 'int8', options: { precision: 'int8' }, asks: 'calibration cache' },
  { id: 'typed', options: { stronglyTyped: true } },
  { id: 'shapes', options: {}, asks: 'shapes' },
];
