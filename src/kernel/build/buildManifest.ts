import type { BuildManifest } from './internal/manifest.ts';
import type { ShapeRange } from './internal/optionValues.ts';
// The door of what a build records: its request, its shapes, its progress.
export {
  fitsKind,
  kindText,
  type OptionKind,
  type OptionValues,
  precisionModes,
  type ShapeRange,
} from './internal/optionValues.ts';
export { type BuiltShape, builtShapes, shapesText, sizesOf } from './internal/builtShapes.ts';
export {
  BuildProgress,
  progressLine,
  type ProgressState,
  type ReportedStep,
  stageWords,
  type TimeLine,
} from './internal/buildProgress.ts';
export {
  type BuildFailure,
  type BuildManifest,
  buildsOnlyTyped,
  type DiagnosisCode,
  programFailure,
} from './internal/manifest.ts';
export { buildHints, buildWords, differingNames, releaseChange, requestText } from './internal/buildWords.ts';

/** The usual shape of each input; null: none has a range. */
export function usualShapes({ shapes: [first = []] = [] }: BuildManifest): Record<string, ShapeRange> | null {
  if (first.every(({ min, max }) => min === max)) return null;
  return Object.fromEntries(first.map(({ input, opt }) => [input, { min: opt, opt, max: opt }]));
}
