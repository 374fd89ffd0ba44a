/** Adds to the list of a key, which begins with its first item. */
export function addTo<K, T>(map: Map<K, T[]>, key: K, ...items: readonly T[]): void {
  const list = map.get(key);
  if (list) list.push(...items);
  else map.set(key, [...items]);
}
