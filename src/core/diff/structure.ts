import type { NetworkNode } from './diffInput.ts';

/** Operators that change no more than a tensor's type: edges are followed through them, since exports add and drop them. */
export const conversions: ReadonlySet<string> = new Set(['QuantizeLinear', 'DequantizeLinear', 'Cast', 'Identity']);

/** The edges of a network and hashes of what surrounds its nodes. Equal hashes stand for equal surroundings. */
export class Structure {
  /** Edges between nodes. */
  edges = 0;
  readonly #nodes: readonly NetworkNode[];
  /** Producer of each input, past conversions; -1: none (an input of the graph, a constant, an absent input). */
  readonly #producers: Int32Array[];
  /** Reader and `output:input` of each edge, past conversions. */
  readonly #readers: [number, string][][];
  readonly #own: number[];

  constructor(nodes: readonly NetworkNode[]) {
    this.#nodes = nodes;
    const producer = new Map<string, [number, number]>();
    nodes.forEach(({ outputs }, index) =>
      outputs.forEach((output, slot) => {
        if (output !== '' && !producer.has(output)) producer.set(output, [index, slot]);
      }),
    );
    const source = (tensor: string): [number, number] | undefined => {
      let found = producer.get(tensor);
      for (let steps = 0; found && steps < 16; steps += 1) {
        const node = nodes[found[0]]!;
        const before = conversions.has(node.op) ? producer.get(node.inputs[0] ?? '') : undefined;
        if (!before) break;
        found = before;
      }
      return found;
    };
    this.#readers = nodes.map(() => []);
    this.#producers = nodes.map(({ inputs }, index) => {
      const producers = new Int32Array(inputs.length).fill(-1);
      inputs.forEach((input, slot) => {
        const from = input === '' ? undefined : source(input);
        if (!from) return;
        producers[slot] = from[0];
        this.edges += 1;
        // What reads a conversion counts as a reader of what was converted: the conversion itself would count twice.
        if (!conversions.has(nodes[index]!.op)) this.#readers[from[0]]!.push([index, `${from[1]}:${slot}`]);
      });
      return producers;
    });
    this.#own = nodes.map((node) =>
      hashText(
        `${this.#kindOf(node)}|${node.constants.join()}|${node.inputs.map((input) => (input === '' ? 0 : 1)).join('')}`,
      ),
    );
  }

  #kindOf({ op, attributes }: NetworkNode): string {
    return `${op}|${attributes}`;
  }

  /** Operator and attributes as one text. */
  kind(node: number): string {
    return this.#kindOf(this.#nodes[node]!);
  }

  producers(node: number): Int32Array {
    return this.#producers[node]!;
  }

  readers(node: number): readonly [number, string][] {
    return this.#readers[node]!;
  }

  /** A hash of everything that a node depends on and everything that depends on it. */
  wholeHashes(): number[] {
    const order = this.#order();
    const up = [...this.#own];
    for (const node of order) up[node] = this.#withProducers(up[node]!, node, up);
    const down = [...this.#own];
    for (const node of order.toReversed()) down[node] = this.#withReaders(down[node]!, node, down);
    return up.map((hash, node) => mix(hash, down[node]!));
  }

  /**
   * A hash of a node and its neighbours up to three edges away.
   * @param labels of nodes that are known on both sides, -1 for the others: the same number for the same node
   */
  hashesAround(labels: Int32Array): number[] {
    let hashes = this.#own.map((hash, node) => (labels[node] === -1 ? hash : mix(1, labels[node]!)));
    for (let round = 0; round < 3; round += 1) {
      const before = hashes;
      hashes = before.map((hash, node) =>
        labels[node] === -1 ? this.#withReaders(this.#withProducers(hash, node, before), node, before) : hash,
      );
    }
    return hashes;
  }

  #withProducers(hash: number, node: number, hashes: readonly number[]): number {
    let result = hash;
    for (const producer of this.#producers[node]!) result = mix(result, producer === -1 ? 3 : hashes[producer]!);
    return result;
  }

  #withReaders(hash: number, node: number, hashes: readonly number[]): number {
    const readers = this.#readers[node]!.map(([reader, slot]) => mix(hashText(slot), hashes[reader]!));
    let result = mix(hash, readers.length);
    for (const reader of readers.toSorted((x, y) => x - y)) result = mix(result, reader);
    return result;
  }

  /** Producers first; nodes of a damaged model's cycle last, in file order. */
  #order(): number[] {
    const missing = this.#producers.map((producers) => producers.filter((one) => one !== -1).length);
    const order: number[] = [];
    missing.forEach((count, node) => {
      if (count === 0) order.push(node);
    });
    for (let at = 0; at < order.length; at += 1)
      for (const [reader] of this.#readers[order[at]!]!) if ((missing[reader]! -= 1) === 0) order.push(reader);
    if (order.length < missing.length) {
      const seen = new Set(order);
      missing.forEach((_, node) => {
        if (!seen.has(node)) order.push(node);
      });
    }
    return order;
  }
}

function hashText(text: string): number {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  return joined(high, low);
}

/** Depends on the order of its arguments. 53 bits: 50,000 nodes collide once in ten million networks. */
function mix(one: number, other: number): number {
  let high = Math.imul((one / 2097152) ^ 0x9e3779b9, 2246822507) ^ Math.imul(other | 0, 3266489909);
  let low = Math.imul((one | 0) ^ 0x85ebca6b, 2654435761) ^ Math.imul((other / 2097152) | 0, 1597334677);
  high = Math.imul(high ^ (high >>> 15), 2246822519) ^ low;
  low = Math.imul(low ^ (low >>> 13), 3266489917) ^ high;
  return joined(high, low);
}

const joined = (high: number, low: number): number =>
  2097152 * ((high ^ (high >>> 16)) >>> 0) + (((low ^ (low >>> 15)) >>> 0) & 0x1fffff);
