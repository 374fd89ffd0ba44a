// Reads tables of an SQLite file.
import type { ByteSource, Problem, Read } from '../../../base/problem.ts';
import { integerAt, sqliteColumns, SqliteRow, varintAt, varintLength } from './sqliteRecord.ts';

/** A table of the file: where its rows begin and what its columns are called. */
interface SqliteTable {
  root: number;
  columns: string[];
  /** Index of the column that is the row's number and therefore not stored in the record; -1: none. */
  rowNumber: number;
}

const magic = Uint8Array.of(
  0x53,
  0x51,
  0x4c,
  0x69,
  0x74,
  0x65,
  0x20,
  0x66,
  0x6f,
  0x72,
  0x6d,
  0x61,
  0x74,
  0x20,
  0x33,
  0,
); // 'SQLite format 3'
/** Bytes that are read at a time: several pages. */
const chunkBytes = 1 << 18;
const keptChunks = 4;
const leaf = 13;
const interior = 5;

/**
 * Reads the tables of an SQLite 3 file (https://www.sqlite.org/fileformat2.html) from its first row to its last, only
 * the columns that are requested, page by page: a trace may be larger than memory. It knows no index, no query, no
 * write-ahead log and no table WITHOUT ROWID.
 */
export class SqliteFile {
  readonly #source: ByteSource;
  readonly #pageBytes: number;
  /** Bytes of a page that are in use. */
  readonly #usable: number;
  readonly #pages: number;
  readonly #tables = new Map<string, SqliteTable>();
  /** Chunks by number, the one read last is last. */
  readonly #chunks = new Map<number, Uint8Array>();
  #damaged = false;

  /** Whether the bytes start as an SQLite file does. */
  static sniff(head: Uint8Array): boolean {
    return magic.every((byte, index) => head[index] === byte);
  }

  /** Opens a file and reads which tables it has. `value` is undefined, with the reason, if it cannot be read. */
  static async open(source: ByteSource): Promise<Read<SqliteFile>> {
    const head = await source.read(0, Math.min(100, source.size));
    const trouble = headerTrouble(head);
    if (trouble !== null) return { value: undefined, problems: [trouble] };
    const file = new SqliteFile(source, head);
    await file.#readTables();
    return { value: file, problems: file.problems() };
  }

  private constructor(source: ByteSource, head: Uint8Array) {
    this.#source = source;
    this.#pageBytes = pageBytesOf(head);
    this.#usable = this.#pageBytes - head[20]!;
    this.#pages = Math.ceil(source.size / this.#pageBytes);
  }

  /** What is wrong in the parts that have been read so far. */
  problems(): Problem[] {
    if (!this.#damaged) return [];
    return [
      {
        severity: 'warning',
        code: 'damaged',
        message:
          'The SQLite file is damaged or truncated: some of its rows cannot be read. Export it again with nsys export --type sqlite.',
      },
    ];
  }

  has(table: string): boolean {
    return this.#tables.has(table);
  }

  hasColumn(table: string, column: string): boolean {
    return this.#tables.get(table)?.columns.includes(column) === true;
  }

  /**
   * Calls `onRow` for each row of a table, in the order of row numbers, with the columns asked for in their order; null
   * for a column that the table does not have. The row is reused for the next. A table that does not exist has no rows.
   */
  async rows(table: string, columns: readonly string[], onRow: (row: SqliteRow) => void): Promise<void> {
    const found = this.#tables.get(table);
    if (!found) return;
    const wanted = columns.map((column) => found.columns.indexOf(column));
    const numbered = found.rowNumber < 0 ? -1 : wanted.indexOf(found.rowNumber);
    const row = new SqliteRow(wanted);
    await this.#scan(found.root, (bytes, from, to, rowNumber) => {
      if (!row.read(bytes, from, to)) this.#damaged = true;
      if (numbered >= 0) row.put(numbered, rowNumber);
      onRow(row);
    });
  }

  async #readTables(): Promise<void> {
    const row = new SqliteRow([0, 1, 3, 4]);
    await this.#scan(1, (bytes, from, to) => {
      if (!row.read(bytes, from, to)) this.#damaged = true;
      const [name, root, sql] = [row.text(1), row.number(2), row.text(3)];
      if (row.text(0) !== 'table' || name === null || Number.isNaN(root) || sql === null) return;
      if (/\)[^)]*\bWITHOUT\s+ROWID\b[^)]*$/i.test(sql)) return;
      const columns = sqliteColumns(sql);
      this.#tables.set(name, {
        root,
        columns: columns.map((column) => column.name),
        rowNumber: columns.findIndex((column) => column.isRowNumber),
      });
    });
  }

  /** Goes through the leaves of a table's tree. Each page is read once: a damaged file may have circles. */
  async #scan(
    root: number,
    onPayload: (bytes: Uint8Array, from: number, to: number, rowNumber: number) => void,
  ): Promise<void> {
    const seen = new Uint8Array((this.#pages >> 3) + 1);
    const left = [root];
    // Rows of a damaged file may share overflow pages.
    const budget = { pages: 2 * this.#pages + 16 };
    for (let number = left.pop(); number !== undefined; number = left.pop()) {
      const known = number < 1 || number > this.#pages || (seen[number >> 3]! & (1 << (number & 7))) !== 0;
      // oxlint-disable-next-line no-await-in-loop -- one page after the other keeps memory low
      let page = known ? null : (this.#cached(number) ?? (await this.#fetch(number)));
      if (page === null || page.length < 100) {
        this.#damaged = true;
        continue;
      }
      seen[number >> 3]! |= 1 << (number & 7);
      const start = number === 1 ? 100 : 0;
      const type = page[start]!;
      const cells = integerAt(page, start + 3, 2, false);
      const pointers = start + (type === interior ? 12 : 8);
      if ((type !== leaf && type !== interior) || pointers + 2 * cells > page.length) {
        this.#damaged = true;
        continue;
      }
      if (type === interior) {
        left.push(integerAt(page, start + 8, 4, false));
        for (let cell = cells - 1; cell >= 0; cell--)
          left.push(integerAt(page, integerAt(page, pointers + 2 * cell, 2, false), 4, false));
        continue;
      }
      for (let cell = 0; cell < cells; cell++) {
        let at = integerAt(page, pointers + 2 * cell, 2, false);
        const length = varintAt(page, at);
        at += varintLength(page, at);
        const rowNumber = varintAt(page, at);
        at += varintLength(page, at);
        const inPage = this.#localBytes(length);
        if (at + inPage > page.length) {
          this.#damaged = true;
          continue;
        }
        if (inPage === length) {
          onPayload(page, at, at + length, rowNumber);
          continue;
        }
        // Reading on may reuse the memory that the page is in.
        if (page.buffer.byteLength > page.length) page = page.slice();
        const first = page.subarray(at, at + inPage);
        const next = integerAt(page, at + inPage, 4, false);
        // oxlint-disable-next-line no-await-in-loop -- long values are rare
        const payload = await this.#withOverflow(first, next, length, budget);
        if (payload) onPayload(payload, 0, payload.length, rowNumber);
        else this.#damaged = true;
      }
    }
  }

  /** Bytes of a record that its leaf holds itself; the rest is on overflow pages. */
  #localBytes(length: number): number {
    const most = this.#usable - 35;
    if (length <= most) return length;
    const least = Math.floor(((this.#usable - 12) * 32) / 255) - 23;
    const local = least + ((length - least) % (this.#usable - 4));
    return local <= most ? local : least;
  }

  async #withOverflow(
    first: Uint8Array,
    next: number,
    length: number,
    budget: { pages: number },
  ): Promise<Uint8Array | null> {
    if (length > this.#source.size) return null;
    const payload = new Uint8Array(length);
    payload.set(first);
    for (let filled = first.length, number = next; filled < length;) {
      if (number < 1 || number > this.#pages || budget.pages-- <= 0) return null;
      // oxlint-disable-next-line no-await-in-loop -- each page names the next
      const page = this.#cached(number) ?? (await this.#fetch(number));
      const part = page.subarray(4, Math.min(this.#usable, 4 + length - filled));
      if (part.length === 0) return null;
      payload.set(part, filled);
      filled += part.length;
      number = integerAt(page, 0, 4, false);
    }
    return payload;
  }

  #cached(number: number): Uint8Array | undefined {
    const { chunk, offset } = this.#placeOf(number);
    return this.#chunks.get(chunk)?.subarray(offset, offset + this.#pageBytes);
  }

  async #fetch(number: number): Promise<Uint8Array> {
    const { chunk, offset } = this.#placeOf(number);
    // The memory of the oldest chunk serves the next.
    const [oldest] = this.#chunks.keys();
    const into = this.#chunks.size >= keptChunks ? this.#chunks.get(oldest!) : undefined;
    if (into) this.#chunks.delete(oldest!);
    const bytes = await this.#source.read(chunk * this.#chunkBytes, this.#chunkBytes, into);
    this.#chunks.set(chunk, bytes);
    return bytes.subarray(offset, offset + this.#pageBytes);
  }

  get #chunkBytes(): number {
    return Math.max(chunkBytes, this.#pageBytes);
  }

  #placeOf(number: number): { chunk: number; offset: number } {
    const at = (number - 1) * this.#pageBytes;
    const chunk = Math.floor(at / this.#chunkBytes);
    return { chunk, offset: at - chunk * this.#chunkBytes };
  }
}

const pageBytesOf = (head: Uint8Array): number => {
  const bytes = integerAt(head, 16, 2, false);
  return bytes === 1 ? 65_536 : bytes;
};

function headerTrouble(head: Uint8Array): Problem | null {
  const error = (code: string, message: string): Problem => ({ severity: 'error', code, message });
  if (!SqliteFile.sniff(head)) return error('no-sqlite', 'The file is not an SQLite database.');
  const pageBytes = pageBytesOf(head);
  if (head.length < 100 || pageBytes < 512 || (pageBytes & (pageBytes - 1)) !== 0 || pageBytes - head[20]! < 480)
    return error('damaged', 'The header of the SQLite file is damaged or truncated. Export or copy the file again.');
  if (head[18] === 2 || head[19] === 2)
    return error(
      'sqlite-wal',
      'The SQLite file uses a write-ahead log, so that its newest rows may be in another file. Run sqlite3 FILE "pragma journal_mode=delete" first.',
    );
  if (integerAt(head, 56, 4, false) > 1)
    return error(
      'sqlite-encoding',
      'The SQLite file has text in UTF-16. Export it again with nsys export --type sqlite.',
    );
  return null;
}
