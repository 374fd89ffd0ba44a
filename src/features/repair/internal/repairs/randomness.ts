import { intAttribute, type OnnxModel, type OnnxNode } from '../../../../kernel/read/onnx/onnxModel.ts';
import { isStandardDomain } from '../../../../kernel/network/modelGraph.ts';
import { randomOperators } from '../../../../kernel/network/nodeRoles.ts';

/** Functions of the model, as `domain:name`, that call a random operator at any depth. */
export function randomFunctions({ functions }: OnnxModel): ReadonlySet<string> {
  const found = new Set<string>();
  for (let before = -1; before < found.size;) {
    before = found.size;
    for (const { domain, name, nodes } of functions)
      if (nodes.some((node) => isRandom(node, found))) found.add(`${domain}:${name}`);
  }
  return found;
}

/** Whether the same inputs may give other outputs. */
export function isRandom(node: OnnxNode, functions: ReadonlySet<string>): boolean {
  if (functions.has(`${node.domain}:${node.op}`)) return true;
  if (isStandardDomain(node.domain)) {
    if (randomOperators.has(node.op)) return true;
    // Whether it trains is an input since opset 12; one that is not given means no.
    if (node.op === 'Dropout' && (node.inputs[2] ?? '') !== '') return true;
    if (node.op === 'BatchNormalization' && intAttribute(node, 'training_mode') === 1) return true;
  }
  return node.subgraphs.some(({ graph }) => graph.nodes.some((inner) => isRandom(inner, functions)));
}
