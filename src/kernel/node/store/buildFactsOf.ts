import { type BuildFacts, buildFacts, flagsOfCommand, modelFacts } from '../../rules/buildFacts.ts';
import { NodeIndex } from '../../rules/resolveOverrides.ts';
import { recordedPlan, verifyPrecision } from '../../rules/verifyPrecision.ts';
import type { RequestedPrecision } from '../../picture/graph/viewData.ts';
import type { LoadedBuild } from './loadBuild.ts';

/**
 * What a build made of its model, with what its manifest and its record of rules know next to the log: plain JSON,
 * which also travels to the language server.
 */
export function buildFactsOf({ model, report, log, layers, manifest, overrides }: LoadedBuild): BuildFacts {
  // Where the command is not known, the log may have it.
  const flags = (manifest && flagsOfCommand(manifest.command)) ?? undefined;
  const facts = buildFacts(report, log, layers, flags, model.nodes);
  if (manifest) {
    facts.gpu ??= manifest.gpu;
    facts.unfinished = manifest.result !== 'passed';
  }
  // A copy of the model as it was before an edit says nothing about these nodes.
  if (overrides?.declared?.length === model.nodes.length) facts.declared = overrides.declared;
  if (overrides) facts.rules = overrides.rules;
  else if (manifest?.origin === 'built') facts.rules = null;
  return facts;
}

/** What the override rules of a build requested of each node, compared with what was built. [] for a build without rules. */
export function requestedPrecisions(build: LoadedBuild): RequestedPrecision[] {
  if (build.overrides === null) return [];
  const index = new NodeIndex(modelFacts(build.model, build.report.model.file));
  const facts = buildFactsOf(build);
  const plan = recordedPlan(facts, index);
  if (!plan) return [];
  return verifyPrecision(plan, facts, index).flatMap(({ line, nodes }) =>
    nodes.flatMap(({ node, verdict, certain, reason }) =>
      // By its own rules nothing is unbuilt.
      verdict === 'unbuilt' ? [] : [{ node: node.id, type: node.compute, line, verdict, certain, reason }],
    ),
  );
}
