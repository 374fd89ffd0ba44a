import { open } from 'node:fs/promises';
import { type Bytes, concat, int, len, node, packed, varint } from '../../test/support/wire.ts';

const WIDTH = 512;
const HIDDEN = 1792;
const LAYERS = 166;

/** One field of the file: bytes that are there, then a hole of zeros (the weights). */
interface Piece {
  bytes: Bytes;
  hole: number;
}

/**
 * Writes a transformer of 10,000 nodes with 1.9 GB of weights inside the file, as exporters lay it out: nodes first,
 * then the initializers. The weights are holes, so that the file takes no space on disk.
 */
export async function writeModel(path: string): Promise<{ nodes: number; tensors: number; bytes: number }> {
  const nodes: Bytes[] = [];
  const tensors: Piece[] = [];
  let last = 'input';
  const weight = (name: string, ...shape: number[]): string => {
    const bytes = 4 * shape.reduce((product, dimension) => product * dimension, 1);
    const begin = concat(packed(1, shape), int(2, 1), len(8, name), varint(9 * 8 + 2), varint(bytes));
    tensors.push({ bytes: concat(varint(5 * 8 + 2), varint(begin.length + bytes), begin), hole: bytes });
    return name;
  };
  const add = (scope: string, op: string, inputs: string[], ...fields: Bytes[]): string => {
    const output = `${scope}/${op}_output_0`;
    nodes.push(node(op, inputs, [output], len(3, `${scope}/${op}`), ...fields));
    return output;
  };
  const ints = (name: string, ...values: number[]): Bytes => len(5, len(1, name), packed(8, values), int(20, 7));
  const linear = (scope: string, input: string, from: number, to: number): string => {
    const product = add(scope, 'MatMul', [input, weight(`${scope}.weight`.replaceAll('/', '.').slice(1), from, to)]);
    return add(scope, 'Add', [weight(`${scope}.bias`.replaceAll('/', '.').slice(1), to), product]);
  };
  const heads = (scope: string, input: string): string => {
    const shape = add(`${scope}/split`, 'Reshape', [input, 'heads']);
    return add(`${scope}/split`, 'Transpose', [shape], ints('perm', 0, 2, 1, 3));
  };
  const norm = (scope: string, input: string): string =>
    add(
      scope,
      'LayerNormalization',
      [input, weight(`${scope}.w`, WIDTH), weight(`${scope}.b`, WIDTH)],
      ints('axis', -1),
    );
  for (let layer = 0; layer < LAYERS; layer++) {
    const scope = `/model/encoder/layer.${layer}`;
    const normed = norm(`${scope}/attention/norm`, last);
    const [query, key, value] = ['query', 'key', 'value'].map((part) =>
      heads(`${scope}/attention/${part}`, linear(`${scope}/attention/${part}`, normed, WIDTH, WIDTH)),
    ) as [string, string, string];
    const turned = add(`${scope}/attention/turn`, 'Transpose', [key], ints('perm', 0, 1, 3, 2));
    let scores = add(`${scope}/attention/scores`, 'MatMul', [query, turned]);
    scores = add(`${scope}/attention/scale`, 'Mul', [scores, 'scale']);
    scores = add(`${scope}/attention/mask`, 'Add', [scores, 'mask']);
    scores = add(`${scope}/attention`, 'Softmax', [scores], ints('axis', -1));
    let mixed = add(`${scope}/attention/values`, 'MatMul', [scores, value]);
    mixed = add(`${scope}/attention/join`, 'Transpose', [mixed], ints('perm', 0, 2, 1, 3));
    mixed = add(`${scope}/attention/join`, 'Reshape', [mixed, 'hidden']);
    const attended = add(`${scope}/residual`, 'Add', [last, linear(`${scope}/attention/output`, mixed, WIDTH, WIDTH)]);
    let wide = linear(`${scope}/mlp/up`, norm(`${scope}/mlp/norm`, attended), WIDTH, HIDDEN);
    for (const step of ['Div', 'Erf', 'Add', 'Mul', 'Mul']) {
      wide = add(`${scope}/mlp/gelu.${nodes.length}`, step, step === 'Erf' ? [wide] : [wide, 'half']);
    }
    const narrow = linear(`${scope}/mlp/down`, wide, HIDDEN, WIDTH);
    last = add(`${scope}/mlp/residual`, 'Add', [attended, narrow]);
    // What exporters leave around dynamic shapes, up to sixty nodes a layer.
    while (nodes.length < (layer + 1) * 60) last = add(`${scope}/tail.${nodes.length}`, 'Identity', [last]);
  }
  while (nodes.length < 10_000) last = add(`/model/head.${nodes.length}`, 'Identity', [last]);
  return writePieces(path, nodes, tensors, last);
}

async function writePieces(
  path: string,
  nodes: Bytes[],
  tensors: Piece[],
  output: string,
): Promise<{ nodes: number; tensors: number; bytes: number }> {
  const type = len(2, len(1, int(1, 1), len(2, len(1, int(1, 1)), len(1, len(2, 'tokens')), len(1, int(1, WIDTH)))));
  const after = concat(len(11, len(1, 'input'), type), len(12, len(1, output), type));
  const begin = concat(...nodes, len(2, 'main'));
  const inTensors = tensors.reduce((sum, { bytes, hole }) => sum + bytes.length + hole, 0);
  const head = concat(
    int(1, 8),
    len(2, 'benchmark'),
    varint(7 * 8 + 2),
    varint(begin.length + inTensors + after.length),
  );
  const file = await open(path, 'w');
  let at = 0;
  const put = async ({ bytes, hole }: Piece): Promise<void> => {
    await file.write(bytes, 0, bytes.length, at);
    at += bytes.length + hole;
  };
  for (const piece of [{ bytes: concat(head, begin), hole: 0 }, ...tensors]) {
    // eslint-disable-next-line no-await-in-loop -- one file, in order
    await put(piece);
  }
  await put({ bytes: concat(after, len(8, len(1, ''), int(2, 17))), hole: 0 });
  await file.close();
  return { nodes: nodes.length, tensors: tensors.length, bytes: at };
}
