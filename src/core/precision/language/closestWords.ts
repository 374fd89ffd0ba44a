/** Words of a short list that the user probably meant, best first: at most `limit`, none that is far away. */
export function closestWords(word: string, words: readonly string[], limit: number): string[] {
  return words
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate, farthest(candidate)) }))
    .filter(({ candidate, distance }) => distance <= farthest(candidate))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, limit)
    .map(({ candidate }) => candidate);
}

function farthest(word: string): number {
  return Math.max(1, Math.floor(word.length / 2));
}

/**
 * Number of single-character insertions, deletions and replacements between two texts (Levenshtein). Gives up with
 * `limit + 1` as soon as the distance must be larger than `limit`.
 */
export function editDistance(left: string, right: string, limit: number): number {
  if (Math.abs(left.length - right.length) > limit) return limit + 1;
  // Names of one model mostly differ in the middle: the same beginning and end cost nothing.
  const shorter = Math.min(left.length, right.length);
  let head = 0;
  while (head < shorter && left.charCodeAt(head) === right.charCodeAt(head)) head++;
  let tail = 0;
  while (tail < shorter - head && left.charCodeAt(left.length - 1 - tail) === right.charCodeAt(right.length - 1 - tail))
    tail++;
  const a = left.slice(head, left.length - tail);
  const b = right.slice(head, right.length - tail);
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  let current = Array.from({ length: b.length + 1 }, () => 0);
  for (let i = 1; i <= a.length; i++) {
    current[0] = i;
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1;
      const value = Math.min((previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + same);
      current[j] = value;
      if (value < least) least = value;
    }
    if (least > limit) return limit + 1;
    [previous, current] = [current, previous];
  }
  return previous[b.length] ?? limit + 1;
}
