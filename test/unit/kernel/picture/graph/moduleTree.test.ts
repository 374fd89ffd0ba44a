import { describe, expect, test } from 'vitest';
import {
  mergedModule,
  moduleEntries,
  modulePaths,
  nodesBelow,
  toModuleTree,
} from '../../../../../src/kernel/picture/graph/hierarchy.ts';
import type { GraphData } from '../../../../../src/kernel/picture/graph/viewData.ts';
import { handReport } from './handReport.ts';

const reportOf = (...names: string[]) =>
  handReport(
    names.map((name) => [name, 'Add', 'fused']),
    [],
  );

function entries(...names: string[]): string[] {
  const report = reportOf(...names);
  return moduleEntries(toModuleTree(modulePaths(report, null)), report.nodes).map(
    ({ label, size, alike }) => `${label} ${size}${alike === null ? '' : alike ? ' alike' : ' unlike'}`,
  );
}

describe('modules from names', () => {
  test('numbered siblings are a family, whose parent says nothing new', () => {
    expect(entries('/blocks/blocks.0/a/Add', '/blocks/blocks.1/a/Add', '/blocks/blocks.2/a/Add', '/head/Add')).toEqual([
      'blocks.0/a … blocks.2/a 3 alike',
      'head 1',
    ]);
  });

  test('stages of two blocks each are no family of blocks', () => {
    const names = [1, 2, 3].flatMap((stage) => [0, 1].map((block) => `/layer${stage}/layer${stage}.${block}/Conv`));
    expect(entries(...names)).toEqual(['layer1 … layer3 6 alike']);
  });

  test('members with other nodes are not alike', () => {
    expect(entries('/b.0/x/Add', '/b.1/x/Add', '/b.2/y/Add')).toEqual(['b.0/x 1', 'b.1/x 1', 'b.2/y 1']);
    expect(entries('/b.0/Add', '/b.1/Add', '/b.2/Mul')).toEqual(['b.0 … b.2 3 unlike']);
  });

  test('members sort by number', () => {
    const report = reportOf('/b.10/Add', '/b.2/Add', '/b.1/Add');
    const [family] = moduleEntries(toModuleTree(modulePaths(report, null)), report.nodes);
    expect(family?.members.map(({ label }) => label)).toEqual(['b.1', 'b.2', 'b.10']);
    expect(family?.short).toBe('b.1 … 10');
  });

  test('nodes without names take their first output’s, or what the exporter recorded', () => {
    const report = reportOf('', '', 'x.0.y.Add');
    const node = (id: string, output: string, scope?: string): GraphData['nodes'][number] => ({
      id,
      name: '',
      op: 'Add',
      domain: '',
      inputs: [],
      outputs: [output],
      attributes: [],
      ...(scope === undefined ? {} : { scope }),
    });
    const graph = { name: '', inputs: [], outputs: [], tensors: [] };
    const nodes = [node('0', '/m/k/Add_output_0'), node('1', 'v', 'enc/layer.1'), node('2', 'w')];
    expect(modulePaths(report, { ...graph, nodes })).toEqual([
      ['m', 'k'],
      ['enc', 'layer.1'],
      ['x.0', 'y'],
    ]);
    expect(modulePaths(report, null)).toEqual([[], [], ['x.0', 'y']]);
  });

  test('nodes of a subgraph lie in the node that owns it', () => {
    const report = reportOf('/m/If', 'inner');
    const [, inner] = report.nodes;
    if (inner !== undefined) inner.id = '0/then_branch/0';
    expect(modulePaths(report, null)).toEqual([['m'], ['m', 'If', 'then_branch']]);
  });

  test('a family as one module has each part once, with all its nodes', () => {
    const report = reportOf('/b.0/x/Add', '/b.0/y/Add', '/b.1/x/Add', '/b.1/y/Add', '/b.2/x/Add', '/b.2/Add');
    const tree = toModuleTree(modulePaths(report, null));
    const merged = mergedModule('b', tree.children);
    expect(merged.children.map(({ label, size }) => [label, size])).toEqual([
      ['x', 3],
      ['y', 2],
    ]);
    expect(merged.own).toEqual([5]);
    expect(nodesBelow(merged)).toEqual([0, 1, 2, 3, 4, 5]);
  });
});
