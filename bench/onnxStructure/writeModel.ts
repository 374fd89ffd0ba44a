import { open } from 'node:fs/promises';
import { type Bytes, concat, int, len, node, packed, varint } from '../../test/support/wire.ts';

const WIDTH = 512;
const HIDDEN = 1365;
const LAYERS = 151;
/** Nodes of a decoder layer as exporters write it out: norms, rotary positions, masks and shapes in single steps. */
const NODES_PER_LAYER = 66;

/** One field of the file: bytes that are there, then a hole of zeros (the weights). */
interface Piece {
  bytes: Bytes;
  hole: number;
}

/**
 * Writes a decoder of 10,000 nodes with 1.9 GB of weights inside the file, as PyTorch's exporter names and lays it out:
 * nodes first, then the initializers. The weights are holes, so that the file takes no space on disk.
 */
export async function writeModel(path: string): Promise<{ nodes: number; tensors: number; bytes: number }> {
  const nodes: Bytes[] = [];
  const tensors: Piece[] = [];
  const weight = (name: string, ...shape: number[]): string => {
    const bytes = 4 * shape.reduce((product, dimension) => product * dimension, 1);
    const begin = concat(packed(1, shape), int(2, 1), len(8, name), varint(9 * 8 + 2), varint(bytes));
    tensors.push({ bytes: concat(varint(5 * 8 + 2), varint(begin.length + bytes), begin), hole: bytes });
    return name;
  };
  const add = (op: string, inputs: string[], ...attributes: Bytes[]): string => {
    const output = `${op === 'MatMul' ? 'linear' : 'val'}_${nodes.length}`;
    nodes.push(node(op, inputs, [output], len(3, `node_${op}_${nodes.length}`), ...attributes));
    return output;
  };
  const ints = (name: string, ...values: number[]): Bytes => len(5, len(1, name), packed(8, values), int(20, 7));
  const to = (type: number): Bytes => len(5, len(1, 'to'), int(3, type), int(20, 2));
  const norm = (name: string, input: string): string => {
    const single = add('Cast', [input], to(1));
    const mean = add(
      'ReduceMean',
      [add('Pow', [single, 'two']), 'last'],
      len(5, len(1, 'keepdims'), int(3, 1), int(20, 2)),
    );
    const scaled = add('Mul', [single, add('Reciprocal', [add('Sqrt', [add('Add', [mean, 'epsilon'])])])]);
    return add('Mul', [weight(name, WIDTH), add('Cast', [scaled], to(1))]);
  };
  const heads = (input: string): string =>
    add('Transpose', [add('Reshape', [input, 'heads'])], ints('perm', 0, 2, 1, 3));
  const rotary = (input: string): string => {
    const halves = ['half', 'start'].map((begin) => add('Slice', [input, begin, 'end'])) as [string, string];
    const turned = add('Concat', [add('Neg', [halves[0]]), halves[1]], ints('axis', -1));
    return add('Add', [add('Mul', [input, 'cos']), add('Mul', [turned, 'sin'])]);
  };
  const repeated = (input: string): string =>
    add('Reshape', [add('Expand', [add('Unsqueeze', [input, 'two']), 'groups']), 'heads']);
  /** Tensors with a declared type. */
  const declared: string[] = [];
  let last = 'input';
  for (let layer = 0; layer < LAYERS; layer++) {
    const linear = (name: string, input: string, rows: number, columns: number): string =>
      add('MatMul', [input, weight(`model.layers.${layer}.${name}.weight`, rows, columns)]);
    const normed = norm(`model.layers.${layer}.input_layernorm.weight`, last);
    const query = rotary(heads(linear('self_attn.q_proj', normed, WIDTH, WIDTH)));
    const key = repeated(rotary(heads(linear('self_attn.k_proj', normed, WIDTH, WIDTH))));
    const value = repeated(heads(linear('self_attn.v_proj', normed, WIDTH, WIDTH)));
    const turned = add('Transpose', [key], ints('perm', 0, 1, 3, 2));
    const scores = add('Add', [add('Mul', [add('MatMul', [query, turned]), 'scale']), 'mask']);
    const mixed = add('MatMul', [add('Softmax', [scores], ints('axis', -1)), value]);
    const joined = add('Reshape', [add('Transpose', [mixed], ints('perm', 0, 2, 1, 3)), 'hidden']);
    const projected = linear('self_attn.o_proj', joined, WIDTH, WIDTH);
    declared.push(joined, projected);
    const attended = add('Add', [last, projected]);
    const second = norm(`model.layers.${layer}.post_attention_layernorm.weight`, attended);
    const gate = linear('mlp.gate_proj', second, WIDTH, HIDDEN);
    const wide = add('Mul', [add('Mul', [gate, add('Sigmoid', [gate])]), linear('mlp.up_proj', second, WIDTH, HIDDEN)]);
    last = add('Add', [attended, linear('mlp.down_proj', wide, HIDDEN, WIDTH)]);
    while (nodes.length < (layer + 1) * NODES_PER_LAYER) last = add('Identity', [last]);
  }
  while (nodes.length < 10_000) last = add('Identity', [last]);
  return writePieces(path, nodes, tensors, declared, last);
}

async function writePieces(
  path: string,
  nodes: Bytes[],
  tensors: Piece[],
  declared: readonly string[],
  output: string,
): Promise<{ nodes: number; tensors: number; bytes: number }> {
  const type = len(2, len(1, int(1, 1), len(2, len(1, int(1, 1)), len(1, len(2, 'tokens')), len(1, int(1, WIDTH)))));
  const values = declared.map((name) => len(13, len(1, name), type));
  const after = concat(len(11, len(1, 'input'), type), len(12, len(1, output), type), ...values);
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
