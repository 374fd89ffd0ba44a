import { onnx } from 'onnx-proto';

/** A node as the checker knows it, read from the file by another decoder than the product's. */
export interface RawNode {
  id: string;
  /** As the parser calls it: its name, or `node_of_<first output>`. */
  name: string;
  op: string;
  inputs: string[];
  outputs: string[];
  /** Id of the node whose body or call it is in; null in the main graph. */
  owner: string | null;
  /** Of an owner: the attribute or function that it is in. */
  part: string | null;
  hasBody: boolean;
}

export interface RawModel {
  nodes: RawNode[];
  byId: Map<string, RawNode>;
  byName: Map<string, RawNode[]>;
  /** Nodes of the main graph by the tensors that they write. */
  producers: Map<string, RawNode>;
  /** Names of initializers and of constants. */
  constants: Set<string>;
  graphOutputs: Set<string>;
}

export function readRawModel(bytes: Uint8Array): RawModel {
  const model = onnx.ModelProto.decode(bytes);
  const functions = new Map((model.functions ?? []).map((one) => [`${one.domain ?? ''} ${one.name}`, one]));
  const nodes: RawNode[] = [];
  const constants = new Set<string>();
  const walk = (
    list: onnx.INodeProto[],
    path: string,
    owner: string | null,
    part: string | null,
    depth: number,
  ): void => {
    list.forEach((node, index) => {
      const id = `${path}${index}`;
      const outputs = node.output ?? [];
      const bodies = (node.attribute ?? []).flatMap(({ name, g, graphs }) => [
        ...(g ? [[name!, g] as const] : []),
        ...(graphs ?? []).map((graph, i) => [`${name!}[${i}]`, graph] as const),
      ]);
      const called = depth < 8 ? functions.get(`${node.domain ?? ''} ${node.opType}`) : undefined;
      nodes.push({
        id,
        name: node.name || `node_of_${outputs.find((output) => output !== '') ?? ''}`,
        op: node.opType!,
        inputs: node.input ?? [],
        outputs,
        owner,
        part,
        hasBody: bodies.length > 0 || called !== undefined,
      });
      if (node.opType === 'Constant') for (const output of outputs) constants.add(output);
      for (const [attribute, graph] of bodies) {
        for (const { name } of graph.initializer ?? []) constants.add(name!);
        walk(graph.node ?? [], `${id}/${attribute}/`, id, attribute, depth);
      }
      if (called) walk(called.node ?? [], `${id}/${called.name}/`, id, called.name!, depth + 1);
    });
  };
  for (const { name } of model.graph!.initializer ?? []) constants.add(name!);
  walk(model.graph!.node ?? [], '', null, null, 0);
  const byName = new Map<string, RawNode[]>();
  for (const node of nodes) byName.set(node.name, [...(byName.get(node.name) ?? []), node]);
  const main = nodes.filter(({ owner }) => owner === null);
  return {
    nodes,
    byId: new Map(nodes.map((node) => [node.id, node])),
    byName,
    producers: new Map(main.flatMap((node) => node.outputs.map((output) => [output, node] as const))),
    constants,
    graphOutputs: new Set((model.graph!.output ?? []).map(({ name }) => name!)),
  };
}
