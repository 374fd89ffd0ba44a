import { basename } from 'node:path';
import type { BuildDiff } from '../../core/diff/buildDiff.ts';
import { compareBuilds } from '../../core/diff/compareBuilds.ts';
import { diffReports } from '../../core/diff/diffReports.ts';
import { toGraphData } from '../../core/scene/graph/graphData.ts';
import type { ViewData } from '../../core/scene/panel/viewData.ts';
import type { BuildSide } from './buildSide.ts';

/**
 * What a view needs to show two builds side by side; its graph is that of B, null where B is a report without its model.
 * @param names what each side is called, where its file's name is not enough
 */
export function toComparison(
  a: BuildSide,
  b: BuildSide,
  names: { a: string; b: string } = { a: basename(a.source), b: basename(b.source) },
  diff: BuildDiff = diffReports(a, b),
): ViewData {
  const facts = a.manifest && b.manifest ? compareBuilds(asMade(a.manifest), asMade(b.manifest)) : [];
  return {
    title: b.report.model.file,
    graph: b.model === null ? null : toGraphData(b.model),
    report: b.report,
    build: b.manifest,
    hints: [],
    comparison: { diff, before: a.report, names, facts },
  };
}

/** A build by what it was made with alone: the diff says what came out. */
const asMade = (manifest: NonNullable<BuildSide['manifest']>) => ({ manifest, report: null });
