import { basename } from 'node:path';
import { compareBuilds } from '../../../kernel/report/buildDiff.ts';
import { diffReports, matchInputs } from '../diffReports.ts';
import { withOlderNodes } from '../changeRows.ts';
import { type GraphData, toGraphData, type ViewData } from '../../../kernel/picture/graph/viewData.ts';
import type { BuildSide } from '../../../kernel/node/store/buildSide.ts';

/**
 * What a view needs to show two builds side by side. Its graph is that of B with the nodes that only A has; null where B
 * is a report without its model.
 * @param names what each side is called, where its file's name is not enough
 */
export function toComparison(
  a: BuildSide,
  b: BuildSide,
  names: { a: string; b: string } = { a: basename(a.source), b: basename(b.source) },
): ViewData {
  const facts = a.manifest && b.manifest ? compareBuilds(asMade(a.manifest), asMade(b.manifest)) : [];
  const match = matchInputs(a, b);
  return {
    title: b.report.model.file,
    graph: graphOf(a, b, match.toB),
    report: b.report,
    build: b.manifest,
    hints: [],
    comparison: { diff: diffReports(a, b, match), before: a.report, names, facts },
  };
}

function graphOf(a: BuildSide, b: BuildSide, toB: Int32Array): GraphData | null {
  if (b.model === null) return null;
  const graph = toGraphData(b.model);
  return a.model === null ? graph : withOlderNodes(graph, { graph: toGraphData(a.model), report: a.report }, toB);
}

/** A build by what it was made with alone: the diff says what came out. */
const asMade = (manifest: NonNullable<BuildSide['manifest']>) => ({ manifest, report: null });
