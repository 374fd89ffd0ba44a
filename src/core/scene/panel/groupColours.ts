import type { FusionReport } from '../../fusion/fusionReport.ts';
import { fusionGroups, selectedGroup } from '../graph/fusionGroups.ts';
import { indexGraph } from '../graph/graphIndex.ts';
import type { PanelItem } from './fusionPanel.ts';
import type { GraphData } from './viewData.ts';

/** The colours of `--lens-c0` to `--lens-c7` (webview/shared/base.css), which mean the same wherever they appear. */
export const hues: readonly { light: string; dark: string }[] = [
  { light: '#0072b2', dark: '#4db0ee' },
  { light: '#c65200', dark: '#f28a4a' },
  { light: '#a63a8b', dark: '#e08bc4' },
  { light: '#5b4bb5', dark: '#a79bf2' },
  { light: '#2c7f9e', dark: '#83cfe0' },
  { light: '#a07800', dark: '#e3c13a' },
  { light: '#00805e', dark: '#2fc79a' },
  { light: '#7d5640', dark: '#c9a48c' },
];

/** A group's colour in the graph: one of the hues, or its other shade. */
export interface Swatch {
  hue: number;
  shade: boolean;
}

/** Finds the colour that the graph gives to the group of a panel's line; null: it stands for no single group. */
export function groupColours(graph: GraphData, report: FusionReport): (item: PanelItem) => Swatch | null {
  const colours = new Map(fusionGroups(indexGraph(graph), report).groups.map(({ id, colour }) => [id, colour]));
  return ({ selection }) => {
    const colour = colours.get(selectedGroup(selection));
    return colour === undefined ? null : { hue: colour % hues.length, shade: colour >= hues.length };
  };
}
