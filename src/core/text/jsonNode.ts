/** A JSON value with its place in the text: `start` and `end` (exclusive) are offsets in UTF-16 units. */
export type JsonNode = JsonObject | JsonArray | JsonString | JsonNumber | JsonLiteral;

export interface JsonObject {
  kind: 'object';
  start: number;
  end: number;
  members: JsonMember[];
}

export interface JsonMember {
  key: string;
  /** Where the key stands, quotes included. */
  keyStart: number;
  keyEnd: number;
  value: JsonNode;
}

export interface JsonArray {
  kind: 'array';
  start: number;
  end: number;
  items: JsonNode[];
}

export interface JsonString {
  kind: 'string';
  start: number;
  end: number;
  value: string;
}

/** A number as it is written: ids of 64 bits stay whole. `nan`, `inf` and `-inf` count as numbers, too. */
export interface JsonNumber {
  kind: 'number';
  start: number;
  end: number;
  text: string;
}

export interface JsonLiteral {
  kind: 'literal';
  start: number;
  end: number;
  value: boolean | null;
}

/** The member of an object by its key; the last one where a key is repeated, as in JSON.parse. */
export function memberOf(node: JsonNode | undefined, key: string): JsonNode | undefined {
  return node?.kind === 'object' ? node.members.findLast((member) => member.key === key)?.value : undefined;
}

/** A plain value as `JSON.parse` would give it; numbers that a double cannot hold exactly stay text. */
export function plainValue(node: JsonNode): unknown {
  switch (node.kind) {
    case 'object':
      return Object.fromEntries(node.members.map(({ key, value }) => [key, plainValue(value)]));
    case 'array':
      return node.items.map(plainValue);
    case 'string':
      return node.value;
    case 'number':
      return plainNumber(node.text);
    case 'literal':
      return node.value;
  }
}

/** The number, or its own text where it is an integer beyond 2^53. */
function plainNumber(text: string): number | string {
  const word = text.replace(/^[+-]/, '').toLowerCase();
  if (word === 'nan') return Number.NaN;
  if (word.startsWith('inf')) return text.startsWith('-') ? -Infinity : Infinity;
  const value = Number(text);
  return /^-?\d+$/.test(text) && !Number.isSafeInteger(value) ? text : value;
}
