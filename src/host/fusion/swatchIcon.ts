import * as vscode from 'vscode';
import { hues } from '../../core/scene/panel/groupColours.ts';
import type { Swatch } from '../../core/scene/panel/groupColours.ts';

/** A square in a group's colour, for light and dark themes; the other shade has a darker or lighter frame. */
export function swatchIcon({ hue, shade }: Swatch): { light: vscode.Uri; dark: vscode.Uri } {
  const { light, dark } = hues[hue]!;
  return { light: square(light, shade ? '#1f2328' : light), dark: square(dark, shade ? '#e6e9ee' : dark) };
}

function square(fill: string, frame: string): vscode.Uri {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16"><rect x="3" y="3" width="10" height="10" rx="2" fill="${fill}" stroke="${frame}" stroke-width="1.5"/></svg>`;
  return vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`);
}
