import type { FusionPanel, PanelItem, PanelSelection } from './fusionPanel.ts';

/**
 * The items from the root down to the one that shows best what is selected: the very thing, otherwise what has most in
 * common with it (as little besides as can be). [] where nothing has anything to do with it.
 */
export function locate(panel: FusionPanel, selection: PanelSelection): PanelItem[] {
  const ids: ReadonlySet<string | number> = new Set(membersOf(selection));
  let best: PanelItem[] = [];
  let most = 0;
  const visit = (items: PanelItem[], path: PanelItem[]): boolean => {
    for (const item of items) {
      const here = [...path, item];
      const { common, likeness } = compare(item.selection, selection, ids);
      if (likeness > most) {
        most = likeness;
        best = here;
      }
      if (most === 1) return true;
      // No part of a module can have more in common with what is wanted than the module has.
      const worthwhile =
        item.kind === 'layer' ? selection.kind === 'nodes' : item.kind !== 'module' || common / ids.size > most;
      if (item.hasChildren && worthwhile && visit(item.children(), here)) return true;
    }
    return false;
  };
  if (selection.kind !== 'none') visit(panel.items, []);
  return best;
}

/** `likeness` is 1 for the same thing, 0 for nothing in common. */
function compare(
  own: PanelSelection,
  wanted: PanelSelection,
  ids: ReadonlySet<string | number>,
): { common: number; likeness: number } {
  if (own.kind !== wanted.kind) return { common: 0, likeness: 0 };
  if (own.kind === 'foreignNode' || own.kind === 'fate') {
    return { common: 0, likeness: JSON.stringify(own) === JSON.stringify(wanted) ? 1 : 0 };
  }
  const members = membersOf(own);
  const common = members.reduce((sum: number, id) => sum + (ids.has(id) ? 1 : 0), 0);
  return { common, likeness: common / (members.length + ids.size - common || 1) };
}

function membersOf(selection: PanelSelection): readonly (string | number)[] {
  return selection.kind === 'nodes' || selection.kind === 'layers' ? selection.ids : [];
}
