import * as vscode from 'vscode';
import type { PanelItem } from '../../core/scene/panel/fusionPanel.ts';
import type { Swatch } from '../../core/scene/panel/groupColours.ts';
import { commands } from '../ids.ts';
import { swatchIcon } from './swatchIcon.ts';

const blocks = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
const barLength = 8;

/** A share of 0…1 as a bar of up to eight characters, so that groups can be compared without reading. */
export function shareBar(share: number): string {
  const eighths = Math.round(Math.min(Math.max(share, 0), 1) * barLength * blocks.length);
  const rest = eighths % blocks.length;
  const bar = '█'.repeat(Math.floor(eighths / blocks.length)) + (rest === 0 ? '' : blocks[rest - 1]!);
  return bar === '' && share > 0 ? blocks[0]! : bar;
}

const icons: Record<PanelItem['kind'], string> = {
  foreignNode: 'layers',
  layers: 'server-process',
  layer: 'server-process',
  kernels: 'server-process',
  module: 'symbol-namespace',
  node: 'circle-small-filled',
  fate: 'circle-slash',
  none: 'info',
};

/** What a line's look depends on in addition to the line. */
export interface TreeLook {
  /** Keeps what is expanded in one model apart from another's. */
  session: string;
  /** What is found by a search is expanded; '' without one. */
  search: string;
  /** The colour of its group in the graph; null: it has none. */
  swatch: Swatch | null;
}

/** How one line of the panel looks. */
export function fusionTreeItem(item: PanelItem, { session, search, swatch }: TreeLook): vscode.TreeItem {
  const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
  const open = search === '' ? Collapsed : Expanded;
  const shown = new vscode.TreeItem(item.label, item.hasChildren ? open : None);
  // The editor remembers by id what was expanded: a search must not be remembered as the user's own choice.
  shown.id = `${session}#${search}#${item.id}`;
  shown.description = item.share === null ? item.description : `${item.description}  ${shareBar(item.share)}`;
  shown.tooltip = item.tooltip;
  shown.iconPath =
    swatch === null
      ? new vscode.ThemeIcon(item.id === 'fate-unknown' ? 'question' : icons[item.kind])
      : swatchIcon(swatch);
  shown.contextValue = item.kind;
  // Without the bar, which says nothing when it is read aloud.
  shown.accessibilityInformation = { label: `${item.label}, ${item.description.replaceAll(' · ', ', ')}` };
  if (item.selection.kind !== 'none') {
    shown.command = { command: commands.selectItem, title: 'Show in Graph', arguments: [item] };
  }
  return shown;
}
