import { expect, test } from 'vitest';
import {
  unmaterializedTensors,
  type ReducedPrecisionModel,
} from '../../../../src/features/accuracy/internal/reducedPrecisionModel.ts';
import type { FusionReport } from '../../../../src/kernel/fusion/fusionReport.ts';
import type { OnnxGraph, OnnxNode } from '../../../../src/kernel/read/onnx/onnxModel.ts';

const graphOf = (nodes: OnnxNode[], outputs: string[]): OnnxGraph =>
  ({ path: '', nodes, outputs: outputs.map((name) => ({ name })) }) as OnnxGraph;

const nodeOf = (name: string, inputs: string[], outputs: string[], ...bodies: OnnxGraph[]): OnnxNode =>
  ({
    id: name,
    name,
    op: 'Mul',
    inputs,
    outputs,
    subgraphs: bodies.map((graph) => ({ attribute: 'body', graph })),
  }) as unknown as OnnxNode;

/** The values that the only kernel keeps: it makes `a` and reads it, and makes the output `b`; `more` is other nodes. */
function keptWith(...more: OnnxNode[]): string[] {
  const own = [nodeOf('first', ['x'], ['a']), nodeOf('second', ['a'], ['b'])];
  const low = own.map((node, index) => ({ node, index, type: 'float16', graph: '', inputs: [0], outputs: [0] }));
  const report = {
    nodes: own.map(({ name }) => ({ name, layers: [0], exact: true })),
    layers: [{ id: 0, name: 'kernel' }],
  };
  const model = { graph: graphOf([...own, ...more], ['b']) };
  const held = unmaterializedTensors(
    { low, model } as unknown as ReducedPrecisionModel,
    report as unknown as FusionReport,
  );
  return held.map(({ tensor }) => tensor);
}

test('a kernel keeps what it alone reads', () => {
  expect(keptWith()).toEqual(['a']);
  expect(keptWith(nodeOf('other', ['a'], ['c']))).toEqual([]);
});

test('a value that a body reads, at any depth, leaves its kernel', () => {
  const inner = graphOf([nodeOf('reader', ['a'], ['r'])], ['r']);
  const outer = graphOf([nodeOf('branch', ['condition'], ['o'], inner)], ['o']);
  expect(keptWith(nodeOf('branch', ['condition'], ['o'], inner))).toEqual([]);
  expect(keptWith(nodeOf('loop', ['count'], ['p'], outer))).toEqual([]);
  expect(keptWith(nodeOf('loop', ['count'], ['p'], graphOf([], ['a'])))).toEqual([]);
});
