import * as vscode from 'vscode';
import type { PanelItem } from '../../core/scene/panel/fusionPanel.ts';
import { commands } from '../ids.ts';

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

/** How one line of the panel looks. `session` keeps what is expanded in one model apart from another's. */
export function fusionTreeItem(item: PanelItem, session: string): vscode.TreeItem {
  const { None, Collapsed } = vscode.TreeItemCollapsibleState;
  const shown = new vscode.TreeItem(item.label, item.hasChildren ? Collapsed : None);
  shown.id = `${session}#${item.id}`;
  shown.description = item.share === null ? item.description : `${item.description}  ${shareBar(item.share)}`;
  shown.tooltip = item.tooltip;
  shown.iconPath = new vscode.ThemeIcon(item.id === 'fate-unknown' ? 'question' : icons[item.kind]);
  shown.contextValue = item.kind;
  // Without the bar, which says nothing when it is read aloud.
  shown.accessibilityInformation = { label: `${item.label}, ${item.description.replaceAll(' · ', ', ')}` };
  if (item.selection.kind !== 'none') {
    shown.command = { command: commands.selectItem, title: 'Show in Graph', arguments: [item] };
  }
  return shown;
}
