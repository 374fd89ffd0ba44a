import { select } from 'd3-selection';
import type { FusionReport } from '../../src/kernel/fusion/fusionReport.ts';
import { flowDefaults, openedParts, toFusionFlow, toFusionIcicle } from '../../src/kernel/picture/page/fusionFlow.ts';
import type { LayerRange } from '../../src/kernel/picture/page/fusionTimeline.ts';
import { type FusionUnits, toFusionUnits, unitsInRange, type Weight } from '../../src/kernel/picture/page/layerRows.ts';
import { nounOf } from '../../src/kernel/report/words.ts';
import { modulePaths } from '../../src/kernel/picture/graph/hierarchy.ts';
import { headlineOf } from '../../src/kernel/picture/page/headline.ts';
import type { ViewData } from '../../src/kernel/picture/graph/viewData.ts';
import type { Selection, View, ViewHost } from '../../src/kernel/protocol/views.ts';
import { viewState } from '../shared/connect.ts';
import { FigureBar } from '../shared/figureBar.ts';
import { strings } from '../shared/strings.ts';
import '../shared/base.css';
import { detailsPane } from './detailsPane.ts';
import { type ChartEvents, flowChart } from './flowChart.ts';
import './fusion.css';
import { headline } from './headline.ts';
import { icicleChart } from './icicleChart.ts';
import { tabPanels } from '../shared/tabPanels.ts';
import { initialTable, type TableState } from '../table/virtualTable.ts';
import { layerTable } from './layerTable.ts';
import { sameSelection } from '../shared/sameSelection.ts';
import { toSelectionSet } from './selectionSet.ts';
import { rangeLine } from './rangeLine.ts';
import { timeLine } from './timeLine.ts';
import { timelineChart } from './timelineChart.ts';

/** The two ways to see a build. */
type FusionTab = 'charts' | 'table';

interface ViewState {
  weight: Weight | null;
  open: [string, number][];
  scroll: number;
  tab: FusionTab;
  table: TableState;
}

interface Shown {
  data: ViewData;
  report: FusionReport;
  units: FusionUnits;
  /** Modules of each node. */
  paths: string[][];
}

/**
 * The fusion page: what happened to every node, how modules flow through fusion groups into kernels, when each kernel
 * runs and what takes the time. One selection in all of it. Redraws when its width changes; `root` may be hidden at
 * first.
 */
export function mountFusion(root: HTMLElement, host: ViewHost): View {
  const kept = viewState<ViewState>('fusion');
  const before = kept.get();
  let shown: Shown | null = null;
  let selection: Selection = { kind: 'none' };
  let range: LayerRange | null = null;
  let weight: Weight | null = before?.weight ?? null;
  const open = new Map(before?.open ?? []);

  const page = select(root).append('div').attr('class', 'fusion');
  const blank = page.append('div').attr('class', 'blank').property('hidden', true);
  const body = page.append('div').attr('class', 'fusion-body').property('hidden', true);
  const main = body.append('div').attr('class', 'fusion-main');
  // What takes the time is what a reader of the table looks for.
  let tableState: TableState = before?.table ?? { ...initialTable, sort: { column: 'ms', descending: true } };
  const figures = new FigureBar({
    select: (next) => {
      choose(next);
      host.selected(selection);
    },
    run: (command, nodes) => host.run(command, nodes),
  });
  node(main).append(figures.root);
  const tabs = tabPanels<FusionTab>(node(main), {
    label: strings.fusion.tabs.label,
    names: ['charts', 'table'],
    title: (name) => strings.fusion.tabs[name],
    first: before?.tab ?? 'charts',
    changed: () => {
      remember();
      drawAll();
      mark();
    },
  });
  const rangeBar = rangeLine(tabs.below, {
    zoom: () => {
      if (range !== null) timeline.zoomTo(range);
    },
    clear: () => setRange(null),
  });
  const charts = select(tabs.panels.charts).classed('charts', true);
  const aside = body.append('aside').attr('class', 'details').attr('aria-label', strings.fusion.details.title);

  const chosen = (next: Selection) => {
    choose(sameSelection(next, selection) ? { kind: 'none' } : next);
    host.selected(selection);
  };
  const events: ChartEvents = {
    select: chosen,
    open: (id) => {
      open.set(id, (open.get(id) ?? 0) + openedParts);
      remember();
      drawFlow();
      mark();
    },
  };

  const top = headline(node(charts.append('header')), events);
  const flowBox = section('flow-section', strings.fusion.flow.title);
  const controls = flowBox.append('div').attr('class', 'controls');
  const note = flowBox.append('p').attr('class', 'note');
  const flow = flowChart(node(flowBox.append('div')), events);
  const timelineBox = section('timeline-section', strings.fusion.timeline.title);
  const timeline = timelineChart(node(timelineBox), { select: chosen, ranged: setRange });
  const icicleBox = section('icicle-section', '');
  const icicle = icicleChart(node(icicleBox), events);
  const details = detailsPane(node(aside), host, (next) => {
    choose(next);
    host.selected(selection);
  });
  const buildTime = timeLine(node(charts), events);
  const hints = charts.append('section').attr('class', 'hints').property('hidden', true);
  const table = layerTable(tabs.panels.table, {
    state: tableState,
    remember: (state) => {
      tableState = state;
      remember();
    },
    select: (next) => {
      choose(next);
      host.selected(selection);
    },
  });
  drawControls();

  function section(name: string, title: string) {
    const box = charts.append('section').attr('class', name);
    box.append('h2').text(title);
    return box;
  }

  function drawControls(): void {
    const group = controls.append('div').attr('role', 'group').attr('aria-label', strings.fusion.flow.weight);
    group.append('span').attr('class', 'muted').text(`${strings.fusion.flow.weight}: `);
    for (const choice of ['time', 'nodes'] as const) {
      group
        .append('button')
        .attr('type', 'button')
        .attr('data-weight', choice)
        .on('click', () => {
          weight = choice;
          remember();
          drawAll();
        });
    }
    controls
      .append('button')
      .attr('type', 'button')
      .attr('class', 'close-all')
      .text(strings.fusion.flow.collapse)
      .on('click', closeAll);
  }

  function closeAll(): void {
    open.clear();
    remember();
    drawFlow();
    mark();
  }

  function remember(): void {
    kept.set({ weight, open: [...open], scroll: node(charts).scrollTop, tab: tabs.current(), table: tableState });
  }

  function choose(next: Selection): void {
    selection = next;
    mark();
  }

  function setRange(next: LayerRange | null): void {
    // The charts above change their heights: the timeline stays where the pointer is.
    const before = node(timelineBox).getBoundingClientRect().top;
    range = next;
    if (shown !== null) {
      rangeBar.show(shown.report, range);
      table.show(shown.report, range, shown.paths);
    }
    drawAll();
    node(charts).scrollTop += node(timelineBox).getBoundingClientRect().top - before;
  }

  const weightNow = (): Weight => (shown?.units.timed === true ? (weight ?? 'time') : 'nodes');
  const width = (): number => Math.max(480, Math.floor(node(flowBox).clientWidth));

  function drawFlow(): void {
    if (shown === null) return;
    const { report, paths } = shown;
    const now = weightNow();
    flow.draw(
      toFusionFlow(report, unitsInRange(shown.units, range), paths, { ...flowDefaults, weight: now, open }),
      now,
      width(),
    );
    controls.select('.close-all').property('hidden', open.size === 0);
  }

  function drawAll(): void {
    if (shown === null || node(flowBox).clientWidth === 0) return;
    const { data, report, units, paths } = shown;
    const now = weightNow();
    top.draw(report);
    controls
      .selectAll<HTMLButtonElement, unknown>('button[data-weight]')
      .attr('aria-pressed', function () {
        return String(this.dataset['weight'] === now);
      })
      .property('disabled', function () {
        return this.dataset['weight'] === 'time' && !units.timed;
      })
      .text(function () {
        return this.dataset['weight'] === 'time' ? strings.fusion.flow.time : strings.fusion.flow.nouns[nounOf(report)];
      });
    const { folded, removed, shape, unaccounted, unknown } = report.accounting;
    const rest = folded + removed + shape + unaccounted + unknown;
    note.text(
      [
        units.timed ? '' : strings.fusion.flow.noTime,
        now === 'time' && report.subject !== 'engine' ? strings.fusion.flow.sharing : '',
        now === 'time' && rest > 0 ? strings.fusion.flow.restNodes(rest) : '',
      ]
        .filter((part) => part !== '')
        .join(' · '),
    );
    drawFlow();
    timeline.draw(report, width(), range);
    icicleBox.select('h2').text(strings.fusion.icicle.title(now));
    icicle.draw(toFusionIcicle(report, unitsInRange(units, range), paths, now), now, width());
    buildTime.draw(data.build?.timeLine ?? null, report, width());
    drawHints(data);
    mark();
  }

  function drawHints({ hints: missing, report }: ViewData): void {
    const said = [...missing, ...(report?.problems ?? []).map(({ message }) => message)];
    hints
      .property('hidden', said.length === 0)
      .selectChildren()
      .remove();
    hints.append('h2').text(strings.fusion.missing);
    hints.append('ul').selectAll('li').data(said.slice(0, 50)).join('li').text(String);
  }

  function mark(): void {
    if (shown === null) return;
    const { report, units } = shown;
    const set = toSelectionSet(report, units.units, selection);
    figures.mark(selection);
    top.mark(set);
    flow.mark(set);
    timeline.mark(set);
    icicle.mark(set);
    table.mark(set);
    // Next to the table there is nothing to tell before something is selected.
    const idle = tabs.current() === 'table' && selection.kind === 'none';
    aside.property('hidden', idle);
    body.classed('wide', idle);
    details.show(report, selection);
  }

  page.on('keydown', (event: KeyboardEvent) => {
    if (event.key === 'Escape' && selection.kind !== 'none') chosen({ kind: 'none' });
    else if (event.key === 'Escape' && range !== null) setRange(null);
    else if (event.key === '-' && open.size > 0 && event.target instanceof SVGElement && event.target.closest('.flow'))
      closeAll();
  });
  node(charts).addEventListener('scrollend', remember);
  // Not the flow's own box: drawing changes its height, and each change would draw all of it again.
  new ResizeObserver(drawAll).observe(node(charts));

  return {
    show(data, message) {
      const report = data?.report ?? null;
      blank.property('hidden', report !== null);
      body.property('hidden', report === null);
      if (data === null || report === null) {
        shown = null;
        drawBlank(message);
        return;
      }
      const previous = shown;
      shown = { data, report, units: toFusionUnits(report), paths: modulePaths(report, data.graph) };
      // Positions mean other layers in another build.
      if (previous?.data.build?.id !== data.build?.id || previous?.report.layers.length !== report.layers.length)
        range = null;
      figures.show(headlineOf(data));
      rangeBar.show(report, range);
      table.show(report, range, shown.paths);
      drawAll();
      if (previous === null) node(charts).scrollTop = before?.scroll ?? 0;
    },
    select: choose,
    showPart(part) {
      tabs.choose(part === 'table' ? 'table' : 'charts');
      if (part === 'timeline') node(timelineBox).scrollIntoView({ block: 'start' });
    },
  };

  function drawBlank(message: string): void {
    blank.selectChildren().remove();
    blank.append('h1').text(message === '' ? strings.fusion.empty.noBuild : message);
    blank.append('p').attr('class', 'muted').text(strings.fusion.empty.howTo);
    const buttons = blank.append('p');
    const command = (text: string, name: 'build' | 'attach', style: string) =>
      buttons
        .append('button')
        .attr('type', 'button')
        .attr('class', style)
        .text(text)
        .on('click', () => host.run(name, []));
    command(strings.common.build, 'build', 'primary');
    command(strings.common.openLog, 'attach', '');
  }
}

/** The element of a selection that was just made; it is always there. */
function node<T extends Element>(selection: { node(): T | null }): T {
  const element = selection.node();
  if (element === null) throw new Error('The page lost one of its own elements.');
  return element;
}
