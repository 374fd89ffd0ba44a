import { nodesInName } from './nodesInName.ts';
import type { Resolution } from './resolution.ts';

/**
 * Notes the nodes that the log of the last build removes (`Removing X`) or eliminates (`Eliminating slice X …`), unless
 * a layer computes them all the same.
 */
export function claimGone(to: Resolution): void {
  for (const event of to.view.phase?.events ?? []) {
    if (event.kind !== 'remove' && event.kind !== 'eliminate') continue;
    // `Retargeting T to U` is about tensors, which may be called as nodes are.
    if (event.pass === 'retarget') continue;
    const [name] = event.layers;
    if (name === undefined) continue;
    for (const nodes of nodesInName(to.names, name)) {
      const [node] = nodes;
      if (node === undefined || nodes.length > 1) continue;
      if (to.nodeLayers[node]!.length > 0 || to.regionOf[node]! >= 0) continue;
      to.gone.set(node, { by: 'event', pass: event.pass, line: event.line });
    }
  }
}
