import { summarySentence } from '../../../../src/core/report/words.ts';
import { legendGroups } from '../../draw/groupLabels.ts';
import type { Palette } from '../../draw/palette.ts';
import type { GraphParts } from '../../panels/graphParts.ts';
import { graphStrings } from '../../panels/graphStrings.ts';
import type { Legend } from '../../panels/legend.ts';
import type { GraphModel } from '../graphModel.ts';

/** Says above the graph what TensorRT did with a model, and offers the overlays that it has. */
export function describeModel(
  { sentence, hints, state, legend }: GraphParts,
  model: GraphModel,
  palette: Palette,
): void {
  const { report } = model.data;
  hints.textContent = model.data.hints.join(' ');
  hints.hidden = model.data.hints.length === 0;
  state.show(model);
  sentence.textContent =
    report === null
      ? graphStrings.noReport(model.graph.nodes, model.data.build !== null)
      : // A number and its unit stay in one line.
        summarySentence(report).replaceAll(' %', '\u00a0%');
  // The header shows as much of both as two lines have room for.
  sentence.title = hints.title = `${sentence.textContent} ${hints.textContent}`.trim();
  legend.offer('overrides', model.asked.size > 0);
  legend.offer('evidence', report?.subject !== 'engine');
  for (const kind of ['accuracy', 'range'] as const) legend.offer(kind, model.judged.size > 0);
  legend.offer('comparison', model.data.comparison !== undefined);
  legend.offer('placement', model.data.report?.placement !== undefined);
  showLegend(legend, model, palette);
}

/** Shows what the colors mean, and the groups. */
export function showLegend(legend: Legend, model: GraphModel, palette: Palette): void {
  legend.show(model.overlay, palette);
  legend.list(legendGroups(model), palette);
}
