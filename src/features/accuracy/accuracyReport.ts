// The door of what a judgment of precision finds, and says of it.
export { measureErrors } from './internal/nodeMeasures.ts';
export { finiteOrNull, isWithin, outputErrors, trialError, worstError } from './internal/outputErrors.ts';
export { moduleOf, sensitivityGroups } from './internal/sensitivityGroups.ts';
export {
  accuracyVerdict,
  castsText,
  channelsText,
  helpfulRemedy,
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
export { type JudgedOutputs, measureErrorTexts, planOutputs } from './internal/outputMeasures.ts';
