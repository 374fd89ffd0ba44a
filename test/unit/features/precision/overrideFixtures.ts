import {
  type BuildFacts,
  buildFacts,
  type ModelFacts,
  modelFacts,
  type NodeFacts,
  targetOf,
} from '../../../../src/kernel/rules/buildFacts.ts';
import { checkOverrides, type PrecisionCheck } from '../../../../src/features/precision/checkOverrides.ts';
import { NodeIndex } from '../../../../src/kernel/rules/resolveOverrides.ts';
import { type PrecisionProblem, type TextEdit } from '../../../../src/kernel/rules/overrideFile.ts';
import { readOverrides } from '../../../../src/kernel/rules/readOverrides.ts';
import { inputOf } from '../../kernel/fusion/loadCapture.ts';
import { createReport } from '../../../../src/kernel/fusion/createReport.ts';

/** A small model by hand: `name op`, all computing in float unless an exemption is given. */
export function smallModel(...nodes: (string | (Partial<NodeFacts> & { name: string; op: string }))[]): ModelFacts {
  return {
    file: 'small.onnx',
    opset: 17,
    nodes: nodes.map((node, i) => {
      const [name = '', op = ''] = typeof node === 'string' ? node.split(' ') : [node.name, node.op];
      const outputs = [`${name}_output_0`];
      const facts: NodeFacts = { id: String(i), name, op, domain: '', outputs, types: ['float'], exempt: null };
      return typeof node === 'string' ? facts : { ...facts, ...node };
    }),
  };
}

/** A transformer of two blocks, with a constant, a shape and an integer node. */
export const transformer = smallModel(
  '/embed/Gather Gather',
  '/layers.1/attn/MatMul MatMul',
  '/layers.1/attn/Softmax Softmax',
  '/layers.1/norm1/LayerNormalization LayerNormalization',
  '/layers.2/attn/MatMul MatMul',
  '/layers.2/attn/Softmax Softmax',
  '/layers.2/norm1/LayerNormalization LayerNormalization',
  '/layers.10/attn/Softmax Softmax',
  { name: '/layers.1/Constant', op: 'Constant', exempt: 'constant' },
  { name: '/layers.1/Shape', op: 'Shape', exempt: 'shape', types: ['int64'] },
  { name: '/topk/ArgMax', op: 'ArgMax', exempt: 'integer', types: ['int64'] },
  { name: '/cast/Cast', op: 'Cast', exempt: 'convert' },
  { name: '', op: 'Relu', outputs: ['hidden'] },
  { name: 'twin', op: 'Relu' },
  { name: 'twin', op: 'Relu' },
  { name: '中文层/卷积_1, a', op: 'Conv' },
  { name: '/split/Split', op: 'Split', outputs: ['left', 'right'], types: ['float', 'float'] },
  { name: '/gelu/Gelu', op: 'Gelu', domain: 'com.microsoft' },
  'blocks[0]/Mul Mul',
  '/pool/MaxPool MaxPool',
);

export function check(
  text: string,
  facts: ModelFacts | null = transformer,
  build: BuildFacts | null = null,
  version: string | null = null,
): PrecisionCheck {
  const target =
    version === null
      ? undefined
      : targetOf(version === 'rtx' ? 'tensorrt-rtx' : 'tensorrt', version === 'rtx' ? '1.7' : version, null);
  return checkOverrides(readOverrides(text), facts && new NodeIndex(facts), build, target);
}

/** `line:column-end code` of every problem. */
export function codes(problems: readonly PrecisionProblem[]): string[] {
  return problems.map(({ line, column, endColumn, code }) => `${line}:${column}-${endColumn} ${code}`);
}

/** A text after edits; edits of one fix never overlap. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  const starts = [0];
  for (const match of text.matchAll(/\r\n|\n|\r/g)) starts.push(match.index + match[0].length);
  const offset = (line: number, column: number) =>
    Math.min(text.length, (starts[line - 1] ?? text.length) + column - 1);
  const ordered = edits.toSorted((a, b) => b.line - a.line || b.column - a.column);
  let out = text;
  for (const edit of ordered)
    out = out.slice(0, offset(edit.line, edit.column)) + edit.text + out.slice(offset(edit.endLine, edit.endColumn));
  return out;
}

/** A captured build with its model, ready for checks. Fails where the capture is incomplete. */
export async function captured(capture: string, withLog = true): Promise<{ index: NodeIndex; build: BuildFacts }> {
  const input = await inputOf(capture);
  if (!input) throw new Error(`The capture ${capture} has no model, log or layers`);
  if (!withLog) delete input.log;
  const report = createReport(input);
  return {
    index: new NodeIndex(modelFacts(input.model, input.modelFile)),
    build: buildFacts(report, input.log ?? null, input.layerInfo ?? null),
  };
}
