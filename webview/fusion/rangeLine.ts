import type { FusionReport } from '../../src/kernel/fusion/fusionReport.ts';
import { layerMs, type LayerRange } from '../../src/kernel/picture/page/fusionTimeline.ts';
import { counted, timeText } from '../../src/kernel/base/text.ts';
import { strings } from '../shared/strings.ts';

/** The line that says which range of the run is shown, with the way back. Hidden while the whole run is shown. */
export function rangeLine(parent: HTMLElement, events: { zoom(): void; clear(): void }) {
  const texts = strings.fusion.range;
  const bar = document.createElement('div');
  bar.className = 'range-bar';
  bar.hidden = true;
  bar.setAttribute('role', 'status');
  const said = document.createElement('span');
  const button = (text: string, act: () => void) => {
    const element = document.createElement('button');
    element.type = 'button';
    element.textContent = text;
    element.addEventListener('click', act);
    return element;
  };
  bar.append(
    said,
    button(texts.zoom, () => events.zoom()),
    button(texts.clear, () => events.clear()),
  );
  parent.append(bar);
  return {
    show(report: FusionReport, range: LayerRange | null): void {
      bar.hidden = range === null;
      if (range === null) return;
      const layers = report.layers.slice(range.first, range.last + 1);
      const ms = layers.reduce((sum, layer) => sum + (layerMs(report, layer) ?? 0), 0);
      const about = texts.about(counted(layers.length, 'layer'), ms === 0 ? '' : timeText(ms));
      said.textContent = `${about}. ${texts.note}`;
    },
  };
}
