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
