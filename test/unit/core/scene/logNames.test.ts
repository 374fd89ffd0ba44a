import { describe, expect, it } from 'vitest';
import { listedLayers, nameAt } from '../../../../src/core/picture/page/selectionText.ts';
import { graphOf, layer, reportOf } from './graphBuilder.ts';

const graph = graphOf('a @/m/a = Conv(x)\nb @/m/a_1 = Relu(a)\nc = Add(b)');
graph.nodes[2]!.name = '';
const report = reportOf(graph, [
  layer(0, ['0', '1'], { name: '/m/a + /m/a_1', line: 7 }),
  layer(1, ['2'], { name: '__myl_Add_0', line: null }),
  layer(2, [], { name: 'Reformat', line: 9 }),
]);
const at = (line: string, text: string) => nameAt(graph, report, line, line.indexOf(text) + 1)?.selection ?? null;

describe('nameAt', () => {
  it('finds whole names of nodes and layers between the separators of a log', () => {
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
  it('are those that compute nodes and that the log lists', () => {
    expect(listedLayers(report).map(({ id, line }) => [id, line])).toEqual([[0, 7]]);
  });
});
