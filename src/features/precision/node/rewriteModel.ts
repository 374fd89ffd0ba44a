import type { IndexedModel } from '../../../kernel/node/files/parsedModel.ts';
import { basename } from 'node:path';
import { planEdit } from '../../../kernel/read/onnx/editModel.ts';
import { lossNotes, planRewrite, type RewriteOptions, type RewritePlan, withPairs } from '../planRewrite.ts';
import type { PrecisionPlan } from '../../../kernel/rules/precisionPlan.ts';
import { refuseErrors } from '../../../kernel/node/files/refuseErrors.ts';
import { checkOutput, weightFiles } from '../../../kernel/node/files/writeResult.ts';
import { withFile } from '../../../kernel/node/files/fileSource.ts';
import { pairsForRules, type ScalesSource } from '../../quantization/node/pairsForRules.ts';
import {
  externalFileFor,
  externalLocations,
  writeModel,
  type WrittenModel,
} from '../../../kernel/node/files/writeModel.ts';

export interface RewriteRequest extends RewriteOptions {
  /** The model, read with spans; its external data is next to it. */
  model: IndexedModel;
  /** What the rules make of it. */
  plan: PrecisionPlan;
  /** Path of the model to write; a file of this name is replaced. */
  out: string;
  /** Where the scales of `int8` rules are from; absent: nothing gives them. */
  scales?: ScalesSource | undefined;
  signal?: AbortSignal | undefined;
}

export interface RewrittenModel extends WrittenModel {
  rewrite: RewritePlan;
  /** Names of the nodes that were inserted: Casts, and Q/DQ nodes. */
  added: string[];
  /** Ids of the nodes that compute in INT8 between new Q/DQ pairs. */
  quantized: ReadonlySet<string>;
  /** Weights that the new types could not hold, in sentences. */
  lossNotes: ReturnType<typeof lossNotes>;
}

/**
 * Writes a strongly typed copy of a model that computes in the types that a plan gives its nodes.
 * @throws {UserError} if the model was damaged, cannot be rewritten so, or cannot be written
 */
export async function rewriteModel(request: RewriteRequest): Promise<RewrittenModel> {
  const { out, plan, signal } = request;
  const { path, model, problems } = request.model;
  refuseErrors(path, problems);
  const used = externalLocations(model);
  await checkOutput(out, [path, ...weightFiles(path, used)], 'model');
  return withFile(path, async (source) => {
    const pairs = request.scales ? await pairsForRules(request.model, source, plan, request.scales, signal) : null;
    const rewrite = planRewrite(model, plan, { ...request, pairs: pairs?.edits });
    refuseErrors(path, rewrite.problems);
    rewrite.problems.push(...(pairs?.problems ?? []));
    const externalFile = externalFileFor(out, new Set([...used, basename(path)]));
    const edited = await planEdit(model, source, withPairs(rewrite, pairs?.edits ?? null), {
      externalFile,
    });
    refuseErrors(path, edited.problems);
    const written = await writeModel(edited.value!, { path, source }, out, signal);
    const inserted = [...rewrite.casts, ...(pairs?.edits.insert ?? []).map(({ node }) => node)];
    const added = inserted.map(({ name }) => name);
    return {
      rewrite,
      added,
      quantized: pairs?.nodes ?? new Set(),
      ...written,
      lossNotes: lossNotes(model, written.loss),
    };
  });
}
