import type { FusionReport } from '../../src/kernel/fusion/fusionReport.ts';
import { type FusionUnit, unitMatcher } from '../../src/kernel/picture/page/layerRows.ts';
import type { Selection } from '../../src/kernel/protocol/views.ts';

/** What is selected, made ready for asking often. */
export interface SelectionSet {
  selection: Selection;
  /** Nothing that this report has is selected. */
  none: boolean;
  unit: (unit: FusionUnit) => boolean;
  /** Layers, by id, that have a selected unit. */
  layers: ReadonlySet<number>;
}

/** Prepares a selection against one report's units. */
export function toSelectionSet(report: FusionReport, units: readonly FusionUnit[], selection: Selection): SelectionSet {
  const unit = unitMatcher(report, selection);
  const layers = new Set<number>();
  // What is selected may be gone since, or be no node at all (an input): then nothing stands out, and nothing fades.
  let none = true;
  if (selection.kind !== 'none') {
    for (const one of units) {
      if (!unit(one)) continue;
      none = false;
      const id = one.layer === null ? undefined : report.layers[one.layer]?.id;
      if (id !== undefined) layers.add(id);
    }
  }
  return { selection, none, unit, layers };
}
