import type {
  FusionReport,
  ReportForeignNode,
  ReportLayer,
  ReportNode,
} from '../../../../../src/kernel/fusion/fusionReport.ts';
import { accountingOf } from '../../../../../src/kernel/fusion/internal/nodeFates.ts';
import type { GraphData, GraphNode } from '../../../../../src/kernel/picture/graph/viewData.ts';

/** `a = Conv(x)` a line: outputs, operator, inputs. The name is the first output with a slash in front, or given as `a @name`. */
export function graphOf(text: string, inputs: string[] = ['x'], outputs: string[] = []): GraphData {
  const nodes: GraphNode[] = text
    .trim()
    .split('\n')
    .map((line, i) => {
      const found = /^\s*([\w.,/ ]+?)\s*(?:@(\S+))?\s*=\s*(\w+)\(([^)]*)\)\s*$/.exec(line);
      if (found === null) throw new Error(`no node: ${line}`);
      const list = (part: string) =>
        part
          .split(',')
          .map((one) => one.trim())
          .filter((one) => one !== '');
      const made = list(found[1]!);
      return {
        id: String(i),
        name: found[2] ?? `/${made[0]!}`,
        op: found[3]!,
        domain: '',
        inputs: list(found[4]!),
        outputs: made,
        attributes: [],
      };
    });
  const port = (name: string) => ({ name, type: 'float', shape: [1], initializer: false });
  return { name: 'g', nodes, inputs: inputs.map(port), outputs: outputs.map(port), tensors: [] };
}

export const layer = (id: number, nodes: string[], more: Partial<ReportLayer> = {}): ReportLayer => ({
  id,
  name: `layer ${id}`,
  type: '',
  kind: nodes.length > 1 ? 'fused' : 'single',
  foreignNode: null,
  nodes,
  evidence: ['metadata'],
  averageMs: null,
  percent: null,
  tactic: null,
  inputs: [],
  outputs: [],
  line: null,
  ...more,
});

export const foreignNode = (
  id: number,
  nodes: string[],
  layers: number[],
  more: Partial<ReportForeignNode> = {},
): ReportForeignNode => ({
  id,
  name: `{ForeignNode[${id}]}`,
  nodes,
  exact: true,
  layers,
  inputs: [],
  outputs: [],
  averageMs: null,
  line: null,
  ...more,
});

/** A report in which nodes that no layer has are folded. */
export function reportOf(
  graph: GraphData,
  layers: ReportLayer[],
  foreignNodes: ReportForeignNode[] = [],
): FusionReport {
  const nodes: ReportNode[] = graph.nodes.map(({ id, name, op }) => {
    const own = layers.filter((one) => one.nodes.includes(id)).map((one) => one.id);
    const foreign = foreignNodes.find((one) => one.nodes.includes(id));
    const fate =
      foreign !== undefined
        ? 'foreign'
        : own.length === 0
          ? 'folded'
          : layers.find((one) => one.id === own[0])!.nodes.length > 1
            ? 'fused'
            : 'single';
    return {
      id,
      name,
      op,
      fate,
      layers: own,
      foreignNode: foreign?.id ?? null,
      exact: foreign?.exact ?? true,
      reason: '',
    };
  });
  return {
    schema: 1,
    tensorrt: { product: 'tensorrt', version: '10.6.0' },
    model: { file: 'g.onnx', nodes: nodes.length },
    layers,
    foreignNodes,
    nodes,
    tensors: [],
    accounting: accountingOf(nodes),
    funnel: [],
    remarks: [],
    problems: [],
  };
}
