import { nestedLayout } from '../../../src/core/layout/nestedLayout.ts';
import { openingSteps } from '../../../src/core/scene/graph/openingSteps.ts';
import type { GraphModel } from './graphModel.ts';
import type { Stage } from '../draw/stage.ts';

/** Names are still read easily at this scale. */
const readable = 0.62;
/** More steps than this are not worth trying out. */
const most = 40;

/** The modules to open at first: as many as fit the screen with readable names. */
export function firstOpen(model: GraphModel, stage: Stage): Set<string> {
  const [none, ...more] = openingSteps(model.hierarchy).slice(0, most);
  let best = none ?? new Set<string>();
  for (const step of more) {
    const { totalWidth, totalHeight } = nestedLayout(model.request(step).input);
    // A later, smaller module may still fit where this one does not; but steps build on each other.
    if (stage.scaleFor(totalWidth, totalHeight, 40) < readable) break;
    best = step;
  }
  return best;
}

/** The modules that open with one: of a repetition also its first block, since that says most when seen from the inside. */
export function toOpen({ hierarchy }: GraphModel, index: number): string[] {
  const { id, kind, modules } = hierarchy.modules[index]!;
  const [first] = modules;
  return kind === 'repeat' && !id.endsWith('~') && first !== undefined ? [id, hierarchy.modules[first]!.id] : [id];
}
