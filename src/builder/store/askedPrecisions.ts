import { type BuildFacts, buildFacts, flagsOfCommand } from '../../core/precision/check/buildFacts.ts';
import { modelFacts } from '../../core/precision/plan/modelFacts.ts';
import { NodeIndex } from '../../core/precision/language/nodeIndex.ts';
import { planPrecision } from '../../core/precision/plan/precisionPlan.ts';
import { readOverrides } from '../../core/precision/language/readOverrides.ts';
import { resolveOverrides } from '../../core/precision/language/resolveOverrides.ts';
import { verifyPrecision } from '../../core/precision/verify/verifyPrecision.ts';
import type { AskedPrecision } from '../../core/scene/panel/viewData.ts';
import type { Build } from './buildFolder.ts';
import { readBuildOverrides } from './overridesRecord.ts';
import type { ReportRead } from './readBuild.ts';

/** What the override rules of a build asked of each node, held against what was built. [] for a build without rules. */
export async function askedPrecisions(build: Build, read: ReportRead): Promise<AskedPrecision[]> {
  const overrides = await readBuildOverrides(build.folder);
  if (overrides === null) return [];
  const index = new NodeIndex(modelFacts(read.model, read.report.model.file));
  const facts = await factsOfBuild(build, read);
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

/** What a build made of its model, with what its manifest and its record of rules know beside the log. */
export async function factsOfBuild(
  { folder, manifest }: Build,
  { report, log, layers }: ReportRead,
): Promise<BuildFacts> {
  const facts = buildFacts(report, log ?? null, layers ?? null, flagsOfCommand(manifest.command) ?? undefined);
  const declared = (await readBuildOverrides(folder))?.declared;
  return { ...facts, ...(declared && { declared }), unfinished: manifest.result !== 'passed' };
}
