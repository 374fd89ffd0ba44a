import type { OnnxModel } from '../read/onnx/onnxModel.ts';

/**
 * What a repair does to the results:
 * - exact: bit-identical outputs, whatever the finite inputs
 * - rounding: the same numbers in another order, within 1e-5
 * - signature: the type or name of an input or output changes; what is computed stays exact
 * - float: a quantized computation becomes a floating-point one
 * - meaning: the model computes something else, so each such repair needs a yes of its own
 */
export type RepairClass = 'exact' | 'rounding' | 'signature' | 'float' | 'meaning';

/** One place of a repair. */
export interface RepairPlace {
  /** Id of the node in the model before this repair; null: the place is no node. */
  node: string | null;
  /** The node's name (its first output if it has none), or the name of the input, output or initializer. */
  name: string;
  operator: string;
  /** Names of the nodes that are there now. */
  by: string[];
  /** Their operators; omitted: the node is still what it was. */
  operators?: string[];
  /** What is special about this place, as a sentence; null: nothing. */
  note: string | null;
}

/** A place that a repair left as it is. */
export interface RefusedPlace {
  /** Id of the node in the model before this repair. */
  node: string;
  name: string;
  operator: string;
  reason: string;
}

/** A repair that was made, with its places. */
export interface RepairStep {
  id: string;
  title: string;
  class: RepairClass;
  places: RepairPlace[];
}

/** Key of the map in the metadata of a repaired model. */
const key = 'trtlens.repair';

/** What a repaired model says of the one that it was made from. */
export interface RepairMap {
  schema: 1;
  /** SHA-256 of the original; null: not known. */
  original: string | null;
  repairs: {
    id: string;
    class: RepairClass;
    /** Names of nodes of the original, with the names of the nodes that compute them now. */
    places: { from: string; operator: string; to: string[] }[];
  }[];
}

/** The entry of metadata that names each node of the original with what computes it now. @param earlier of a model that was repaired before */
export function writeMap(
  steps: readonly RepairStep[],
  sha256: string | null,
  earlier: RepairMap | null,
): { key: string; value: string } {
  const repairs = steps.map(({ id, class: kind, places }) => ({
    id,
    class: kind,
    places: places.map(({ name, operator, by }) => ({ from: name, operator, to: by })),
  }));
  const map: RepairMap = {
    schema: 1,
    original: earlier?.original ?? sha256,
    repairs: [...(earlier?.repairs ?? []), ...repairs],
  };
  return { key, value: JSON.stringify(map) };
}

/** Ids of the nodes of a repaired model that compute what repairs have changed. */
export function changedNodes(model: OnnxModel, steps: readonly RepairStep[]): string[] {
  const names = new Set(steps.flatMap(({ places }) => places.flatMap(({ by }) => by)));
  const isNamed = ({ name, outputs }: OnnxModel['nodes'][number]): boolean =>
    names.has(name) || (name === '' && names.has(outputs.find(Boolean) ?? ''));
  return model.nodes.filter(isNamed).map(({ id }) => id);
}

/** The map of a model; null: it was not repaired, or the map cannot be read. */
export function readMap(model: OnnxModel): RepairMap | null {
  const text = model.metadata.find((entry) => entry.key === key)?.value;
  if (text === undefined) return null;
  try {
    const map = JSON.parse(text) as RepairMap;
    return map.schema === 1 && Array.isArray(map.repairs) ? map : null;
  } catch {
    return null;
  }
}

/** Of each node that a repair wrote under another name: the name of the node of the original that it computes. */
export function originalNames(model: OnnxModel): Map<string, string> {
  const names = new Map<string, string>();
  for (const { places } of readMap(model)?.repairs ?? [])
    for (const { from, to } of places)
      for (const name of to) if (name !== from) names.set(name, names.get(from) ?? from);
  return names;
}
