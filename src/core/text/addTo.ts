/** Adds to the list of a key, which begins with its first item. */
export function addTo<K, T>(map: Map<K, T[]>, key: K, ...items: readonly T[]): void {
  const list = map.get(key);
  if (list) list.push(...items);
  else map.set(key, [...items]);
}

/** Lists up to this length are copied rather than left with room for sixteen more items. */
const short = 4;

/**
 * The list with one more item; a longer one is the same list. Ten thousands of short lists that grew by `push` take more
 * memory than what they are lists of.
 */
export function appended<T>(list: T[], item: T): T[] {
  if (list.length < short) return list.concat([item]);
  list.push(item);
  return list;
}
