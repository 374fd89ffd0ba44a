import { hierarchy, type HierarchyRectangularNode, partition } from 'd3-hierarchy';
import { select } from 'd3-selection';
import type { IcicleCell } from '../../src/kernel/picture/page/fusionFlow.ts';
import { type Weight, weightOf } from '../../src/kernel/picture/page/layerRows.ts';
import { arrowKeys } from '../shared/arrowKeys.ts';
import { fitText, textWidth } from '../shared/fitText.ts';
import { strings } from '../shared/strings.ts';
import type { ChartEvents } from './flowChart.ts';
import { lineOf, paintOf } from '../shared/paint.ts';
import { sameSelection } from '../shared/sameSelection.ts';
import type { SelectionSet } from './selectionSet.ts';
import { counted, percentText, timeText } from '../../src/kernel/base/text.ts';

type Cell = HierarchyRectangularNode<IcicleCell>;

const row = 26;
/** Narrower cells cannot be hit; a run of them is drawn as one that says how many. */
const narrowest = 3;

/** Time or nodes by module → group → kernel, the whole model as the top row; zooms into any cell. */
export function icicleChart(parent: HTMLElement, events: ChartEvents) {
  const path = select(parent).append('div').attr('class', 'path');
  const svg = select(parent).append('svg').attr('class', 'icicle').attr('role', 'group');
  const cells = svg.append('g');
  const labels = svg.append('g').attr('aria-hidden', 'true');
  const keepFocus = arrowKeys(parent, '.cell');
  let drawn: { root: IcicleCell; weight: Weight; width: number } | null = null;
  let zoomed = '';
  let last: SelectionSet | null = null;

  const zoom = (id: string) => {
    zoomed = id;
    if (drawn !== null) draw(drawn.root, drawn.weight, drawn.width);
    if (last !== null) mark(last);
  };
  svg.on('keydown', (event: KeyboardEvent) => {
    if (event.key !== '+' && event.key !== '-') return;
    const cell =
      event.target instanceof SVGElement ? select<SVGElement, Cell | undefined>(event.target).datum() : undefined;
    if (event.key === '-') zoom('');
    else if (cell !== undefined) zoom(cell.data.id);
  });

  const draw = (root: IcicleCell, weight: Weight, width: number) => {
    drawn = { root, weight, width };
    const trail = trailTo(root, zoomed);
    const focus = trail.at(-1) ?? root;
    drawPath(trail);
    const tree = hierarchy(focus).sum(({ children, weight: own }) => (children.length === 0 ? own : 0));
    const rows = tree.height + 1;
    const whole = partition<IcicleCell>().size([width, rows * row])(tree);
    const { visible, runs } = atLeast(whole, narrowest);
    svg
      .attr('viewBox', `0 0 ${width} ${rows * row}`)
      .attr('width', width)
      .attr('height', rows * row);
    svg.attr('aria-label', strings.fusion.icicle.title(weight)).attr('aria-description', strings.fusion.icicle.help);
    const style = getComputedStyle(document.body);
    const font = `${style.fontSize} ${style.fontFamily}`;
    cells
      .selectAll<SVGGElement, Cell>('.cell')
      .data(visible, ({ data }) => data.id)
      .join((enter) => {
        const cell = enter.append('g').attr('class', 'cell').attr('role', 'button');
        cell.append('title');
        cell.append('rect').attr('class', 'body');
        cell.append('rect').attr('class', 'part');
        return cell;
      })
      .order()
      .attr('data-id', ({ data }) => data.id)
      .attr('aria-label', (cell) => spoken(cell, root.weight, weight))
      .classed('derived', ({ data, x0, x1 }) => !data.exact && x1 - x0 > 24)
      .classed('module', ({ data }) => data.kind === 'module' || data.kind === 'model')
      .on('click', (_, { data }) => events.select(data.selection))
      .on('dblclick', (_, { data }) => zoom(data.id))
      .each(function (cell) {
        const own = select(this);
        const wide = Math.max(1, cell.x1 - cell.x0 - 1);
        own.select('title').text(spoken(cell, root.weight, weight));
        own
          .select('.body')
          .attr('x', cell.x0)
          .attr('y', cell.y0)
          .attr('width', wide)
          .attr('height', row - 1)
          .style('fill', paintOf(cell.data))
          .style('stroke', lineOf(cell.data));
        own
          .select('.part')
          .attr('x', cell.x0)
          .attr('y', cell.y0 + row - 5)
          .attr('height', 3)
          .attr('width', 0);
      });
    labels
      .selectAll<SVGTextElement, Cell>('text')
      .data(
        visible.filter(({ x0, x1 }) => x1 - x0 > 26),
        ({ data }) => data.id,
      )
      .join('text')
      .attr('x', ({ x0 }) => x0 + 5)
      .attr('y', ({ y0 }) => y0 + row / 2 + 4)
      .text(({ data, x0, x1 }) => fittingTitle(data, root.weight, x1 - x0 - 9, font));
    drawRuns(runs);
    keepFocus();
  };

  const drawRuns = (runs: Run[]) => {
    svg
      .selectAll<SVGGElement, Run>('.run')
      .data(runs)
      .join((enter) => {
        const run = enter.append('g').attr('class', 'run');
        run.append('title');
        run.append('rect');
        return run;
      })
      .on('click', (_, { parent: cell }) => zoom(cell.data.id))
      .each(function ({ x0, x1, y0, cells: many }) {
        const own = select(this);
        own.select('title').text(strings.fusion.icicle.more(many));
        own
          .select('rect')
          .attr('x', x0)
          .attr('y', y0)
          .attr('width', Math.max(0.5, x1 - x0 - 1))
          .attr('height', row - 1);
      });
  };

  const drawPath = (trail: IcicleCell[]) => {
    path
      .selectAll<HTMLButtonElement, IcicleCell>('button')
      .data(trail.length > 1 ? trail.slice(0, -1) : [], ({ id }) => id)
      .join('button')
      .attr('type', 'button')
      .text(({ kind, label }) => (kind === 'model' ? strings.fusion.icicle.zoomOut : label))
      .on('click', (_, { id, kind }) => zoom(kind === 'model' ? '' : id));
    path
      .selectAll('span')
      .data(trail.length > 1 ? trail.slice(-1) : [])
      .join('span')
      .text(({ label }) => `› ${label}`);
  };

  const mark = (set: SelectionSet) => {
    last = set;
    svg.classed('selecting', !set.none);
    const weight = drawn?.weight ?? 'nodes';
    cells.selectAll<SVGGElement, Cell>('.cell').each(function (cell) {
      const { units, weight: whole } = cell.data;
      const part = set.none ? 0 : units.reduce((sum, unit) => sum + (set.unit(unit) ? weightOf(unit, weight) : 0), 0);
      select(this)
        .classed('on', part > 0)
        .attr('aria-pressed', String(!set.none && sameSelection(cell.data.selection, set.selection)))
        .select('.part')
        .attr('width', whole > 0 && part < whole * 0.999 ? Math.max(0, (cell.x1 - cell.x0 - 1) * (part / whole)) : 0);
    });
  };
  return { draw, mark };
}

/** From the whole model down to a cell. [root] if there is no such cell (any more). */
function trailTo(root: IcicleCell, id: string): IcicleCell[] {
  if (id === '' || id === root.id) return [root];
  for (const child of root.children) {
    if (child.id === id) return [root, child];
    const below = child.children.length > 0 ? trailTo(child, id) : [];
    if (below.length > 1) return [root, ...below];
  }
  return [root];
}

interface Run {
  parent: Cell;
  x0: number;
  x1: number;
  y0: number;
  cells: number;
}

/** Cells that are wide enough, and runs of neighbors that are not (nothing below them is drawn). */
function atLeast(root: Cell, least: number): { visible: Cell[]; runs: Run[] } {
  const visible: Cell[] = [];
  const runs: Run[] = [];
  const visit = (cell: Cell) => {
    visible.push(cell);
    let run: Run | null = null;
    for (const child of cell.children ?? []) {
      if (child.x1 - child.x0 >= least) {
        run = null;
        visit(child);
      } else if (run === null) {
        run = { parent: cell, x0: child.x0, x1: child.x1, y0: child.y0, cells: 1 };
        runs.push(run);
      } else {
        run.x1 = child.x1;
        run.cells += 1;
      }
    }
  };
  visit(root);
  return { visible, runs };
}

/** All of it, otherwise the label alone, otherwise the end that tells modules apart. */
function fittingTitle(cell: IcicleCell, total: number, room: number, font: string): string {
  const title = titleOf(cell, total);
  if (textWidth(title, font) <= room) return title;
  return fitText(cell.label, room, font, cell.kind === 'module' && !cell.label.includes('…') ? 'end' : 'start');
}

const titleOf = ({ label, detail, weight, exact }: IcicleCell, total: number): string =>
  `${label}${detail.startsWith('×') ? ` ${detail.split(/[ ,]/)[0] ?? ''}` : ''} ${percentText((weight / total) * 100)}${exact ? '' : ` ${strings.common.derived}`}`;

const spoken = ({ data }: Cell, total: number, weight: Weight): string =>
  [
    data.label,
    data.detail,
    weight === 'time' ? timeText(data.weight) : counted(Math.round(data.weight), 'node'),
    percentText((data.weight / total) * 100),
    data.exact ? '' : strings.common.derived,
  ]
    .filter((part) => part !== '')
    .join(', ');
