import type { BuildFacts } from './buildFacts.ts';

/** Look-ups over a build's facts that every keystroke needs. */
export interface BuildIndex {
  /** By position of the node: position of its ForeignNode, or -1. */
  foreign: Int32Array;
  /** Nodes (positions) by the name of an engine layer. */
  layerNodes: Map<string, number[]>;
  /** Nodes by the name of the kernel (the tactic) that computes them. */
  kernelNodes: Map<string, number[]>;
  /** Nodes by the name of a further layer that the parser made for them. */
  aliases: Map<string, number[]>;
  foreignNames: Map<string, number>;
  /** Layers of which the log says that a precision was set. */
  setLayers: Set<string>;
  /** Nodes (positions) whose name no layer of the network has. */
  unregistered: Set<number>;
}

const indexes = new WeakMap<BuildFacts, BuildIndex>();

/** The look-ups of a build, made once for each `BuildFacts` object. */
export function buildIndexOf(build: BuildFacts): BuildIndex {
  let index = indexes.get(build);
  if (!index) {
    index = {
      foreign: Int32Array.from(build.nodes, ({ foreign }) => foreign),
      layerNodes: new Map(build.layers.map(({ name, nodes }) => [name, nodes])),
      kernelNodes: kernelNodes(build),
      aliases: new Map(build.aliases.map(({ name, nodes }) => [name, nodes])),
      foreignNames: new Map(build.foreignNodes.map(({ name }, i) => [name, i])),
      setLayers: new Set(build.lines?.filter(({ kind }) => kind === 'set').map(({ layer }) => layer)),
      unregistered: new Set(build.unregistered),
    };
    indexes.set(build, index);
  }
  return index;
}

function kernelNodes(build: BuildFacts): Map<string, number[]> {
  const kernels = new Map<string, number[]>();
  for (const { tactic, nodes } of build.layers)
    if (tactic !== null) kernels.set(tactic, [...(kernels.get(tactic) ?? []), ...nodes]);
  return kernels;
}
