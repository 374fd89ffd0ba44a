import { buildHints } from '../../core/build/buildHints.ts';
import { toGraphData } from '../../core/scene/graph/graphData.ts';
import type { ViewData } from '../../core/scene/panel/viewData.ts';
import { askedPrecisions } from './buildFactsOf.ts';
import type { LoadedBuild } from './loadBuild.ts';

/** Everything that a view of a build needs. */
export function toViewData(build: LoadedBuild): ViewData {
  const { report, model, manifest, overrides } = build;
  return {
    title: report.model.file,
    graph: toGraphData(model),
    report,
    build: manifest,
    hints: manifest ? buildHints(manifest) : [],
    ...(overrides && { asked: askedPrecisions(build) }),
  };
}
