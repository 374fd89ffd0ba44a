import type { ShapeRange } from '../../build/buildManifest.ts';
import type { CommandNote, EngineOptions } from '../../build/buildOptions.ts';
import type { Diagnosis } from '../../build/diagnosis.ts';
import type { RepairStep } from '../../network/repairMap.ts';
import type { OnnxModel } from '../../read/onnx/onnxModel.ts';
import type { BuildLog } from '../../read/tensorrt/buildOutput.ts';
import { UserError } from '../files/userError.ts';

/** What to build instead, so that the rules hold. */
export interface AppliedOverrides {
  /** Path of the model to parse. */
  model: string;
  options: Partial<EngineOptions>;
  notes: CommandNote[];
  /** SHA-256 of the rules' text, for the manifest; null: without rules. */
  rulesSha256: string | null;
}

/** Subfolder of a build's folder for the typed copy; it is as large as the model, and goes when the build has ended. */
export const typedCopyFolder = 'typed';

/** A failure, or what will be one, with the repair that its rule names. */
export interface FailureWithRepair {
  repair?: string;
  nodes: string[];
  message: string;
}

/** Steps of builds and checks that features fill. */
export interface BuildSteps {
  /**
   * Makes the rules of `options.overrides` part of a build: brings the model that is parsed into the form to build.
   * @throws {UserError} if the rules cannot be read, have errors, or cannot be met by this TensorRT
   */
  applyOverrides: (
    options: EngineOptions & { folder?: string; cache?: string | undefined },
    built: { product: 'tensorrt' | 'tensorrt-rtx'; version: string | null },
    model: string,
    folder: string,
    signal?: AbortSignal,
  ) => Promise<AppliedOverrides>;
  /** What went wrong in a build, the first cause first. */
  diagnose: (log: BuildLog, model?: OnnxModel) => Promise<Diagnosis[]>;
  /** Failures with the repair that answers each. */
  withApplyingRepairs: <T extends FailureWithRepair>(path: string, failures: readonly T[]) => Promise<T[]>;
  /** The repairs that apply to a model, whether its build fails or not. */
  suggestRepairs: (path: string, profiles: readonly Record<string, ShapeRange>[] | undefined) => Promise<RepairStep[]>;
}

/** Without a feature, its step leaves the build as it is. `registerSteps` in `src/registry.ts` fills them. */
export const buildSteps: BuildSteps = {
  applyOverrides: async ({ overrides }, _built, model) => {
    if (overrides !== undefined) throw new UserError('This program was built without precision rules');
    return { model, options: {}, notes: [], rulesSha256: null };
  },
  diagnose: async () => [],
  withApplyingRepairs: async (_path, failures) => failures.map((failure) => ({ ...failure, repair: undefined })),
  suggestRepairs: async () => [],
};
