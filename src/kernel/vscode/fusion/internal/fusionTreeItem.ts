import * as vscode from 'vscode';
import { hues, type PanelItem, shareFirst, type Swatch } from '../../../picture/page/fusionPanel.ts';
import { commands } from '../../ids.ts';

/** A square in a group's color, for light and dark themes; the other shade has a darker or lighter frame. */
export function swatchIcon({ hue, shade }: Swatch): { light: vscode.Uri; dark: vscode.Uri } {
  const { light, dark } = hues[hue]!;
  return { light: square(light, shade ? '#1f2328' : light), dark: square(dark, shade ? '#e6e9ee' : dark) };
}

function square(fill: string, frame: string): vscode.Uri {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16"><rect x="3" y="3" width="10" height="10" rx="2" fill="${fill}" stroke="${frame}" stroke-width="1.5"/></svg>`;
  return vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`);
}

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
  /** The color of its group in the graph; null: it has none. */
  swatch: Swatch | null;
}

/** How one line of the panel looks. */
export function fusionTreeItem(item: PanelItem, { session, search, swatch }: TreeLook): vscode.TreeItem {
  const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
  const open = search === '' ? Collapsed : Expanded;
  const { label, description } = shareFirst(item);
  const shown = new vscode.TreeItem(label, item.hasChildren ? open : None);
  // The editor remembers by id what was expanded: a search must not be remembered as the user's own choice.
  shown.id = `${session}#${search}#${item.id}`;
  shown.description = item.share === null ? description : `${shareBar(item.share)}  ${description}`;
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
