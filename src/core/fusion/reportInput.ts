import type { BuildLog } from '../engine/buildLog.ts';
import type { LayerInfo } from '../engine/layerInfo.ts';
import type { ReportBuild, ReportShape } from './fusionReport.ts';
import type { Profile } from '../engine/profile.ts';
import type { KernelCounters } from '../engine/readNcu.ts';
import type { OnnxModel } from '../onnx/onnxModel.ts';
import type { Problem } from '../text/problem.ts';

/** What a report is made of: a model, if there is its ONNX file, and what there is of its build. */
export interface ReportInput {
  /** null: there is no ONNX file, so the report is on the engine alone. */
  model: OnnxModel | null;
  /** The name for the report: the model's file, without a model the file that lists the layers. */
  modelFile: string;
  modelProblems?: Problem[] | undefined;
  layerInfo?: LayerInfo | undefined;
  log?: BuildLog | undefined;
  /** Which of several builds of its file the log is. */
  build?: ReportBuild | undefined;
  profile?: Profile | undefined;
  /** What Nsight Compute measured, in the order of the launches. */
  counters?: readonly KernelCounters[] | undefined;
  /** What the readers of layer info, log and profile found. */
  problems?: Problem[] | undefined;
  /** The shapes for which the build says it made its engine. */
  builtShapes?: ReportShape[] | undefined;
  /** Names of nodes that were added to the model for this build, such as the Casts of precision overrides. */
  added?: readonly string[] | undefined;
}
