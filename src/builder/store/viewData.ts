import { buildHints, type BuildManifest } from '../../core/build/buildManifest.ts';
import { precisionSentence } from '../../core/report/words.ts';
import { toGraphData, type ViewData } from '../../core/picture/graph/viewData.ts';
import { requestedPrecisions } from './buildFactsOf.ts';
import type { LoadedBuild } from './loadBuild.ts';
import { realizedPrecision } from './realizedPrecision.ts';

/** Everything that a view of a build needs. */
export function toViewData(build: LoadedBuild): ViewData {
  const { report, model, manifest, overrides } = build;
  return {
    title: report.model.file,
    graph: toGraphData(model),
    report,
    build: manifest,
    hints: manifest ? hintsOf(build, manifest) : [],
    ...(overrides && { asked: requestedPrecisions(build) }),
  };
}

/** What the user must know about a build, and how much of the requested precision it has. */
export function hintsOf(build: LoadedBuild, manifest: BuildManifest): string[] {
  const precision = realizedPrecision(build);
  return [...(precision ? [precisionSentence(precision)] : []), ...buildHints(manifest)];
}
