// The door of what a judgment of precision finds, and says of it.
export {
  type AccuracyFix,
  type AccuracyOutput,
  type AccuracyReport,
  type ComparedOutput,
  type FixRuleGain,
  type InputSource,
  type JudgedNode,
  type QuantizedInput,
  type Remedy,
  type RemedyTensor,
  type Sensitivity,
} from './internal/accuracyTypes.ts';
export { type Measured, type MeasuredNode, measureErrors } from './internal/nodeMeasures.ts';
export {
  hasRandomInputs,
  randomCaution,
  type RandomInput,
  randomInput,
  randomWarning,
} from './internal/randomInputs.ts';
export { finiteOrNull, isWithin, outputErrors, trialError, worstError } from './internal/outputErrors.ts';
export { moduleOf, sensitivityGroups } from './internal/sensitivityGroups.ts';
export {
  accuracyVerdict,
  castsText,
  channelsText,
  errorFigure,
  evidence,
  exactFigure,
  helpfulRemedy,
  magnitude,
  nodeLevel,
  nodeTitle,
  notJudgedTexts,
  outsideTable,
  passesTolerance,
  ruleHints,
  ruleLines,
  rulesWithout,
  storedError,
  unscaledError,
} from './internal/accuracyTexts.ts';
export {
  type JudgedOutputs,
  type MeasureKind,
  measureErrorTexts,
  measureKinds,
  measureNames,
  type PlannedOutput,
  planOutputs,
} from './internal/outputMeasures.ts';
