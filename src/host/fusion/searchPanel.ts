import * as vscode from 'vscode';
import type { FusionTree } from './fusionTree.ts';

/** Asks for a search text and narrows the tree while it is typed; Escape brings back what was there before. */
export function searchPanel(tree: FusionTree): void {
  const before = tree.search;
  const box = vscode.window.createInputBox();
  box.value = before;
  box.prompt = 'Filter by name, operator or layer';
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
