import type { FlatGraph } from './syntheticGraph.ts';

/** Builds nets node by node; each node is numbered after what it reads. */
class Net {
  readonly graph: FlatGraph = { count: 0, from: [], to: [] };

  node(...inputs: number[]): number {
    for (const input of inputs) {
      this.graph.from.push(input);
      this.graph.to.push(this.graph.count);
    }
    this.graph.count += 1;
    return this.graph.count - 1;
  }

  /** So many nodes in a row. */
  chain(start: number, length: number): number {
    let at = start;
    for (let i = 0; i < length; i++) at = this.node(at);
    return at;
  }

  residual(x: number, length: number): number {
    return this.node(x, this.chain(x, length));
  }

  /** Split, `depth` residual blocks, and a Concat of all of them: C2f of YOLO. */
  csp(x: number, depth: number): number {
    const parts = [this.chain(x, 1)];
    for (let i = 0; i < depth; i++) parts.push(this.residual(parts.at(-1)!, 2));
    return this.chain(this.node(...parts), 1);
  }
}

function unet(levels: number, length: number): FlatGraph {
  const net = new Net();
  const skips: number[] = [];
  let x = net.node();
  for (let level = 0; level < levels; level++) {
    x = net.chain(x, length);
    skips.push(x);
    x = net.node(x);
  }
  x = net.chain(x, length);
  for (const skip of skips.toReversed()) x = net.chain(net.node(net.node(x), skip), length);
  net.node(x);
  return net.graph;
}

/** Every level of the decoder reads all levels of its row: U-Net++. */
function nestedUnet(levels: number): FlatGraph {
  const net = new Net();
  const rows: number[][] = [];
  let x = net.node();
  for (let level = 0; level < levels; level++) {
    x = net.chain(x, 2);
    rows.push([x]);
    x = net.node(x);
  }
  for (let column = 1; column < levels; column++)
    for (let level = 0; level + column < levels; level++) {
      const below = net.node(rows[level + 1]![column - 1]!);
      rows[level]!.push(net.chain(net.node(...rows[level]!, below), 2));
    }
  net.node(rows[0]!.at(-1)!);
  return net.graph;
}

function fpn(levels: number): FlatGraph {
  const net = new Net();
  const stages: number[] = [];
  let x = net.node();
  for (let level = 0; level < levels; level++) {
    for (let i = 0; i < 2; i++) x = net.residual(net.node(x), 3);
    stages.push(x);
  }
  let top = net.node(stages.at(-1)!);
  const outputs = [net.chain(top, 3)];
  for (const stage of stages.slice(0, -1).toReversed()) {
    top = net.node(net.node(top), net.node(stage));
    outputs.push(net.chain(top, 3));
  }
  net.node(...outputs);
  return net.graph;
}

function yolo(depths: readonly number[]): FlatGraph {
  const net = new Net();
  const stages: number[] = [];
  let x = net.chain(net.node(), 2);
  for (const depth of depths) {
    x = net.csp(net.node(x), depth);
    stages.push(x);
  }
  const [p3, p4, p5] = stages.slice(-3) as [number, number, number];
  const spp = net.node(p5, net.node(p5), net.chain(p5, 2), net.chain(p5, 3));
  const n4 = net.csp(net.node(net.node(spp), p4), 1);
  const n3 = net.csp(net.node(net.node(n4), p3), 1);
  const m4 = net.csp(net.node(net.node(n3), n4), 1);
  const m5 = net.csp(net.node(net.node(m4), spp), 1);
  net.node(...[n3, m4, m5].map((scale) => net.node(net.chain(scale, 3), net.chain(scale, 3))));
  return net.graph;
}

function denseNet(blocks: readonly number[]): FlatGraph {
  const net = new Net();
  let x = net.chain(net.node(), 2);
  for (const layers of blocks) {
    const made = [x];
    for (let layer = 0; layer < layers; layer++) made.push(net.chain(net.node(...made), 2));
    x = net.chain(net.node(...made), 2);
  }
  net.node(x);
  return net.graph;
}

function hourglass(stacks: number, levels: number): FlatGraph {
  const net = new Net();
  const inner = (x: number, level: number): number => {
    const side = net.residual(x, 3);
    const down = net.residual(net.node(x), 3);
    const deep = level === 0 ? net.residual(down, 3) : inner(down, level - 1);
    return net.node(side, net.node(net.residual(deep, 3)));
  };
  let x = net.chain(net.node(), 2);
  for (let stack = 0; stack < stacks; stack++) x = net.node(x, net.chain(inner(x, levels), 2));
  return net.graph;
}

/** Branches of several resolutions that exchange all of it after each stage: HRNet. */
function hrNet(stages: number): FlatGraph {
  const net = new Net();
  let branches = [net.chain(net.node(), 2)];
  for (let stage = 0; stage < stages; stage++) {
    const worked = branches.map((x) => net.residual(x, 2));
    branches = [...worked.map(() => 0), 0].map((_, i) =>
      net.node(...worked.map((x, k) => (i === k ? x : net.node(x)))),
    );
  }
  net.node(...branches);
  return net.graph;
}

function inception(blocks: number): FlatGraph {
  const net = new Net();
  let x = net.chain(net.node(), 3);
  for (let block = 0; block < blocks; block++)
    x = net.node(x, net.node(net.chain(x, 1), net.chain(x, 2), net.chain(x, 3), net.chain(x, 2)));
  return net.graph;
}

/** Ten nets with skips. */
export const skipNets: Readonly<Record<string, () => FlatGraph>> = {
  'U-Net, 4 levels': () => unet(4, 3),
  'U-Net, 6 levels': () => unet(6, 5),
  'U-Net++, 4 levels': () => nestedUnet(4),
  'FPN on ResNet': () => fpn(4),
  'YOLO, large': () => yolo([2, 3, 6, 6, 3]),
  'DenseNet, one block of 6': () => denseNet([6]),
  'DenseNet, three blocks': () => denseNet([4, 6, 4]),
  'Hourglass, two stacks': () => hourglass(2, 2),
  'HRNet, 3 stages': () => hrNet(3),
  'Inception with residuals': () => inception(6),
};
