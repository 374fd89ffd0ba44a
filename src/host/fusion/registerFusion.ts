import type * as vscode from 'vscode';
import type { PanelItem } from '../../core/scene/panel/fusionPanel.ts';
import { commands } from '../ids.ts';
import { registerCommands } from '../platform/registerCommands.ts';
import { pickShown } from '../workspace/pickModel.ts';
import type { Sessions } from '../workspace/sessions.ts';
import type { FusionPages } from './fusionPages.ts';
import type { FusionTree } from './fusionTree.ts';
import { searchPanel } from './searchPanel.ts';
import { sortPanel } from './sortPanel.ts';

/** The commands of the side bar and of the fusion page. */
export function registerFusion(tree: FusionTree, pages: FusionPages, sessions: Sessions): vscode.Disposable {
  return registerCommands({
    [commands.openFusionPage]: async (uri) => {
      const model = await pickShown(uri, sessions);
      if (model !== undefined) pages.open(model);
    },
    [commands.sort]: () => sortPanel(tree),
    [commands.search]: () => searchPanel(tree),
    [commands.clearSearch]: () => tree.setSearch(''),
    [commands.selectItem]: (item) => tree.show(item as PanelItem),
  });
}
