import type { BuildManifest } from '../../core/build/buildManifest.ts';
import { precisionSentence } from '../../core/report/precisionShare.ts';
import { buildHints } from '../../core/build/buildHints.ts';
import { toGraphData } from '../../core/scene/graph/graphData.ts';
import type { ViewData } from '../../core/scene/panel/viewData.ts';
import { askedPrecisions } from './buildFactsOf.ts';
import type { LoadedBuild } from './loadBuild.ts';
import { realisedPrecision } from './realisedPrecision.ts';

/** Everything that a view of a build needs. */
export function toViewData(build: LoadedBuild): ViewData {
  const { report, model, manifest, overrides } = build;
  return {
    title: report.model.file,
    graph: toGraphData(model),
    report,
    build: manifest,
    hints: manifest ? hintsOf(build, manifest) : [],
    ...(overrides && { asked: askedPrecisions(build) }),
  };
}

/** What the user must know about a build, and how much of the requested precision it has. */
export function hintsOf(build: LoadedBuild, manifest: BuildManifest): string[] {
  const precision = realisedPrecision(build);
  return [...(precision ? [precisionSentence(precision)] : []), ...buildHints(manifest)];
}
