import type { DiagnosisRule } from './rule.ts';
import { BUILDER_RULES } from './rules/builderRules.ts';
import { CHECK_RULES, STATEMENT_RULES } from './rules/checkRules.ts';
import { DLA_RULES } from './rules/dlaRules.ts';
import { ENGINE_RULES } from './rules/engineRules.ts';
import { ENVIRONMENT_RULES } from './rules/environmentRules.ts';
import { FORM_RULES } from './rules/formRules.ts';
import { FRAMEWORK_RULES } from './rules/frameworkRules.ts';
import { LAYER_RULES } from './rules/layerRules.ts';
import { LIBRARY_RULES } from './rules/libraryRules.ts';
import { MODEL_RULES } from './rules/modelRules.ts';
import { OPERATOR_RULES } from './rules/operatorRules.ts';
import { PRECISION_RULES } from './rules/precisionRules.ts';
import { PROFILE_RULES } from './rules/profileRules.ts';
import { PROGRAM_RULES, REPLAY_RULES } from './rules/programRules.ts';
import { RUNTIME_RULES } from './rules/runtimeRules.ts';
import { SHAPE_RULES } from './rules/shapeRules.ts';
import { TORCH_RULES } from './rules/torchRules.ts';
import { TYPE_RULES } from './rules/typeRules.ts';

/**
 * Every message that is known, from real messages of TensorRT 5 to 11, TensorRT-RTX, Polygraphy and the programs around
 * them. More particular texts come before more general ones: the first that matches wins.
 */
export const RULES: readonly DiagnosisRule[] = [
  ...REPLAY_RULES,
  ...MODEL_RULES,
  ...OPERATOR_RULES,
  ...FORM_RULES,
  ...TYPE_RULES,
  ...SHAPE_RULES,
  ...DLA_RULES,
  ...ENVIRONMENT_RULES,
  ...LIBRARY_RULES,
  ...PRECISION_RULES,
  ...BUILDER_RULES,
  ...PROFILE_RULES,
  ...ENGINE_RULES,
  ...RUNTIME_RULES,
  ...TORCH_RULES,
  ...FRAMEWORK_RULES,
  ...LAYER_RULES,
  ...CHECK_RULES,
  ...PROGRAM_RULES,
  ...STATEMENT_RULES,
];
