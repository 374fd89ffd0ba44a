import type { Cell, TableColumn } from '../../src/kernel/picture/page/layerRows.ts';
import { deltaText, oneLine, percentText, sizeText, thousands, timeText } from '../../src/kernel/base/text.ts';

/** A cell as the table shows it; '' for what is not known. */
export function cellText({ kind }: Pick<TableColumn<unknown>, 'kind'>, cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'string') return oneLine(cell);
  switch (kind) {
    case 'ms':
      return timeText(cell);
    case 'delta':
      return deltaText(cell);
    case 'percent':
      return percentText(cell);
    case 'bytes':
      return sizeText(cell);
    case 'number':
    case 'text':
      return thousands(cell);
  }
}
