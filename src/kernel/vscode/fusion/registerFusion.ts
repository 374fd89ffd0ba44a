import * as vscode from 'vscode';
import type { PanelItem, PanelSort } from '../../picture/page/fusionPanel.ts';
import type { FusionPart } from '../../protocol/views.ts';
import { pointedAt } from '../graph/pointedAt.ts';
import { commands } from '../ids.ts';
import { createBox, pickItem } from '../platform/askUser.ts';
import { registerCommands } from '../platform/registerCommands.ts';
import { pickShown } from '../workspace/pickModel.ts';
import type { Sessions } from '../workspace/sessions.ts';
import type { ViewConnections } from '../workspace/viewConnections.ts';
import type { FusionPages } from './fusionPages.ts';
import type { FusionTree } from './fusionTree.ts';

/** Asks for a search text and narrows the tree while it is typed; Escape brings back what was there before. */
export function searchPanel(tree: FusionTree): void {
  const before = tree.search;
  const box = createBox('Filter by name, operator or layer', before);
  let accepted = false;
  let settle: ReturnType<typeof setTimeout> | undefined;
  box.onDidChangeValue((value) => {
    clearTimeout(settle);
    settle = setTimeout(() => tree.setSearch(value.trim()), 150);
  });
  box.onDidAccept(() => {
    accepted = true;
    box.hide();
  });
  box.onDidHide(() => {
    clearTimeout(settle);
    tree.setSearch(accepted ? box.value.trim() : before);
    box.dispose();
  });
  box.show();
}

/** Asks how the groups of the tree should be sorted. */
export async function sortPanel(tree: FusionTree): Promise<void> {
  const orders: { sort: PanelSort; label: string; description: string }[] = [
    { sort: 'time', label: 'Time', description: 'slowest first; needs a profile' },
    { sort: 'size', label: 'Size', description: 'most nodes first' },
    { sort: 'order', label: 'Order', description: 'execution order' },
  ];
  const items = orders.map((order) => ({ ...order, picked: order.sort === tree.sort }));
  const picked = await pickItem(items, { placeHolder: 'Select how to sort fusion groups' });
  if (picked !== undefined) tree.setSort(picked.sort);
}

/** The commands of the side bar and of the fusion page. */
export function registerFusion(
  tree: FusionTree,
  pages: FusionPages,
  sessions: Sessions,
  connections: ViewConnections,
): vscode.Disposable {
  /** What a menu is about, or what is selected, in a part of the page. */
  const showIn = (part: FusionPart) => (argument: unknown) => {
    const session = sessions.current;
    if (session === undefined) return;
    const { selection } = pointedAt(session, argument);
    if (selection.kind !== 'none') sessions.select(session, selection, 'tree');
    pages.open(session.uri);
    connections.showPart(session, part);
  };
  return registerCommands({
    [commands.openFusionPage]: async (uri) => {
      const model = await pickShown(uri, sessions);
      if (model !== undefined) pages.open(model);
    },
    [commands.showInTimeline]: showIn('timeline'),
    [commands.showInTable]: showIn('table'),
    [commands.sort]: () => sortPanel(tree),
    [commands.search]: () => searchPanel(tree),
    [commands.clearSearch]: () => tree.setSearch(''),
    [commands.selectItem]: (item) => tree.show(item as PanelItem),
  });
}
