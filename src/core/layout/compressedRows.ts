/** Lists by key in two arrays: those of key k are `list[start[k]] … list[start[k + 1] - 1]`. */
export interface CompressedRows {
  start: Int32Array;
  list: Int32Array;
}

/**
 * What `keys`, each of 0 … count - 1, gather: their positions, or what is at these in `values`. Within a key it comes
 * in the order of the positions.
 */
export function rowsBy(count: number, keys: Int32Array, values?: Int32Array): CompressedRows {
  const start = new Int32Array(count + 1);
  for (let i = 0; i < keys.length; i++) start[keys[i]! + 1]! += 1;
  for (let k = 0; k < count; k++) start[k + 1]! += start[k]!;
  const next = start.slice(0, count);
  const list = new Int32Array(keys.length);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    list[next[key]!] = values === undefined ? i : values[i]!;
    next[key]! += 1;
  }
  return { start, list };
}
