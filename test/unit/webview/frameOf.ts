import type { Brush } from '../../../webview/graph/draw/brush.ts';
import type { Frame } from '../../../webview/graph/draw/drawView.ts';
import { makePalette } from '../../../webview/graph/draw/palette.ts';
import type { GraphModel } from '../../../webview/graph/view/graphModel.ts';

/** A frame of a model that has a picture: all of it at its own size, with letters of one width. */
export function frameOf(model: GraphModel): Frame {
  const picture = model.picture!;
  const fit = Object.assign((text: string) => text, {
    width: (text: string, size: number) => text.length * size * 0.6,
  });
  const theme = {
    kind: 'light',
    dark: false,
    contrast: false,
    foreground: 'rgb(31, 35, 40)',
    muted: 'rgb(87, 96, 106)',
    background: 'rgb(255, 255, 255)',
    panel: 'rgb(245, 246, 248)',
    border: 'rgb(208, 213, 220)',
    strong: 'rgb(134, 142, 153)',
    active: 'rgb(214, 230, 247)',
    focus: 'rgb(10, 93, 171)',
    error: 'rgb(179, 38, 30)',
    warning: 'rgb(138, 90, 0)',
    gray: 'rgb(138, 145, 155)',
    categorical: Array.from({ length: 8 }, (_, i) => `rgb(${20 * i}, 80, 120)`),
  } as const;
  return {
    model,
    picture,
    camera: { k: 1, x: 40, y: 80 },
    width: picture.layout.totalWidth + 80,
    height: picture.layout.totalHeight + 120,
    palette: makePalette(theme),
    fit,
    selected: null,
    hits: null,
    dimmed: null,
    focused: -1,
    hovered: -1,
    litEdges: new Set(),
    group: -1,
    pointed: -1,
  };
}

const nothing = () => {};
/** Draws nothing. */
export const silent: Brush = {
  box: nothing,
  shape: nothing,
  tip: nothing,
  text: nothing,
  line: nothing,
  beginLines: nothing,
  endLines: nothing,
};
