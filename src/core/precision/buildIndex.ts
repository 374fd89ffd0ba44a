import type { BuildFacts } from './buildFacts.ts';

/** Look-ups over a build's facts that every keystroke needs. */
export interface BuildIndex {
  /** By position of the node: position of its ForeignNode, or -1. */
  foreign: Int32Array;
  /** Nodes (positions) by the name of an engine layer or of a layer that the parser made under another name. */
  layerNodes: Map<string, number[]>;
  foreignNames: Map<string, number>;
}

const indexes = new WeakMap<BuildFacts, BuildIndex>();

/** The look-ups of a build, made once for each `BuildFacts` object. */
export function buildIndexOf(build: BuildFacts): BuildIndex {
  let index = indexes.get(build);
  if (!index) {
    index = {
      foreign: Int32Array.from(build.nodes, ({ foreign }) => foreign),
      layerNodes: new Map([...build.aliases, ...build.layers].map(({ name, nodes }) => [name, nodes])),
      foreignNames: new Map(build.foreignNodes.map(({ name }, i) => [name, i])),
    };
    indexes.set(build, index);
  }
  return index;
}
