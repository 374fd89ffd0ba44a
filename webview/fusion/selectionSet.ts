import type { FusionReport } from '../../src/core/fusion/fusionReport.ts';
import { unitMatcher } from '../../src/core/scene/fusionUnits.ts';
import type { FusionUnit } from '../../src/core/scene/fusionUnits.ts';
import type { Selection } from '../../src/protocol/views.ts';

/** What is selected, made ready for asking often. */
export interface SelectionSet {
  selection: Selection;
  none: boolean;
  unit: (unit: FusionUnit) => boolean;
  /** Layers, by id, that have a selected unit. */
  layers: ReadonlySet<number>;
}

/** Prepares a selection against one report's units. */
export function toSelectionSet(report: FusionReport, units: readonly FusionUnit[], selection: Selection): SelectionSet {
  const unit = unitMatcher(report, selection);
  const layers = new Set<number>();
  if (selection.kind !== 'none') {
    for (const one of units) {
      const id = one.layer === null ? undefined : report.layers[one.layer]?.id;
      if (id !== undefined && unit(one)) layers.add(id);
    }
  }
  return { selection, none: selection.kind === 'none', unit, layers };
}
