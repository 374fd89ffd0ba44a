import { buildHints } from '../../build/buildManifest.ts';
import { toGraphData, type ViewData } from '../../picture/graph/viewData.ts';
import { requestedPrecisions } from './buildFactsOf.ts';
import type { LoadedBuild } from './loadBuild.ts';
import { requestedPrecision } from './realizedPrecision.ts';

/** Everything that a view of a build needs. */
export function toViewData(build: LoadedBuild): ViewData {
  const { report, model, manifest, overrides } = build;
  const requested = requestedPrecision(build);
  return {
    title: report.model.file,
    graph: toGraphData(model),
    report,
    build: manifest,
    hints: manifest ? buildHints(manifest) : [],
    ...(requested !== null && { requested }),
    ...(overrides && { asked: requestedPrecisions(build) }),
  };
}
