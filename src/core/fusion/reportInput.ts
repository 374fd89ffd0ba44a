import type { BuildLog } from '../engine/buildLog.ts';
import type { LayerInfo } from '../engine/layerInfo.ts';
import type { ReportBuild, ReportShape } from './fusionReport.ts';
import type { Profile } from '../engine/profile.ts';
import type { OnnxModel } from '../onnx/onnxModel.ts';
import type { Problem } from '../text/problem.ts';

/** What a report is made of: a model, and what there is of its build. */
export interface ReportInput {
  model: OnnxModel;
  /** The name for the report. */
  modelFile: string;
  modelProblems?: Problem[] | undefined;
  layerInfo?: LayerInfo | undefined;
  log?: BuildLog | undefined;
  /** Which of several builds of its file the log is. */
  build?: ReportBuild | undefined;
  profile?: Profile | undefined;
  /** What the readers of layer info, log and profile found. */
  problems?: Problem[] | undefined;
  /** The shapes for which the build says it made its engine. */
  builtShapes?: ReportShape[] | undefined;
  /** Names of nodes that were added to the model for this build, such as the Casts of precision overrides. */
  added?: readonly string[] | undefined;
}
