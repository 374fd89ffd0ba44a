import type { OverlayKind } from '../../src/core/scene/overlay.ts';
import type { Camera } from './drawView.ts';
import type { GraphModel } from './graphModel.ts';

/** What survives hiding and reloading. */
export interface KeptState {
  structure: string;
  open: string[];
  flat: boolean;
  overlay: OverlayKind;
  camera: Camera;
}

/** Whether a state was kept of this model, be it edited since. */
export const isOf = ({ structure, open }: KeptState, model: GraphModel): boolean =>
  structure === model.structure ||
  (structure.startsWith(`${model.data.title}\n`) && open.some((id) => model.nested.byId.has(id)));
