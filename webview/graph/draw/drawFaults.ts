import { hasError } from '../view/faultyPoints.ts';
import type { Brush } from './brush.ts';
import { onScreen } from './drawView.ts';
import type { Frame, LabelSpace } from './drawView.ts';

/** Radius of the sign: the same at every scale, so that one bad node among thousands is seen. */
const radius = 8;

/** Rings and signs on the nodes that a failed build names, or on the modules that hide them. No label covers a sign. */
export function drawFaults(brush: Brush, frame: Frame, labels: LabelSpace): void {
  const { model, picture, camera, palette } = frame;
  const { x: left, y: top, width: widths, height: heights } = picture.layout;
  const drawn = new Set<number>();
  for (const [point, faults] of model.faults) {
    const item = picture.scene.itemOfPoint[point]!;
    if (drawn.has(item)) continue;
    drawn.add(item);
    if (!onScreen(frame, left[item]!, top[item]!, left[item]! + widths[item]!, top[item]! + heights[item]!)) continue;
    const x = left[item]! * camera.k + camera.x;
    const y = top[item]! * camera.k + camera.y;
    const width = widths[item]! * camera.k;
    const isError = hasError(faults);
    const colour = isError ? palette.theme.error : palette.theme.warning;
    brush.box(x - 2, y - 2, width + 4, heights[item]! * camera.k + 4, { stroke: colour, lineWidth: 2.5, radius: 6 });
    const right = x + width;
    const sign = { x: right - radius, y: y - radius, width: 2 * radius, height: 2 * radius };
    labels.block(sign);
    brush.box(sign.x, sign.y, sign.width, sign.height, {
      fill: palette.theme.background,
      stroke: colour,
      lineWidth: 2,
      radius,
    });
    brush.text(isError ? '✕' : '!', right, y + 0.5, { size: 11, bold: true, align: 'center', colour });
  }
}
