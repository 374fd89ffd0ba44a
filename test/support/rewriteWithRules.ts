import { ParsedFiles } from '../../src/kernel/node/files/parsedFiles.ts';
import { rewriteModel, type RewrittenModel } from '../../src/features/precision/node/rewriteModel.ts';
import { readOverrides } from '../../src/kernel/rules/readOverrides.ts';
import { resolveOverrides } from '../../src/kernel/rules/resolveOverrides.ts';
import { planPrecision } from '../../src/kernel/rules/precisionPlan.ts';
import type { RewriteOptions } from '../../src/features/precision/planRewrite.ts';

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
