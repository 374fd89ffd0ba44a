/**
 * An ONNX file taken apart into its smallest fields, in their order: a reader of the wire format of its own, which
 * knows only where messages are. Every byte is in one field, or in the length of a message around it.
 */
export interface WireField {
  /** Kind of the message and number of the field, such as `N.1` for a node's input. */
  place: string;
  /** Key and content, without a length. */
  bytes: string;
  /** Id of the node that it is in, '' for none; nodes that are passed over do not count. */
  node: string;
  /** Name of the tensor, value or node that it belongs to. */
  owner: string;
}

interface Field {
  number: number;
  key: number;
  content: Uint8Array;
}

/** G graph, N node, A attribute, V value, Y type, S tensor type, T tensor, E entry of external data. */
const messages: Readonly<Record<string, string>> = {
  'M.7': 'G',
  'G.1': 'N',
  'G.5': 'T',
  'G.11': 'V',
  'G.12': 'V',
  'G.13': 'V',
  'N.5': 'A',
  'A.5': 'T',
  'A.6': 'G',
  'V.2': 'Y',
  'Y.1': 'S',
  'T.13': 'E',
};

const nameField: Readonly<Record<string, number>> = { N: 3, T: 8, V: 1, A: 1 };

interface Difference {
  /** Names of nodes to pass over, which the other file does not have. */
  added?: ReadonlySet<string>;
  /** Ids of nodes that only the other file has: the ids here are those of that file. */
  removed?: ReadonlySet<string>;
}

/** The fields of a model file in order, with the ids of nodes that another file gives them. */
export function wireFields(bytes: Uint8Array, difference: Difference = {}): WireField[] {
  const found: WireField[] = [];
  walk(bytes, 'M', { graph: '', node: '', owner: '' }, difference, found);
  return found;
}

interface Where {
  graph: string;
  node: string;
  owner: string;
}

function walk(bytes: Uint8Array, kind: string, where: Where, difference: Difference, found: WireField[]): void {
  const fields = fieldsOf(bytes);
  const own = nameOf(kind, fields) ?? where.owner;
  let nodes = 0;
  for (const { number, key, content } of fields) {
    const place = `${kind}.${number}`;
    const inner = messages[place];
    if (inner === undefined) {
      found.push({ place, bytes: `${key}:${Buffer.from(content).toString('hex')}`, node: where.node, owner: own });
    } else if (inner === 'N') {
      if (difference.added?.has(nameOf('N', fieldsOf(content)) ?? '') === true) continue;
      while (difference.removed?.has(`${where.graph}${nodes}`) === true) nodes++;
      walk(content, inner, { ...where, node: `${where.graph}${nodes++}`, owner: '' }, difference, found);
    } else if (inner === 'G' && kind === 'A') {
      walk(content, inner, { graph: `${where.node}/${own}/`, node: '', owner: '' }, difference, found);
    } else {
      walk(content, inner, { ...where, owner: own }, difference, found);
    }
  }
}

function nameOf(kind: string, fields: Field[]): string | undefined {
  const named = fields.find(({ number }) => number === nameField[kind]);
  return named && new TextDecoder().decode(named.content);
}

function fieldsOf(bytes: Uint8Array): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[at++]!;
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const key = varint();
    const begin = at;
    if ((key & 7) === 0) varint();
    else if ((key & 7) === 1) at += 8;
    else if ((key & 7) === 5) at += 4;
    else {
      const length = varint();
      fields.push({ number: key >>> 3, key, content: bytes.subarray(at, at + length) });
      at += length;
      continue;
    }
    fields.push({ number: key >>> 3, key, content: bytes.subarray(begin, at) });
  }
  return fields;
}
