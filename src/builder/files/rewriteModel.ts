import { basename } from 'node:path';
import { planEdit } from '../../core/onnx/editModel.ts';
import { lossNotes } from '../../core/precision/rewrite/lossNotes.ts';
import type { PrecisionPlan } from '../../core/precision/plan/precisionPlan.ts';
import { planRewrite, type RewriteOptions } from '../../core/precision/rewrite/planRewrite.ts';
import type { RewritePlan } from '../../core/precision/rewrite/rewritePlan.ts';
import type { Problem } from '../../core/text/problem.ts';
import { checkOutput, weightFiles } from './checkOutput.ts';
import { openFile } from './fileSource.ts';
import type { IndexedModel } from './parsedFiles.ts';
import { UserError } from '../userError.ts';
import { externalFileFor, externalLocations, writeModel, type WrittenModel } from './writeModel.ts';

export interface RewriteRequest extends RewriteOptions {
  /** The model, read with spans; its external data is next to it. */
  model: IndexedModel;
  /** What the rules make of it. */
  plan: PrecisionPlan;
  /** Path of the model to write; a file of this name is replaced. */
  out: string;
  signal?: AbortSignal | undefined;
}

export interface RewrittenModel extends WrittenModel {
  rewrite: RewritePlan;
  /** Weights that the new types could not hold, in sentences. */
  lossNotes: ReturnType<typeof lossNotes>;
}

/**
 * Writes a strongly typed copy of a model that computes in the types that a plan gives its nodes.
 * @throws {UserError} if the model was damaged, cannot be rewritten so, or cannot be written
 */
export async function rewriteModel(request: RewriteRequest): Promise<RewrittenModel> {
  const { out, plan, signal } = request;
  const { path, model, problems, types } = request.model;
  refuseErrors(path, problems);
  const used = externalLocations(model);
  await checkOutput(out, [path, ...weightFiles(path, used)]);
  const rewrite = planRewrite(model, plan, request, types);
  refuseErrors(path, rewrite.problems);
  const source = await openFile(path);
  try {
    const externalFile = externalFileFor(out, new Set([...used, basename(path)]));
    const edited = await planEdit(model, source, rewrite, { externalFile });
    refuseErrors(path, edited.problems);
    const written = await writeModel(edited.value!, { path, source }, out, signal);
    return { rewrite, ...written, lossNotes: lossNotes(model, written.loss) };
  } finally {
    await source.close();
  }
}

/** @throws {UserError} with the first error among problems with a model */
export function refuseErrors(path: string, problems: Problem[]): void {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (!first) return;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more problems)` : '';
  throw new UserError(`${path}: ${first.message}${more}`);
}
