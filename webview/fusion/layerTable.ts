import type { FusionReport } from '../../src/kernel/fusion/fusionReport.ts';
import { filterLayers, layerColumns, type LayerRow, toLayerRows } from '../../src/kernel/picture/page/layerRows.ts';
import type { LayerRange } from '../../src/kernel/picture/page/fusionTimeline.ts';
import type { Selection } from '../../src/kernel/protocol/views.ts';
import { strings } from '../shared/strings.ts';
import { type TableState, virtualTable } from '../table/virtualTable.ts';
import { paintOf } from '../shared/paint.ts';
import type { SelectionSet } from './selectionSet.ts';

/** The table of all layers and kernels: a row is selected if its layer is. */
export function layerTable(
  parent: HTMLElement,
  events: { state: TableState; remember(state: TableState): void; select(selection: Selection): void },
) {
  let report: FusionReport | null = null;
  const title = document.createElement('h1');
  title.className = 'spoken';
  title.textContent = strings.fusion.table.title;
  parent.append(title);
  const table = virtualTable<LayerRow>(parent, {
    label: strings.fusion.table.title,
    noun: ['layer', 'layers'],
    columns: layerColumns,
    state: events.state,
    remember: (state) => events.remember(state),
    filter: (rows, text) => (report === null ? { rows: [...rows], problem: '' } : filterLayers(report, rows, text)),
    filterHint: strings.fusion.table.filterHint,
    select: (rows) =>
      events.select(rows.length === 0 ? { kind: 'none' } : { kind: 'layers', ids: rows.map(({ layer }) => layer.id) }),
    paint: ({ layer }) => paintOf({ kind: layer.kind, foreignNode: layer.foreignNode, exact: true }),
  });
  return {
    show(shown: FusionReport, range: LayerRange | null, paths: readonly string[][]): void {
      report = shown;
      const rows = toLayerRows(shown, paths);
      table.show(range === null ? rows : rows.slice(range.first, range.last + 1));
    },
    mark: ({ layers }: SelectionSet) => table.mark(({ layer }) => layers.has(layer.id)),
  };
}
