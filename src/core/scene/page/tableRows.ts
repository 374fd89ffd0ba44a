/** What a cell holds; null: not known. */
export type Cell = number | string | null;

/** One column of a table: how its cells are made, written and ordered. */
export interface TableColumn<Row> {
  /** Stable: kept in what a view remembers. */
  id: string;
  title: string;
  /** `ms`: milliseconds; `delta`: milliseconds with their sign; `percent`: 0 … 100; `bytes`: bytes. */
  kind: 'text' | 'number' | 'ms' | 'delta' | 'percent' | 'bytes';
  value: (row: Row) => Cell;
  /** What it says, for the tooltip. */
  meaning: string;
  /** It is shown only where some row has a value. */
  optional?: true;
  /** A text that does not fit loses its beginning: such names differ at their end. */
  keepsEnd?: true;
}

export interface SortOrder {
  column: string;
  descending: boolean;
}

/**
 * Rows in the order of one column; equal ones stay in the order they have, what is not known is always last. Text is
 * compared by its numbers, too: `conv2` before `conv10`. An unknown column leaves the order as it is.
 */
export function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly TableColumn<Row>[],
  { column, descending }: SortOrder,
): Row[] {
  const by = columns.find(({ id }) => id === column);
  if (by === undefined) return [...rows];
  const keyed = rows.map((row) => ({ row, key: by.value(row) }));
  const known = keyed.filter(({ key }) => key !== null);
  const unknown = keyed.filter(({ key }) => key === null);
  if (by.kind === 'text') {
    // Each distinct text is compared once, not in every comparison of two rows.
    const ranks = textRanks(known.map(({ key }) => String(key)));
    for (const one of known) one.key = ranks.get(String(one.key))!;
  }
  const sign = descending ? -1 : 1;
  known.sort((a, b) => sign * (Number(a.key) - Number(b.key)));
  return [...known, ...unknown].map(({ row }) => row);
}

/** The place of each distinct text in natural order: regardless of case, with numbers by their value. */
function textRanks(texts: readonly string[]): Map<string, number> {
  const order = [...new Set(texts)].map((text) => ({ text, plain: text.toLowerCase() }));
  order.sort((a, b) => compareNatural(a.plain, b.plain) || (a.text < b.text ? -1 : 1));
  return new Map(order.map(({ text }, index) => [text, index]));
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** Looks at the two texts only as far as they are the same, and at the numbers there. */
function compareNatural(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  if (at === length && a.length === b.length) return 0;
  let start = at;
  while (start > 0 && isDigit(a.charCodeAt(start - 1))) start -= 1;
  const [one, other] = [digitsFrom(a, start), digitsFrom(b, start)];
  if (one !== '' && other !== '' && one !== other) return one.length - other.length || (one < other ? -1 : 1);
  return (a.charCodeAt(at) || 0) - (b.charCodeAt(at) || 0);
}

/** The number that begins there, without leading zeros but one; '' for none. */
function digitsFrom(text: string, start: number): string {
  let end = start;
  while (end < text.length && isDigit(text.charCodeAt(end))) end += 1;
  let from = start;
  while (from < end - 1 && text.charCodeAt(from) === 48) from += 1;
  return text.slice(from, end);
}

/** Lines of comma-separated values as RFC 4180 has them, the titles first; numbers plain, what is not known empty. */
export function csvOf<Row>(rows: readonly Row[], columns: readonly TableColumn<Row>[]): string {
  const line = (cells: readonly Cell[]) =>
    `${cells.map((cell) => csvCell(cell === null ? '' : String(cell))).join(',')}\r\n`;
  const unit = { ms: ' (ms)', delta: ' (ms)', percent: ' (%)', bytes: '', number: '', text: '' };
  return (
    line(columns.map(({ title, kind }) => title + unit[kind])) +
    rows.map((row) => line(columns.map(({ value }) => value(row)))).join('')
  );
}

const csvCell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
