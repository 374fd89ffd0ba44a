import { csvOf, type SortOrder, sortRows, type TableColumn } from '../../src/kernel/picture/page/layerRows.ts';
import { counted } from '../../src/kernel/base/text.ts';
import { strings } from '../shared/strings.ts';
import { cellText } from './cellText.ts';
import { columnMenu } from './columnMenu.ts';
import { rowMove } from './rowMove.ts';
import './table.css';

/** What a table remembers while its page is hidden or loaded again. */
export interface TableState {
  /** null: in the order that the rows came in. */
  sort: SortOrder | null;
  /** Ids of the columns that are not shown. */
  hidden: string[];
  filter: string;
  /** Pixels of the columns that the user made wider or narrower. */
  widths?: Record<string, number>;
}

export const initialTable: TableState = { sort: null, hidden: [], filter: '' };

export interface TableOptions<Row> {
  label: string;
  /** One and many of what a row is. */
  noun: [one: string, many: string];
  columns: readonly TableColumn<Row>[];
  state: TableState;
  remember(state: TableState): void;
  /** Rows that match a filter text, and what is wrong with it ('': nothing). */
  filter(rows: readonly Row[], text: string): { rows: Row[]; problem: string };
  /** An example for the empty filter box. */
  filterHint: string;
  /** The user selected these rows; none: cleared. */
  select(rows: Row[]): void;
  /** CSS paint of the mark before the first text of a row; '' for none. */
  paint(row: Row): string;
}

/** Must be the height that table.css gives to rows. */
const rowHeight = 24;
const spare = 6;
let tables = 0;

interface Line {
  element: HTMLElement;
  /** The columns that its cells are of. */
  columns: readonly unknown[];
  cells: { cell: HTMLElement; text: Text; mark: HTMLElement | null }[];
  /** What is drawn in it: position, and which drawing of the table. */
  drawn: string;
}

/**
 * A table with any number of rows, of which only those in view are in the document. Sorts by a click on a header,
 * filters, copies as CSV; one tab stop, then arrows, Page Up and Down, Home and End, with Shift to extend and Ctrl to
 * keep the selection.
 */
export function virtualTable<Row>(parent: HTMLElement, options: TableOptions<Row>) {
  const texts = strings.table;
  const prefix = `table${(tables += 1)}`;
  let state = options.state;
  let all: readonly Row[] = [];
  let shown: Row[] = [];
  let isSelected: (row: Row) => boolean = () => false;
  let shownColumns: readonly TableColumn<Row>[] = [];
  let active = 0;
  /** Where a range that Shift extends begins. */
  let anchor = 0;
  let drawing = 0;
  /** A selection that this table made needs no scrolling to. */
  let own = false;
  /** The selection that came while nothing of the table could be seen. */
  let reveal = false;

  const make = (tag: string, name: string, into: HTMLElement, role?: string): HTMLElement => {
    const element = document.createElement(tag);
    element.className = name;
    if (role !== undefined) element.setAttribute('role', role);
    into.append(element);
    return element;
  };
  const box = make('div', 'table', parent);
  const bar = make('div', 'table-bar', box);
  const search = make('input', 'table-filter', bar) as HTMLInputElement;
  search.type = 'search';
  search.value = state.filter;
  search.placeholder = options.filterHint;
  search.setAttribute('aria-label', texts.filter(options.noun[1]));
  const said = make('span', 'table-count', bar, 'status');
  const copy = make('button', 'table-copy', bar) as HTMLButtonElement;
  copy.type = 'button';
  const leaveOut = columnMenu(bar, options.columns, state.hidden, (hidden) => {
    change({ hidden });
    drawHead();
    render();
  });
  const grid = make('div', 'table-grid', box, 'grid');
  grid.tabIndex = 0;
  grid.setAttribute('aria-label', options.label);
  grid.setAttribute('aria-multiselectable', 'true');
  const head = make('div', 'table-head', grid, 'row');
  head.setAttribute('aria-rowindex', '1');
  const body = make('div', 'table-body', grid, 'rowgroup');
  const lines: Line[] = [];

  /** Optional columns of which no row has a value. */
  let empty: readonly string[] = [];
  const visible = () => options.columns.filter(({ id }) => !state.hidden.includes(id) && !empty.includes(id));
  const change = (next: Partial<TableState>) => {
    state = { ...state, ...next };
    options.remember(state);
  };

  function drawHead(): void {
    const columns = visible();
    shownColumns = columns;
    grid.setAttribute('aria-colcount', String(columns.length));
    layOut();
    const focused = head.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset['id'] : '';
    head.replaceChildren();
    columns.forEach((column, index) => {
      const cell = make('div', `table-cell ${column.kind}`, head, 'columnheader');
      cell.setAttribute('aria-colindex', String(index + 1));
      const sorted = state.sort?.column === column.id ? state.sort : null;
      cell.setAttribute('aria-sort', sorted === null ? 'none' : sorted.descending ? 'descending' : 'ascending');
      const button = make('button', 'table-sort', cell) as HTMLButtonElement;
      button.type = 'button';
      button.dataset['id'] = column.id;
      button.title = `${column.meaning} (${texts.resizeHint})`;
      button.textContent = column.title;
      button.addEventListener('click', () => sortBy(column));
      button.addEventListener('keydown', (event) => {
        const step = event.key === 'ArrowRight' ? 16 : event.key === 'ArrowLeft' ? -16 : 0;
        if (!event.altKey || step === 0) return;
        event.preventDefault();
        resize(column, cell.offsetWidth + step);
      });
      columnGrip(cell, (width) => resize(column, width));
      if (focused === column.id) button.focus();
    });
    drawing += 1;
  }

  function layOut(): void {
    const widths = shownColumns.map((column) => {
      const own = state.widths?.[column.id];
      return own === undefined ? widthOf(column) : `${own}px, ${own}px`;
    });
    grid.style.setProperty('--columns', widths.map((width) => `minmax(${width})`).join(' '));
    grid.style.setProperty('--least', `${widths.reduce((sum, width) => sum + parseInt(width, 10), 0)}px`);
  }

  /** @param width null: as wide as it is by itself */
  function resize({ id }: TableColumn<Row>, width: number | null): void {
    const { [id]: _, ...others } = state.widths ?? {};
    change({ widths: width === null ? others : { ...others, [id]: Math.max(narrowest, Math.round(width)) } });
    layOut();
  }

  /** First click: what matters most at the top; second: the other way round; third: as the rows came. */
  function sortBy({ id, kind }: TableColumn<Row>): void {
    const first = kind !== 'text';
    const { sort } = state;
    const next = sort?.column !== id ? first : sort.descending === first ? !first : null;
    change({ sort: next === null ? null : { column: id, descending: next } });
    drawHead();
    arrange();
  }

  function arrange(): void {
    const at = shown[active];
    const { rows, problem } = options.filter(all, state.filter);
    shown = state.sort === null ? rows : sortRows(rows, options.columns, state.sort);
    active = Math.max(0, at === undefined ? 0 : shown.indexOf(at));
    anchor = active;
    drawing += 1;
    search.setAttribute('aria-invalid', String(problem !== ''));
    const [one, many] = options.noun;
    said.textContent =
      problem !== ''
        ? problem
        : shown.length === all.length
          ? counted(all.length, one, many)
          : texts.shown(shown.length, counted(all.length, one, many));
    grid.setAttribute('aria-rowcount', String(shown.length + 1));
    body.style.setProperty('height', `${shown.length * rowHeight}px`);
    nameCopy();
    render();
  }

  function nameCopy(): void {
    copy.textContent = texts.copy(shown.filter(isSelected).length);
    copy.disabled = shown.length === 0;
  }

  const pageRows = () => Math.max(1, Math.floor((grid.clientHeight - head.offsetHeight) / rowHeight) - 1);

  function render(): void {
    if (grid.clientHeight === 0) return;
    const from = Math.max(0, Math.floor(grid.scrollTop / rowHeight) - spare);
    const to = Math.min(shown.length, from + Math.ceil(grid.clientHeight / rowHeight) + 2 * spare);
    const room = to - from;
    while (lines.length < room)
      lines.push({ element: make('div', 'table-row', body, 'row'), columns: [], cells: [], drawn: '' });
    while (lines.length > room) lines.pop()?.element.remove();
    for (let index = from; index < to; index += 1) {
      // A line keeps its row while that is in view: scrolling fills only what comes in.
      const line = lines[index % room]!;
      drawLine(line, index, shownColumns);
    }
    const row = document.getElementById(`${prefix}-${active}`);
    if (row === null) grid.removeAttribute('aria-activedescendant');
    else grid.setAttribute('aria-activedescendant', row.id);
  }

  function drawLine(line: Line, index: number, columns: readonly TableColumn<Row>[]): void {
    const row = shown[index]!;
    const { element } = line;
    element.classList.toggle('active', index === active);
    element.setAttribute('aria-selected', String(isSelected(row)));
    const drawn = `${drawing}:${index}`;
    if (line.drawn === drawn) return;
    line.drawn = drawn;
    element.id = `${prefix}-${index}`;
    element.dataset['index'] = String(index);
    element.setAttribute('aria-rowindex', String(index + 2));
    element.style.setProperty('transform', `translateY(${index * rowHeight}px)`);
    if (line.columns !== columns) {
      line.columns = columns;
      line.cells = columns.map(makeCell);
      element.replaceChildren(...line.cells.map(({ cell }) => cell));
    }
    columns.forEach((column, at) => {
      const { cell, text, mark } = line.cells[at]!;
      const value = cellText(column, column.value(row));
      text.data = value === '' ? '–' : value;
      if (value === '') cell.setAttribute('aria-label', texts.unknown);
      else if (cell.hasAttribute('aria-label')) cell.removeAttribute('aria-label');
      mark?.style.setProperty('background', options.paint(row));
    });
  }

  function scrollTo(index: number): void {
    const top = index * rowHeight;
    const room = grid.clientHeight - head.offsetHeight;
    if (top < grid.scrollTop) grid.scrollTop = top;
    else if (top + rowHeight > grid.scrollTop + room) grid.scrollTop = top + rowHeight - room;
  }

  function choose(rows: Row[]): void {
    own = true;
    options.select(rows);
    own = false;
  }

  /** Makes a row the active one, and selects: it alone, up to it (`extend`), or it as well (`toggle`). */
  function go(index: number, how: 'only' | 'extend' | 'toggle' | 'move'): void {
    const row = shown[index];
    if (row === undefined) return;
    active = index;
    if (how !== 'extend') anchor = index;
    scrollTo(index);
    if (how === 'only') choose([row]);
    else if (how === 'extend') choose(shown.slice(Math.min(anchor, index), Math.max(anchor, index) + 1));
    else if (how === 'toggle') {
      const others = shown.filter((one) => one !== row && isSelected(one));
      choose(isSelected(row) ? others : [...others, row]);
    }
    render();
  }

  function copyRows(): void {
    const chosen = shown.filter(isSelected);
    const rows = chosen.length > 0 ? chosen : shown;
    const report = (text: string) => (said.textContent = text);
    navigator.clipboard.writeText(csvOf(rows, visible())).then(
      () => report(texts.copied(counted(rows.length, ...options.noun))),
      () => report(texts.notCopied),
    );
  }

  // Texts that are cut are told in full under the pointer; a title on each cell would cost more than drawing it.
  body.addEventListener('pointerover', ({ target }) => {
    const cell = target instanceof Element ? target.closest<HTMLElement>('.table-cell') : null;
    if (cell !== null) cell.title = cell.ariaLabel ?? cell.textContent;
  });
  search.addEventListener('input', () => {
    change({ filter: search.value });
    arrange();
  });
  copy.addEventListener('click', copyRows);
  grid.addEventListener('scroll', render, { passive: true });
  body.addEventListener('click', (event) => {
    const element = (event.target as Element).closest<HTMLElement>('.table-row');
    if (element === null) return;
    const index = Number(element.dataset['index']);
    const row = shown[index]!;
    const alone = isSelected(row) && shown.filter(isSelected).length === 1;
    if (alone && !event.shiftKey) {
      active = anchor = index;
      choose([]);
      render();
    } else go(index, event.shiftKey ? 'extend' : event.ctrlKey || event.metaKey ? 'toggle' : 'only');
  });
  grid.addEventListener('keydown', (event) => {
    if (event.target !== grid) return;
    const command = event.ctrlKey || event.metaKey;
    const to = rowMove(event.key, active, shown.length, pageRows());
    if (to !== null) go(to, event.shiftKey ? 'extend' : command ? 'move' : 'only');
    else if (event.key === ' ' || event.key === 'Enter') go(active, 'toggle');
    else if (command && event.key === 'a') choose([...shown]);
    else if (command && event.key === 'c') copyRows();
    else return;
    event.preventDefault();
  });
  new ResizeObserver(() => {
    render();
    if (reveal) showSelected();
  }).observe(grid);

  function showSelected(): void {
    const first = shown.findIndex(isSelected);
    reveal = grid.clientHeight === 0;
    if (first < 0 || reveal) return;
    active = anchor = first;
    scrollTo(first);
    render();
  }

  drawHead();
  return {
    /** Shows other rows, in the order and with the filter as they are. */
    show(rows: readonly Row[]): void {
      all = rows;
      const before = empty.join();
      empty = options.columns.flatMap(({ id, optional, value }) =>
        optional === true && rows.every((row) => value(row) === null) ? [id] : [],
      );
      if (empty.join() !== before) drawHead();
      leaveOut(empty);
      arrange();
    },
    /** Marks what is selected; what was selected elsewhere is scrolled to. */
    mark(selected: (row: Row) => boolean): void {
      isSelected = selected;
      nameCopy();
      render();
      if (!own) showSelected();
    },
  };
}

/** Pixels of a column that can still be found. */
const narrowest = 48;

/** The border of a header that is dragged to make its column wider or narrower; a double click takes that back. */
function columnGrip(cell: HTMLElement, resize: (width: number | null) => void): void {
  const grip = document.createElement('span');
  grip.className = 'table-grip';
  grip.setAttribute('aria-hidden', 'true');
  grip.addEventListener('pointerdown', ({ pointerId, clientX }) => {
    const from = cell.offsetWidth - clientX;
    grip.setPointerCapture(pointerId);
    grip.onpointermove = (event) => resize(from + event.clientX);
  });
  grip.addEventListener('lostpointercapture', () => {
    grip.onpointermove = null;
  });
  grip.addEventListener('dblclick', () => resize(null));
  cell.append(grip);
}

/** Columns of short texts, which get little of the remaining room. */
const shortTexts = new Set(['precision', 'state', 'kind', 'known']);

/** Least and most, as CSS has them. Numbers need as much as their title. */
function widthOf({ kind, id, title }: Pick<TableColumn<unknown>, 'kind' | 'id' | 'title'>): string {
  const number = `${Math.max(84, 8 * title.length + 20)}px`;
  if (kind !== 'text') return `${number}, ${number}`;
  return id === 'name'
    ? '240px, 3fr'
    : id === 'computes'
      ? '200px, 3fr'
      : shortTexts.has(id)
        ? '110px, 0.3fr'
        : '110px, 1fr';
}

/** An empty cell of the column at a position, with a mark before the text of names. */
function makeCell(
  { kind, id, keepsEnd }: Pick<TableColumn<unknown>, 'kind' | 'id' | 'keepsEnd'>,
  at: number,
): Line['cells'][number] {
  const cell = document.createElement('div');
  cell.className = `table-cell ${kind}`;
  cell.setAttribute('role', 'gridcell');
  cell.setAttribute('aria-colindex', String(at + 1));
  const mark = id === 'name' ? document.createElement('i') : null;
  const text = document.createTextNode('');
  if (mark !== null) cell.append(mark);
  if (keepsEnd === true) {
    cell.classList.add('keeps-end');
    const isolated = document.createElement('bdi');
    isolated.dir = 'ltr';
    isolated.append(text);
    cell.append(isolated);
  } else cell.append(text);
  return { cell, text, mark };
}
