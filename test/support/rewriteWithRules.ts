import { ParsedFiles } from '../../src/builder/files/parsedFiles.ts';
import { rewriteModel, type RewrittenModel } from '../../src/builder/precision/rewriteModel.ts';
import { readOverrides } from '../../src/core/precision/readOverrides.ts';
import { resolveOverrides } from '../../src/core/precision/resolveOverrides.ts';
import { planPrecision } from '../../src/core/precision/precisionPlan.ts';
import type { RewriteOptions } from '../../src/core/precision/planRewrite.ts';

/** Writes a copy of a model in which the rules hold. */
export async function rewriteWithRules(
  path: string,
  rules: string,
  out: string,
  options: RewriteOptions = {},
): Promise<RewrittenModel> {
  const model = await new ParsedFiles().indexed(path, { spans: true });
  const file = readOverrides(rules);
  const plan = planPrecision(file, model.index, resolveOverrides(file, model.index, null));
  return rewriteModel({ model, plan, out, ...options });
}
