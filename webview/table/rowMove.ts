/** Where a key leads from a row; null: the key does not move. `page` is how many rows a page has. */
export function rowMove(key: string, from: number, rows: number, page: number): number | null {
  const last = Math.max(0, rows - 1);
  switch (key) {
    case 'ArrowUp':
      return Math.max(0, from - 1);
    case 'ArrowDown':
      return Math.min(last, from + 1);
    case 'PageUp':
      return Math.max(0, from - page);
    case 'PageDown':
      return Math.min(last, from + page);
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return null;
  }
}
