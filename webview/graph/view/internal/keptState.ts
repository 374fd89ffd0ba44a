import type { Camera } from '../../draw/brush.ts';
import type { OverlayKind } from '../../../../src/kernel/picture/graph/overlay.ts';
import type { ViewData } from '../../../../src/kernel/picture/graph/viewData.ts';
import type { Selection } from '../../../../src/kernel/protocol/views.ts';
import type { GraphModel } from '../graphModel.ts';
import type { Opening } from './firstOpen.ts';

/** What survives hiding and reloading. */
export interface KeptState {
  structure: string;
  open: string[];
  /** What begins columns, by module; absent: chosen by an older version. */
  columns?: [string, string[]][];
  flat: boolean;
  overlay: OverlayKind;
  camera: Camera;
  /** The beginning of what was selected, as text. */
  selection?: string;
}

/** Whether a state was kept of this model, be it edited since. */
export const isOf = ({ structure, open }: KeptState, model: GraphModel): boolean =>
  structure === model.structure ||
  (structure.startsWith(`${model.data.title}\n`) && open.some((id) => model.nested.byId.has(id)));

/** A module may have thousands of nodes; the first of them tell it from others. */
const longest = 2000;
const textOf = (selection: Selection): string => JSON.stringify(selection).slice(0, longest);

/** What is to be kept of a model with a picture. */
export const stateOf = (
  { structure, flat }: GraphModel,
  { open, columns }: Opening,
  overlay: OverlayKind,
  camera: Camera,
  selection: Selection,
): KeptState => ({
  structure,
  open: [...open],
  columns: [...columns].map(([id, keys]) => [id, [...keys]]),
  flat,
  overlay,
  camera,
  selection: textOf(selection),
});

/** Whether the user left just this model with just this selected: nothing was pointed at since. */
export const leftAt = (kept: KeptState | null, model: GraphModel, selection: Selection): boolean =>
  kept !== null && isOf(kept, model) && kept.selection === textOf(selection);

/** What was chosen before, as far as there is something to paint; a model without a build (`last`) gets the fusion overlay with its first. */
export function overlayFor(
  { report, asked, accuracy, comparison }: ViewData,
  chosen: OverlayKind,
  last: GraphModel | null,
): OverlayKind {
  // What was just judged is what the user wants to see.
  if (accuracy && (chosen === 'accuracy' || (last ? !last.data.accuracy : chosen === 'fusion'))) return 'accuracy';
  if (chosen === 'accuracy') return report === null ? 'none' : 'fusion';
  if (report === null) return 'none';
  if (chosen === 'fusion' && last === null) return comparison === undefined ? 'fusion' : 'comparison';
  const isMissing: Partial<Record<OverlayKind, boolean>> = {
    comparison: comparison === undefined,
    overrides: (asked ?? []).length === 0,
  };
  if (isMissing[chosen]) return 'fusion';
  return chosen === 'none' && (last === null || last.data.report === null) ? 'fusion' : chosen;
}
