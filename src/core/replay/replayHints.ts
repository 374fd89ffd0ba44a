import type { BuildFacts } from '../precision/check/buildFacts.ts';
import { parseLayerName } from '../model/layerName.ts';
import { nodesInName } from '../model/nodesInName.ts';
import type { NodeIndex } from '../precision/language/nodeIndex.ts';
import { isMyelin } from './describeChoice.ts';
import type { ReplayEntry, ReplayFile } from './replayFile.ts';
import { withoutProfile } from '../model/layerNameParts.ts';

/** What is shown after an entry of a replay: its layer and the nodes of the layer. */
export interface ReplayHint {
  entry: ReplayEntry;
  kind: 'foreign' | 'fused' | 'single' | 'unknown';
  /** Positions of the model's nodes. */
  nodes: number[];
  /** How the nodes are known: from the last build, from the layer's name alone, or not. */
  source: 'build' | 'name' | 'none';
  /** False if a build only implies the nodes. */
  exact: boolean;
  /** Position of the ForeignNode in the build, or -1; of the layer in the build, or -1. */
  foreign: number;
  layer: number;
  averageMs: number | null;
}

/**
 * Finds for each entry which nodes its layer computes: from the build where it has the layer, otherwise from the
 * layer's name.
 */
export function replayHints(file: ReplayFile, index: NodeIndex | null, build: BuildFacts | null): ReplayHint[] {
  const layers = new Map(build?.layers.map((layer, i) => [layer.name, i]));
  const groups = new Map(build?.foreignNodes.map((group, i) => [group.name, i]));
  return file.entries.map((entry) => {
    // Of a second optimization profile the build may name the layer once only.
    const base = withoutProfile(entry.layer);
    const group = groups.get(entry.layer) ?? groups.get(base);
    if (build && group !== undefined) return foreignHint(entry, group, build);
    const layer = layers.get(entry.layer) ?? layers.get(base);
    const built = layer === undefined ? undefined : build?.layers[layer];
    if (built && layer !== undefined && built.nodes.length > 0) {
      const kind = built.nodes.length > 1 ? 'fused' : 'single';
      return {
        entry,
        kind,
        nodes: built.nodes,
        source: 'build',
        exact: true,
        foreign: -1,
        layer,
        averageMs: built.averageMs,
      };
    }
    const nodes = index ? namedNodes(base, index) : [];
    const kind = isMyelin(entry.algorithm)
      ? 'foreign'
      : nodes.length > 1
        ? 'fused'
        : nodes.length === 1
          ? 'single'
          : 'unknown';
    const source = nodes.length > 0 ? 'name' : 'none';
    return {
      entry,
      kind,
      nodes,
      source,
      exact: false,
      foreign: -1,
      layer: layer ?? -1,
      averageMs: built?.averageMs ?? null,
    };
  });
}

function foreignHint(entry: ReplayEntry, group: number, build: BuildFacts): ReplayHint {
  const nodes: number[] = [];
  for (const [i, node] of build.nodes.entries()) if (node.foreign === group) nodes.push(i);
  let averageMs: number | null = null;
  for (const layer of new Set(nodes.flatMap((i) => build.nodes[i]?.layers ?? []))) {
    const ms = build.layers[layer]?.averageMs ?? null;
    if (ms !== null) averageMs = (averageMs ?? 0) + ms;
  }
  const layer = build.layers.findIndex(({ name }) => name === entry.layer);
  const exact = build.foreignNodes[group]?.exact ?? false;
  return { entry, kind: 'foreign', nodes, source: 'build', exact, foreign: group, layer, averageMs };
}

function namedNodes(layer: string, { byName }: NodeIndex): number[] {
  // The two ends of a ForeignNode's name are not its members.
  if (parseLayerName(layer, byName).kind === 'foreign') return [];
  return [...new Set(nodesInName(byName, layer).flat())].sort((a, b) => a - b);
}
