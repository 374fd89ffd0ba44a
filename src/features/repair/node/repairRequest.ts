import type { PythonWithRuntime } from '../../../kernel/node/tools/pythonWithRuntime.ts';
import type { CheckTarget } from '../../diagnose/checkModel.ts';
import type { ProofVerdict } from '../repairResult.ts';
import type { Repair } from '../planRepair.ts';
import type { BuildOptions } from '../../../kernel/node/run/runBuild.ts';

export interface RepairRequest {
  /** A version that is not built with: the tables of `trtlens check` decide; omitted: builds do. */
  target?: CheckTarget | undefined;
  /** How to build, and the model. */
  options: BuildOptions;
  /** Where the repaired model goes; null: nothing is written. */
  out: string | null;
  /** Classes in addition to `exact` that are allowed, and ids of single repairs. */
  allow: ReadonlySet<string>;
  /** Ids of repairs to make whatever the build says; omitted: what is needed is searched for. */
  only?: readonly string[] | undefined;
  /** Files of inputs for the proof; none: values are made. */
  samples: readonly string[];
  /** Called once ONNX Runtime is needed: not for a model that builds. */
  runtime: () => Promise<PythonWithRuntime>;
  /** Path of `repair_model.py`. */
  script: string;
}

export interface RepairEvents {
  /** One line about what is done now. */
  progress?: (text: string) => void;
  /** Whether a repair that is not allowed may be made. */
  ask?: (repair: Repair, places: number, verdict: ProofVerdict) => Promise<boolean>;
}
