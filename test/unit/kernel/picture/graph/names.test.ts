import { readFileSync } from 'node:fs';
import { expect, test, describe } from 'vitest';
import { colorCount } from '../../../../../src/kernel/picture/graph/internal/colorGroups.ts';
import { groupColors, hues, toFusionPanel } from '../../../../../src/kernel/picture/page/fusionPanel.ts';
import { captureData } from '../../../../webview/support/captureData.ts';
import { listedLayers, nameAt } from '../../../../../src/kernel/picture/page/selectionText.ts';
import { graphOf, layer, reportOf } from './graphBuilder.ts';

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

const graph = graphOf('a @/m/a = Conv(x)\nb @/m/a_1 = Relu(a)\nc = Add(b)');
graph.nodes[2]!.name = '';
const report = reportOf(graph, [
  layer(0, ['0', '1'], { name: '/m/a + /m/a_1', line: 7 }),
  layer(1, ['2'], { name: '__myl_Add_0', line: null }),
  layer(2, [], { name: 'Reformat', line: 9 }),
]);
const at = (line: string, text: string) => nameAt(graph, report, line, line.indexOf(text) + 1)?.selection ?? null;

describe('nameAt', () => {
  test('finds whole names of nodes and layers between the separators of a log', () => {
    const line = '[V] [TRT] Fusing /m/a with /m/a_1, then {ForeignNode[__myl_Add_0]}: done';
    expect(at(line, '/m/a with')).toEqual({ kind: 'nodes', ids: ['0'] });
    expect(at(line, '/m/a_1')).toEqual({ kind: 'nodes', ids: ['1'] });
    expect(at(line, '__myl')).toEqual({ kind: 'layers', ids: [1] });
    expect(at(line, 'Fusing')).toBe(null);
    expect(at('Parsing node: /m/a_12', '/m')).toBe(null);
    expect(at('Layer(CaskConvolution): /m/a + /m/a_1.', '/m/a_1')).toEqual({ kind: 'nodes', ids: ['1'] });
    expect(nameAt(graph, report, 'at /m/a_1.', 4)).toMatchObject({ start: 3, end: 9 });
    expect(nameAt(null, null, '/m/a', 1)).toBe(null);
  });
});

describe('listedLayers', () => {
  test('are those that compute nodes and that the log lists', () => {
    expect(listedLayers(report).map(({ id, line }) => [id, line])).toEqual([[0, 7]]);
  });
});
