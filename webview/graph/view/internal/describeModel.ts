import { headlineOf } from '../../../../src/kernel/picture/page/headline.ts';
import { legendGroups } from '../../draw/groupLabels.ts';
import type { Palette } from '../../draw/palette.ts';
import type { GraphParts } from '../../panels/graphParts.ts';
import type { Legend } from '../../panels/legend.ts';
import type { GraphModel } from '../graphModel.ts';

/** Says above the graph what TensorRT did with a model, and offers the overlays that it has. */
export function describeModel({ figures, state, legend }: GraphParts, model: GraphModel, palette: Palette): void {
  const { report } = model.data;
  state.show(model);
  figures.show(headlineOf(model.data));
  legend.offer('overrides', model.asked.size > 0);
  legend.offer('evidence', report?.subject !== 'engine');
  legend.offer('accuracy', model.judged.size > 0);
  legend.offer('comparison', model.data.comparison !== undefined);
  showLegend(legend, model, palette);
}

/** Shows what the colors mean, and the groups. */
export function showLegend(legend: Legend, model: GraphModel, palette: Palette): void {
  legend.show(model.overlay, palette);
  legend.list(legendGroups(model), palette);
}
