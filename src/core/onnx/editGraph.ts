import protobuf from 'protobufjs/minimal.js';
import type { ByteSource } from '../text/byteSource.ts';
import type { ModelEdits, ValueList } from './editModel.ts';
import type { ModelIndex } from './modelIndex.ts';
import { GRAPH, NODE, TENSOR } from './onnxFields.ts';
import { fieldEnd, scanFields } from './scanFields.ts';
import { dataTypeNumber } from './tensorTypes.ts';
import { externalEntries, graphNode, initializer, type NewNode, valueField } from './writeParts.ts';

const listTags: Readonly<Record<ValueList, number>> = {
  inputs: GRAPH.input,
  outputs: GRAPH.output,
  values: GRAPH.value,
};

/** Says what an edit cannot do. */
interface Refusals {
  refuse(message: string, node?: string): void;
}

/** The edits that add, take out and replace whole parts of a graph. */
export class GraphEditor {
  readonly #refusals: Refusals;
  readonly #index: ModelIndex;
  readonly #source: ByteSource;

  constructor(refusals: Refusals, index: ModelIndex, source: ByteSource) {
    this.#refusals = refusals;
    this.#index = index;
    this.#source = source;
  }

  async apply(edits: ModelEdits): Promise<void> {
    for (const cast of edits.casts ?? []) this.#cast(cast);
    await this.#nodes(edits);
    this.#tensors(edits);
    for (const edit of edits.external ?? []) await this.#moveExternal(edit);
  }

  async #nodes({ insert = [], remove = [], replace = [], operators = [] }: ModelEdits): Promise<void> {
    for (const { graph, node, after } of insert) this.#insert(graph, node, after);
    for (const id of remove) this.#replace(id, null);
    for (const { node, by } of replace) this.#replace(node, by);
    for (const { node, op } of operators) await this.#setOperator(node, op);
  }

  #tensors({ declare = [], undeclare = [], addInitializers = [], removeInitializers = [] }: ModelEdits): void {
    for (const edit of declare) this.#declare(edit);
    for (const edit of undeclare) this.#undeclare(edit);
    for (const edit of addInitializers) this.#addInitializer(edit);
    for (const edit of removeInitializers) this.#removeInitializer(edit);
  }

  #cast({ graph, name, input, output, to, after }: NonNullable<ModelEdits['casts']>[number]): void {
    const type = dataTypeNumber(to);
    if (type === undefined) return this.#refusals.refuse(`${to} is not an ONNX data type.`);
    const attributes = { to: { int: type } };
    this.#insert(graph, { op: 'Cast', name, inputs: [input], outputs: [output], attributes }, after);
  }

  #insert(path: string, node: NewNode, after: string | null): void {
    const graph = this.#index.graphs.get(path)?.graph;
    if (!graph) return this.#refusals.refuse(`There is no graph "${path}".`);
    const before = after === null ? null : this.#index.nodes.get(after);
    if (before === undefined || (before && before.graph !== graph))
      return this.#refusals.refuse(`There is no node ${after} in graph "${path}".`);
    const patch = this.#index.graphPatch(path);
    const at = before ? fieldEnd(before.node.span!) : (graph.nodes[0]?.span?.at ?? patch.span.offset);
    patch.insert(at, ...graphNode(node));
  }

  /** `by`: what stands there instead; null: nothing. */
  #replace(id: string, by: NewNode | null): void {
    const place = this.#index.nodes.get(id);
    if (!place) return this.#refusals.refuse(`There is no node ${id}.`);
    const { at } = place.node.span!;
    this.#index.graphPatch(place.graph.path).replace(at, fieldEnd(place.node.span!), ...(by ? graphNode(by) : []));
  }

  async #setOperator(id: string, op: string): Promise<void> {
    if (!this.#index.nodes.has(id)) return this.#refusals.refuse(`There is no node ${id}.`);
    const patch = this.#index.nodePatch(id);
    for (const field of await scanFields(this.#source, patch.span))
      if (field.tag === NODE.op)
        patch.replace(field.at, fieldEnd(field), {
          bytes: protobuf.Writer.create().uint32(NODE.op).string(op).finish(),
        });
  }

  #declare({ graph: path, list, value }: NonNullable<ModelEdits['declare']>[number]): void {
    const graph = this.#index.graphs.get(path)?.graph;
    if (!graph) return this.#refusals.refuse(`There is no graph "${path}".`);
    if (graph[list].some(({ name }) => name === value.name))
      return this.#refusals.refuse(`"${value.name}" is among the ${list} of graph "${path}" already.`);
    if (dataTypeNumber(value.newType) === undefined)
      return this.#refusals.refuse(`${value.newType} is not an ONNX data type.`);
    this.#append(path, valueField(listTags[list], value));
  }

  #undeclare({ graph: path, list, name }: NonNullable<ModelEdits['undeclare']>[number]): void {
    const found = (this.#index.graphs.get(path)?.graph[list] ?? []).filter((value) => value.name === name);
    if (found.length === 0) return this.#refusals.refuse(`"${name}" is not among the ${list} of graph "${path}".`);
    const patch = this.#index.graphPatch(path);
    for (const { span } of found) patch.replace(span!.at, fieldEnd(span!));
  }

  #addInitializer({ graph: path, tensor }: NonNullable<ModelEdits['addInitializers']>[number]): void {
    if (!this.#index.graphs.has(path)) return this.#refusals.refuse(`There is no graph "${path}".`);
    if (this.#index.partsOf(path).initializers.has(tensor.name))
      return this.#refusals.refuse(`There is an initializer "${tensor.name}" already.`);
    this.#append(path, initializer(tensor, null));
  }

  #removeInitializer({ graph: path, name }: NonNullable<ModelEdits['removeInitializers']>[number]): void {
    const found = this.#index.partsOf(path).initializers.get(name) ?? [];
    if (found.length === 0) return this.#refusals.refuse(`There is no initializer "${name}"${path && ` in ${path}`}.`);
    const patch = this.#index.graphPatch(path);
    for (const { span } of found) patch.replace(span!.at, fieldEnd(span!));
  }

  async #moveExternal({ graph: path, name, entries }: NonNullable<ModelEdits['external']>[number]): Promise<void> {
    const found = this.#index.partsOf(path).initializers.get(name) ?? [];
    const outside = found.filter(({ data }) => data && 'external' in data);
    if (outside.length === 0)
      return this.#refusals.refuse(`The initializer "${name}" has no external data${path && ` in ${path}`}.`);
    for (const { span } of outside) {
      const patch = this.#index.graphPatch(path).child(span!, GRAPH.initializer);
      for (const field of await scanFields(this.#source, span!))
        if (field.tag === TENSOR.externalData || field.tag === TENSOR.location)
          patch.replace(field.at, fieldEnd(field));
      const bytes = externalEntries(protobuf.Writer.create(), entries).finish();
      patch.insert(span!.offset + span!.length, { bytes });
    }
  }

  /** Behind everything that the graph has. */
  #append(path: string, field: ReturnType<typeof valueField>): void {
    const patch = this.#index.graphPatch(path);
    patch.insert(patch.span.offset + patch.span.length, ...field);
  }
}
