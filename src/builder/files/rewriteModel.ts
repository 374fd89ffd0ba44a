import { basename } from 'node:path';
import { planEdit } from '../../core/onnx/editModel.ts';
import { readModel } from '../../core/onnx/readModel.ts';
import type { BuildFacts } from '../../core/precision/check/buildFacts.ts';
import { inferTypes } from '../../core/precision/plan/inferTypes.ts';
import { lossNotes } from '../../core/precision/rewrite/lossNotes.ts';
import { modelFacts } from '../../core/precision/plan/modelFacts.ts';
import { NodeIndex } from '../../core/precision/language/nodeIndex.ts';
import type { OverrideFile } from '../../core/precision/language/overrideFile.ts';
import { planPrecision, type PrecisionPlan } from '../../core/precision/plan/precisionPlan.ts';
import { resolveOverrides } from '../../core/precision/language/resolveOverrides.ts';
import { planRewrite, type RewriteOptions } from '../../core/precision/rewrite/planRewrite.ts';
import type { RewritePlan } from '../../core/precision/rewrite/rewritePlan.ts';
import type { Problem } from '../../core/text/problem.ts';
import { checkOutput, weightFiles } from './checkOutput.ts';
import { openFile } from './fileSource.ts';
import { UserError } from '../userError.ts';
import { externalFileFor, externalLocations, writeModel, type WrittenModel } from './writeModel.ts';

export interface RewriteRequest extends RewriteOptions {
  /** Path of the model, gzip-compressed or not; its external data lies beside it. */
  model: string;
  rules: OverrideFile;
  /** Instead of the `base` line of the rules. */
  base?: PrecisionPlan['base'] | undefined;
  /** Path of the model to write; a file of this name is replaced. */
  out: string;
  /** The last build of this model, which `group:` selectors need. */
  build?: BuildFacts | null;
  signal?: AbortSignal | undefined;
}

export interface RewrittenModel extends WrittenModel {
  rewrite: RewritePlan;
  /** Weights that the new types could not hold, in sentences. */
  lossNotes: ReturnType<typeof lossNotes>;
}

/**
 * Writes a strongly typed copy of a model that computes in the types of override rules. Rules with errors are passed
 * over: check them before.
 * @throws {UserError} when the model cannot be read, rewritten so, or written
 */
export async function rewriteModel({ model: path, out, signal, ...request }: RewriteRequest): Promise<RewrittenModel> {
  const source = await openFile(path);
  try {
    const { value: model, problems } = await readModel(source, { spans: true });
    refuseErrors(path, problems);
    if (!model) throw new UserError(`${path} cannot be read as an ONNX model`);
    const used = externalLocations(model);
    await checkOutput(out, [path, ...weightFiles(path, used)]);
    const types = inferTypes(model);
    const index = new NodeIndex(modelFacts(model, basename(path), types));
    const plan = planPrecision(request.rules, index, resolveOverrides(request.rules, index, request.build ?? null));
    const rewrite = planRewrite(model, { ...plan, base: request.base ?? plan.base }, request, types);
    refuseErrors(path, rewrite.problems);
    const externalFile = externalFileFor(out, new Set([...used, basename(path)]));
    const edited = await planEdit(model, source, rewrite, { externalFile });
    refuseErrors(path, edited.problems);
    const written = await writeModel(edited.value!, { path, source }, out, signal);
    return { rewrite, ...written, lossNotes: lossNotes(model, written.loss) };
  } finally {
    await source.close();
  }
}

function refuseErrors(path: string, problems: Problem[]): void {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (!first) return;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more problems)` : '';
  throw new UserError(`${path}: ${first.message}${more}`);
}
