import type { TableColumn } from '../../src/kernel/picture/page/layerRows.ts';
import { strings } from '../shared/strings.ts';

/**
 * The choice of columns: a button that opens a list of switches. The column of names stays. What it gives takes the ids of
 * columns that have nothing to show, and leaves them out.
 */
export function columnMenu(
  parent: HTMLElement,
  columns: readonly Pick<TableColumn<unknown>, 'id' | 'title' | 'meaning'>[],
  hidden: readonly string[],
  changed: (hidden: string[]) => void,
): (empty: readonly string[]) => void {
  const off = new Set(hidden);
  const menu = document.createElement('details');
  menu.className = 'table-columns';
  const summary = document.createElement('summary');
  summary.textContent = strings.table.columns;
  const list = document.createElement('div');
  list.setAttribute('role', 'group');
  list.setAttribute('aria-label', strings.table.columns);
  for (const { id, title, meaning } of columns) {
    const label = document.createElement('label');
    label.title = meaning;
    const box = document.createElement('input');
    box.type = 'checkbox';
    box.value = id;
    box.checked = !off.has(id);
    box.disabled = id === 'name';
    box.addEventListener('change', () => {
      if (box.checked) off.delete(id);
      else off.add(id);
      changed(columns.flatMap((column) => (off.has(column.id) ? [column.id] : [])));
    });
    label.append(box, title);
    list.append(label);
  }
  menu.append(summary, list);
  menu.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !menu.open) return;
    menu.open = false;
    summary.focus();
    event.stopPropagation();
  });
  menu.addEventListener('focusout', ({ relatedTarget }) => {
    if (relatedTarget instanceof Node && !menu.contains(relatedTarget)) menu.open = false;
  });
  parent.append(menu);
  return (empty) => {
    for (const box of list.querySelectorAll('input')) box.parentElement!.hidden = empty.includes(box.value);
  };
}
