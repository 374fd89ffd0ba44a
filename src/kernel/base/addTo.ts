// Adds to a list in a map; looks up what is not the prototype's.

/** Adds to the list of a key, which begins with its first item. */
export function addTo<K, T>(map: Map<K, T[]>, key: K, item: T): void {
  const list = map.get(key);
  if (list) list.push(item);
  else map.set(key, [item]);
}

/**
 * The list with one more item; a longer one is the same list. A short one is copied into an array just as long, because
 * an array that has grown by `push` has room for 17 items, and models consist of short lists.
 */
export function appended<T>(list: T[], item: T): T[] {
  if (list.length === 0) return [item];
  if (list.length === 1) return [list[0]!, item];
  if (list.length === 2) return [list[0]!, list[1]!, item];
  if (list.length === 3) return [list[0]!, list[1]!, list[2]!, item];
  list.push(item);
  return list;
}

/** The value of a key that comes from a model or a file: `constructor` has none unless it was given one. */
export const valueAt = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;
