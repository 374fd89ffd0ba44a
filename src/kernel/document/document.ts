/**
 * A result as data: what a reader gets, before anyone decides how it looks. A feature makes a `Document` and knows no
 * renderer; `renderText`, `renderHtml`, `renderMarkdown` and the page's `drawBlocks` know no feature.
 *
 * Texts may contain names from models, logs and paths: renderers escape them. Numbers are already written, with the
 * functions of `text/numbers` and `vocabulary`.
 */
export interface Document {
  /** What this is about, in one line. */
  title: string;
  blocks: readonly Block[];
}

/** A line of text, of which parts may lead somewhere. */
export type Text = string | readonly (string | Link)[];

export interface Link {
  text: string;
  to: Target;
}

/** Where a link leads. A renderer whose surroundings cannot go there writes its text only. */
export type Target =
  | { kind: 'nodes'; ids: readonly string[] }
  | { kind: 'layers'; ids: readonly number[] }
  | { kind: 'foreignNode'; id: number }
  /** A line of the build log, from 1. */
  | { kind: 'log'; line: number }
  /** @param line from 1 */
  | { kind: 'file'; path: string; line?: number }
  /** Something that the page around the document does, by its name there. */
  | { kind: 'action'; name: string };

/** What the reader can do next: a button on a page, a command on a terminal. At least one of them is given. */
export interface Action {
  label: string;
  to?: Target;
  /** The command that does it, quoted for a shell. */
  command?: string;
}

/** How a row, a verdict or a value turned out. `vocabulary` has the sign and the word of each. */
export type State = 'good' | 'bad' | 'warning' | 'unknown' | 'skipped';

export interface DocumentFact {
  label: string;
  value: Text;
}

/** Something that was found, with what to do about it. */
export interface DocumentFinding {
  severity: 'error' | 'warning' | 'info';
  /** Stable code for scripts and searches: `plugin-missing`. */
  code?: string;
  /** Where it was found: `line 12`. */
  place?: Text;
  text: Text;
  /** What belongs to it, such as the nodes concerned. */
  facts?: readonly DocumentFact[];
  /** What to do next, in a sentence. */
  advice?: Text;
  actions?: readonly Action[];
}

export interface Column {
  title: string;
  /** Numbers are aligned at their right end. */
  numeric?: boolean;
}

export interface Row {
  /** One for each column; lines of a cell stay lines. */
  cells: readonly Text[];
  /** Shown as a sign before the row. */
  state?: State;
}

export interface Item {
  text: Text;
  /** Less important, behind the text. */
  detail?: string;
}

/** Values along the depth of a model, on a logarithmic scale from 1e-7 to 1. */
export interface Chart {
  /** What the picture shows, for those who cannot see it. */
  label: string;
  /** What its marks mean. */
  legend: string;
  points: readonly ChartPoint[];
  /** A value at which a dashed line is drawn. */
  limit: number;
  /** Stretches of points with a name, below the chart; `from` to `to`, without `to`. */
  bands: readonly { name: string; short: string; from: number; to: number }[];
}

export interface ChartPoint {
  /** Height of the bar; null: not finite. */
  bar: number | null;
  /** Height of the line; null: not finite, marked at the top. */
  line: number | null;
  /** Drawn in the color of errors. */
  marked: boolean;
  /** Shown for this point. */
  title: string;
}

/** A value that falls with a number, on a logarithmic scale. */
export interface Curve {
  /** What the picture shows, for those who cannot see it. */
  label: string;
  /** What its marks mean. */
  legend: string;
  /** At least two, with rising `x`; `y` null: not finite, as high as the picture. */
  points: readonly { x: number; y: number | null; marked: boolean; title: string }[];
  /** A value at which a dashed line is drawn. */
  limit: number;
}

export type Block =
  /** The result in one sentence. */
  | { kind: 'verdict'; state: State; text: Text }
  | { kind: 'text'; text: Text }
  /** What explains the block before it. */
  | { kind: 'note'; text: Text }
  | { kind: 'warning'; text: Text }
  /** A few numbers that a reader looks for first. */
  | { kind: 'figures'; figures: readonly DocumentFact[] }
  | { kind: 'facts'; facts: readonly DocumentFact[] }
  | { kind: 'findings'; findings: readonly DocumentFinding[] }
  | { kind: 'table'; columns: readonly Column[]; rows: readonly Row[]; noun: string }
  | { kind: 'list'; items: readonly Item[]; noun: string }
  /** Text to copy as it is, such as rules; `folded` where a reader must ask for it: a terminal leaves it out. */
  | { kind: 'source'; title: string; text: string; folded?: true }
  | { kind: 'actions'; actions: readonly Action[] }
  /** Only on pages. */
  | { kind: 'chart'; chart: Chart }
  /** Only on pages. */
  | { kind: 'curve'; curve: Curve }
  | { kind: 'section'; title: string; blocks: readonly Block[] };

/** Blocks below a heading; nothing where there are none. */
export const section = (title: string, blocks: readonly Block[]): Block[] =>
  blocks.length === 0 ? [] : [{ kind: 'section', title, blocks }];

export const note = (text: Text): Block => ({ kind: 'note', text });

/** Facts, without those that have no value; nothing where none is left. */
export function facts(all: readonly (readonly [label: string, value: Text | null])[]): Block[] {
  const known = all.flatMap(([label, value]) => (value === null || value === '' ? [] : [{ label, value }]));
  return known.length === 0 ? [] : [{ kind: 'facts', facts: known }];
}

/**
 * A table; nothing where it has no rows.
 * @param titles of the columns; one that ends in `#` has numbers
 * @param noun of a row, for those that are not shown: `… and 3 more nodes`
 */
export const table = (titles: readonly string[], rows: readonly Row[], noun = 'row'): Block[] =>
  rows.length === 0
    ? []
    : [
        {
          kind: 'table',
          columns: titles.map((title) =>
            title.endsWith('#') ? { title: title.slice(0, -1), numeric: true } : { title },
          ),
          rows,
          noun,
        },
      ];

/** A list; nothing where it has no items. @param noun of an item, for those that are not shown */
export const list = (items: readonly (Text | Item)[], noun = 'item'): Block[] =>
  items.length === 0
    ? []
    : [{ kind: 'list', items: items.map((item) => (isText(item) ? { text: item } : item)), noun }];

const isText = (item: Text | Item): item is Text => typeof item === 'string' || Array.isArray(item);

/** A text without its links. */
export const plainOf = (text: Text): string =>
  typeof text === 'string' ? text : text.map((span) => (typeof span === 'string' ? span : span.text)).join('');

/** The sign of each state, so that color never says anything alone, and its word for a screen reader. */
export const states: Readonly<Record<State, { sign: string; word: string }>> = {
  good: { sign: '✓', word: 'passed' },
  bad: { sign: '✗', word: 'failed' },
  warning: { sign: '!', word: 'warning' },
  unknown: { sign: '?', word: 'unknown' },
  skipped: { sign: '–', word: 'skipped' },
};
