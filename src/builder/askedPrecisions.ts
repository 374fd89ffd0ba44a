import { buildFacts, flagsOfCommand } from '../core/precision/buildFacts.ts';
import { modelFacts } from '../core/precision/modelFacts.ts';
import { NodeIndex } from '../core/precision/nodeIndex.ts';
import { planPrecision } from '../core/precision/precisionPlan.ts';
import { readOverrides } from '../core/precision/readOverrides.ts';
import { resolveOverrides } from '../core/precision/resolveOverrides.ts';
import { verifyPrecision } from '../core/precision/verifyPrecision.ts';
import type { AskedPrecision } from '../core/scene/viewData.ts';
import type { Build } from './buildFolder.ts';
import { readBuildOverrides } from './overridesRecord.ts';
import type { ReportRead } from './readBuild.ts';

/** What the override rules of a build asked of each node, held against what was built. [] for a build without rules. */
export async function askedPrecisions(
  { folder, manifest }: Build,
  { report, model, log, layers }: ReportRead,
): Promise<AskedPrecision[]> {
  const overrides = await readBuildOverrides(folder);
  if (overrides === null) return [];
  const index = new NodeIndex(modelFacts(model, report.model.file));
  const flags = flagsOfCommand(manifest.command) ?? undefined;
  const facts = buildFacts(report, log ?? null, layers ?? null, flags);
  if (overrides.declared) facts.declared = overrides.declared;
  facts.unfinished = manifest.result !== 'passed';
  // A build of the model as it was before an edit says nothing about these nodes.
  if (facts.nodes.length !== index.nodes.length) return [];
  const file = readOverrides(overrides.rules);
  const plan = planPrecision(file, index, resolveOverrides(file, index, facts));
  return verifyPrecision(plan, facts, index).flatMap(({ line, nodes }) =>
    nodes.map(({ node, verdict, certain, reason }) => ({
      node: node.id,
      type: node.compute,
      line,
      verdict,
      certain,
      reason,
    })),
  );
}
