import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { colorCount } from '../../../../src/core/picture/graph/internal/colorGroups.ts';
import { groupColors, hues, toFusionPanel } from '../../../../src/core/picture/page/fusionPanel.ts';
import { captureData } from '../../../webview/support/captureData.ts';

test('the hues are those of the views', () => {
  const css = readFileSync('webview/shared/base.css', 'utf8');
  const found = [...css.matchAll(/--lens-c(\d): light-dark\((#\w+), (#\w+)\)/g)];
  expect(found.map(([, index, light, dark]) => ({ index: Number(index), light, dark }))).toEqual(
    hues.map((hue, index) => ({ index, ...hue })),
  );
  expect(hues).toHaveLength(colorCount);
});

test('a ForeignNode and a single layer have their color in the graph, everything else has none', async () => {
  const { graph, report } = await captureData('resnet18', 'tensorrt-10.6.0/resnet18.fp32');
  const colorOf = groupColors(graph!, report!);
  const items = toFusionPanel(report!).items;
  const foreign = items.find(({ kind }) => kind === 'foreignNode')!;
  expect(colorOf(foreign)).toEqual({ hue: 0, shade: false });
  const fused = items.find(({ label }) => label.startsWith('Fused layers'))!;
  expect(colorOf(fused)).toBeNull();
  const hue = new Set(fused.children().map((item) => colorOf(item)?.hue));
  expect(hue).toContain(6);
  expect(hue).not.toContain(undefined);
  expect(colorOf(items.find(({ kind }) => kind === 'fate')!)).toBeNull();
});
